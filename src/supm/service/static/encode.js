// Reading a record: public arithmetic from values to classes and numbers, the same as in Python.

function refuse(field, problem) {
  return new Error(`${field.name}: ${problem}.`);
}

export function clip(number, low, high) {
  return Math.min(high, Math.max(low, number));
}

// Halves go to the even neighbour, as in NumPy.
function nearest(number) {
  const lower = Math.floor(number);
  const rest = number - lower;
  return rest < 0.5 || (rest === 0.5 && lower % 2 === 0) ? lower : lower + 1;
}

function same(one, other) {
  const plain = typeof one !== "string" && typeof other !== "string";
  return one === other || (plain && Number(one) === Number(other));
}

// A number within its bounds or a place in a list; null where the value is missing.
function held(field, record) {
  const value = Object.hasOwn(record, field.name) ? record[field.name] : null;
  if (value === null || value === undefined || Number.isNaN(value)) {
    if (!field.missing) {
      throw refuse(field, "a value is needed");
    }
    return null;
  }
  if (field.kind === "continuous") {
    if (!Number.isFinite(value)) {
      throw refuse(field, "a number is needed");
    }
    return clip(value, field.low, field.high);
  }
  const place = field.values.findIndex((each) => same(each, value));
  if (place < 0) {
    throw refuse(field, "choose one of the listed values");
  }
  return place;
}

function scaled(field, value) {
  if (value === null) {
    return 0;
  }
  if (field.kind === "continuous") {
    return clip(((value - field.low) / (field.high - field.low)) * 2 - 1, -1, 1);
  }
  return (2 * value) / (field.values.length - 1) - 1;
}

function classOf(read, value) {
  if (value === null) {
    return read.table[read.table.length - 1];
  }
  // A cut belongs to the interval that it ends.
  return read.table[read.cuts ? read.cuts.filter((cut) => cut < value).length : value];
}

const READERS = {
  class: (field, value) => classOf(field.read, value),
  place: (field, value) => value,
  sign: (field, value) => 2 * value - 1,
  level: (field, value) =>
    nearest(((scaled(field, value) + 1) / 2) * (field.read.levels - 1) * field.read.fine),
  number: (field, value) => {
    const share = scaled(field, value);
    const { points } = field.read;
    return points === null ? share : nearest(((share + 1) / 2) * (points - 1));
  },
};

// The fields that are read: all, or those that were drawn, and the label where it is asked.
export function readFields(question, places = null) {
  const count = question.fields.length - (question.labelled ? 1 : 0);
  const all = question.fields.map((_, at) => at);
  return places === null ? all : all.filter((at) => at >= count || places.includes(at));
}

// One number for each field of a question: a class, a place, a level or a number in [-1, 1].
// Where places were drawn before, the other fields are not looked at.
export function encode(question, record, places = null) {
  const wanted = readFields(question, places);
  return question.fields.map((field, at) =>
    wanted.includes(at) ? READERS[field.read.how](field, held(field, record)) : null,
  );
}
