// Elements without markup: text stays text, whatever a study is called.

const SVG = "http://www.w3.org/2000/svg";

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  made.append(...children);
  return made;
}

export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function drawing(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

// Show a sentence, or hide the element where there is none.
export function say(id, sentence, kind = null) {
  const place = byId(id);
  place.textContent = sentence;
  place.hidden = sentence === "";
  if (kind !== null) {
    place.className = `message ${kind}`.trim();
  }
}
