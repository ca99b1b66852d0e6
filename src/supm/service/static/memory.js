// What this browser remembers of a study, so that nobody is asked twice: the group, which questions
// were drawn, the report and its receipt. Never what was typed.

const PREFIX = "supm";
const local = new Map();

function key(kind, ...about) {
  return [PREFIX, kind, ...about].join(" ");
}

function storage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

// Whether what is remembered outlives the page.
export function lasts() {
  const kept = storage();
  try {
    kept.setItem(key("try"), "1");
    kept.removeItem(key("try"));
    return true;
  } catch {
    return false;
  }
}

export function recall(kind, ...about) {
  const name = key(kind, ...about);
  // The storage first: another tab may have drawn or sent meanwhile.
  const text = (lasts() ? storage().getItem(name) : null) ?? local.get(name) ?? null;
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

export function remember(value, kind, ...about) {
  const name = key(kind, ...about);
  local.set(name, JSON.stringify(value));
  if (lasts()) {
    storage().setItem(name, local.get(name));
  }
}

// The sum of the numbers that are kept of one kind.
export function sumOf(kind) {
  const kept = lasts() ? Object.keys(storage()) : [...local.keys()];
  const names = kept.filter((name) => name.startsWith(key(kind, "")));
  const about = names.map((name) => name.slice(key(kind, "").length));
  return about.reduce((sum, each) => sum + Number(recall(kind, each)), 0);
}

// What was drawn stays drawn: the first call decides.
export function once(draw, kind, ...about) {
  const known = recall(kind, ...about);
  if (known !== null) {
    return known;
  }
  const value = draw();
  remember(value, kind, ...about);
  return value;
}
