// The form: one labelled control for each field that is asked, and what was typed into it.

import { byId, element } from "./elements.js";

function plain(number) {
  return Number(number.toPrecision(6)).toString();
}

const UNKNOWN = "unknown";
const NUMBER = /^[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?$/i;

// A decimal comma is a point; NaN where the text is no number.
function numberIn(text) {
  const number = NUMBER.test(text) ? Number(text.replace(",", ".")) : NaN;
  return Number.isFinite(number) ? number : NaN;
}

function textOf(input) {
  return input.value.trim().replace("\u2212", "-");
}

// What becomes of a number that is not taken as it was typed.
function noteFor(field, text) {
  const number = numberIn(text);
  const bound = number > field.high ? field.high : number < field.low ? field.low : null;
  if (bound !== null) {
    return `${number} is beyond ${plain(bound)} and counts as ${plain(bound)}.`;
  }
  return text.includes(",") && !Number.isNaN(number) ? `This is read as ${number}.` : "";
}

function hintFor(field) {
  if (field.kind !== "continuous") {
    return "";
  }
  const unknown = field.missing ? " Leave it empty if you do not know." : "";
  const range = `From ${plain(field.low)} to ${plain(field.high)}`;
  return `${range}; what lies beyond counts as the nearest.${unknown}`;
}

function numberInput(field, id) {
  return element("input", {
    id,
    // Of a number field nobody can tell an unreadable text from none.
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    required: !field.missing,
  });
}

function choice(field, id) {
  const options = field.values.map((value, at) => element("option", { value: at }, String(value)));
  if (field.missing) {
    options.push(element("option", { value: UNKNOWN }, "I do not know"));
  }
  const empty = element("option", { value: "" }, "Choose");
  return element("select", { id, required: true }, empty, ...options);
}

function control(field, at) {
  const id = `field-${at}`;
  const input = field.kind === "continuous" ? numberInput(field, id) : choice(field, id);
  const hint = hintFor(field);
  const note = element("span", { class: "hint", id: `${id}-note`, role: "status" });
  if (field.kind === "continuous") {
    input.addEventListener("input", () => {
      note.textContent = noteFor(field, textOf(input));
    });
  }
  input.setAttribute("aria-describedby", `${id}-hint ${id}-note ${id}-wrong`);
  return element(
    "div",
    { class: "field" },
    element("label", { for: id }, field.name),
    input,
    element("span", { class: "hint", id: `${id}-hint` }, hint),
    note,
    element("span", { class: "wrong", id: `${id}-wrong` }),
  );
}

// Put a control for each of the fields at these places into the form.
export function buildFields(question, places) {
  byId("fields").replaceChildren(...places.map((at) => control(question.fields[at], at)));
}

// The value that was given: null where it is unknown, undefined where nothing was chosen.
function typed(field, input) {
  if (field.kind !== "continuous") {
    return input.value === UNKNOWN ? null : field.values[input.value];
  }
  const text = textOf(input);
  if (text === "") {
    return field.missing ? null : undefined;
  }
  return numberIn(text);
}

function problem(value) {
  if (Number.isNaN(value)) {
    return "Please give a number.";
  }
  return value === undefined ? "Please answer this." : "";
}

// What was typed, as a record; null where something is wrong, which is then shown.
export function readForm(question, places) {
  const record = {};
  let first = null;
  for (const at of places) {
    const field = question.fields[at];
    const input = byId(`field-${at}`);
    const value = typed(field, input);
    const wrong = problem(value);
    byId(`field-${at}-wrong`).textContent = wrong;
    input.setAttribute("aria-invalid", String(wrong !== ""));
    first = first ?? (wrong === "" ? null : input);
    record[field.name] = value;
  }
  first?.focus();
  return first === null ? record : null;
}
