// A report in words: what was asked, the own answer, what is sent, and whether it was changed.

import { sizeOf } from "./randomize.js";
import { answerFor, follow } from "./rule.js";

const MOST_SHOWN = 12;
const UNKNOWN = "not kept";

function plain(number) {
  return Number(number.toPrecision(6)).toString();
}

function between(field, share) {
  return plain(field.low * (1 - share) + field.high * share);
}

function unknownIn(missing, table, symbol) {
  return missing && table[table.length - 1] === symbol ? ["unknown"] : [];
}

// The numbers of a class: neighbouring intervals are one.
function intervals({ low, high, missing, read: { cuts, table } }, symbol) {
  const edges = [low, ...cuts, high];
  const words = [];
  for (let first = 0; first <= cuts.length; first += 1) {
    let last = first;
    while (table[first] === symbol && table[last + 1] === symbol && last < cuts.length) {
      last += 1;
    }
    if (table[first] === symbol) {
      const start = first === 0 ? plain(low) : `over ${plain(edges[first])}`;
      words.push(`${start} to ${plain(edges[last + 1])}`);
      first = last;
    }
  }
  return [...words, ...unknownIn(missing, table, symbol)].join(" or ");
}

function listed({ values, missing, read: { table } }, symbol) {
  const words = values.filter((_, at) => table[at] === symbol).map(String);
  return [...words, ...unknownIn(missing, table, symbol)].join(" or ");
}

// What a symbol of a field means.
function meaning(field, symbol) {
  const { how } = field.read;
  if (how === "class") {
    return (field.read.cuts ? intervals : listed)(field, symbol);
  }
  if (how === "level") {
    return between(field, symbol / (field.read.levels - 1));
  }
  if (how === "number" && field.kind === "continuous") {
    return between(field, symbol / (field.read.points - 1));
  }
  return how === "number" ? `place ${symbol}` : String(field.values[symbol]);
}

function compared(field, held, symbol) {
  if (held === undefined || held === null) {
    return UNKNOWN;
  }
  const { how, fine } = field.read;
  const near = how === "level" && Math.abs(held / fine - symbol) < 1;
  return held === symbol || near ? "no" : "yes";
}

function numberHeld(field, held) {
  const { points } = field.read;
  const share = points === null ? (held + 1) / 2 : held / (points - 1);
  const place = Math.round(share * ((field.values?.length ?? 1) - 1));
  return field.kind === "continuous" ? between(field, share) : String(field.values[place]);
}

// What the owner holds, as the question reads it.
function ownAnswer(field, held) {
  if (held === undefined || held === null) {
    return UNKNOWN;
  }
  const { how, levels, fine } = field.read;
  if (how === "level") {
    return between(field, held / (fine * (levels - 1)));
  }
  if (how === "number") {
    return numberHeld(field, held);
  }
  return how === "sign" ? String(field.values[(held + 1) / 2]) : meaning(field, held);
}

function row(field, symbol, held) {
  const own = ownAnswer(field, held);
  return [field.name, own, meaning(field, symbol), compared(field, held, symbol)];
}

function randomCell(name, own, symbol, { steps, window }) {
  return [name, own, `${symbol} on a scale from 0 to ${steps + window - 1}`, "always"];
}

function columnRow(field, symbol, held, randomizer) {
  return randomizer.kind === "window"
    ? randomCell(field.name, ownAnswer(field, held), symbol, randomizer)
    : row(field, symbol, held);
}

// The fields that an answer tells, in its order, and where their symbols start.
function toldFields({ fields, labelled, mechanism }, symbols) {
  const count = fields.length - (labelled ? 1 : 0);
  const sampled = mechanism.kind === "joint" ? null : mechanism.sampled;
  const all = fields.map((_, at) => at);
  const start = sampled ?? 0;
  const drawn = sampled === null ? all.slice(0, count) : symbols.slice(0, sampled);
  return { places: [...drawn, ...all.slice(count)], start };
}

function columns(question, symbols, classes) {
  const { places, start } = toldFields(question, symbols);
  const { randomizers } = question.mechanism;
  return places.map((at, column) => {
    const symbol = symbols[start + column];
    const randomizer = randomizers ? randomizers[at] : { kind: "response" };
    return columnRow(question.fields[at], symbol, classes?.[at], randomizer);
  });
}

function cellNumber(fields, classes) {
  return classes.reduce((number, each, at) => number * sizeOf(fields[at]) + each, 0);
}

function symbolsIn(fields, cell) {
  let left = cell;
  const symbols = [...fields].reverse().map((field) => {
    const symbol = left % sizeOf(field);
    left = (left - symbol) / sizeOf(field);
    return symbol;
  });
  return symbols.reverse();
}

function cellWords(fields, cell) {
  const symbols = symbolsIn(fields, cell);
  return fields.map((field, at) => `${field.name}: ${meaning(field, symbols[at])}`).join("; ");
}

// The own combination is the same for the whole list: it is said once.
function cellRow(fields, cell, own, first) {
  const told = own === null ? UNKNOWN : cell === own ? "this is yours" : "not yours";
  const held = own === null ? UNKNOWN : first ? cellWords(fields, own) : "";
  return ["On the list", held, cellWords(fields, cell), told];
}

function combinations({ fields }, symbols, classes) {
  if (symbols.length === 1) {
    const told = symbolsIn(fields, symbols[0]);
    return fields.map((field, at) => row(field, told[at], classes?.[at]));
  }
  const own = classes === null ? null : cellNumber(fields, classes);
  const shown = symbols.slice(0, MOST_SHOWN);
  const rows = shown.map((cell, at) => cellRow(fields, cell, own, at === 0));
  const more = symbols.length - rows.length;
  return more > 0 ? [...rows, [`${more} more`, "", "see the report below", ""]] : rows;
}

function modelAnswer({ answer, fields, mechanism }, [symbol], classes) {
  const name = `The model's answer: ${answer.name}`;
  const { randomizer, rule } = mechanism;
  const sizes = fields.map(sizeOf);
  const told = classes === null ? UNKNOWN : answerFor(answer, rule, classes, sizes).answer;
  const held = typeof told === "number" && answer.kind === "continuous" ? plain(told) : String(told);
  if (randomizer.kind === "window") {
    return [randomCell(name, held, symbol, randomizer)];
  }
  const own = classes === null ? null : follow(rule, classes, sizes);
  const changed = own === null ? UNKNOWN : own === symbol ? "no" : "yes";
  return [[name, held, String(answer.values[symbol]), changed]];
}

const TELLERS = {
  sample: columns,
  separate: columns,
  joint: combinations,
  answer: modelAnswer,
};

// Rows of a table: what is asked, the own answer, what is sent, and whether it was changed. Without
// the classes of the record (they are not kept) the second and the last column say so.
export function toldRows(question, report, classes = null) {
  return TELLERS[question.mechanism.kind](question, report.symbols, classes);
}
