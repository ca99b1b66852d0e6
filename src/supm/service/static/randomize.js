// Everything between a record and what leaves: each mechanism of supm.collection, word for word.
//
// tests/service/browser holds both to it: the same words give the same symbols, and the symbols of
// the browser's own words fit the exact channels.

import { checkPromise } from "./cost.js";
import { clip } from "./encode.js";
import { follow, scores } from "./rule.js";
import { below, drawPlaces, secureWord, twoLevel } from "./words.js";

export { checkPromise, epsilonOf } from "./cost.js";
export { encode, readFields } from "./encode.js";
export { drawGroup, secureWord, wordsFrom } from "./words.js";

function respond(size, keep, symbol, words) {
  return (symbol + twoLevel(1, size - 1, BigInt(keep), words)) % size;
}

function throughWindow({ steps, window, inside }, value, words) {
  const position = ((value + 1) / 2) * steps;
  const lower = Math.trunc(position);
  const upward = BigInt(Math.trunc((position - lower) * 2 ** 64));
  const point = lower + (words() < upward ? 1 : 0);
  return (point + twoLevel(window, steps, BigInt(inside), words)) % (steps + window);
}

function throughOne(randomizer, value, words) {
  if (randomizer.kind === "unchanged") {
    return value;
  }
  if (randomizer.kind === "window") {
    return throughWindow(randomizer, value, words);
  }
  return respond(randomizer.size, randomizer.keep, value, words);
}

export function sizeOf(field) {
  return field.read.how === "level" ? field.read.levels : field.read.size;
}

// A number between two levels goes to the one above in proportion to the nearness.
function label(field, value, words) {
  if (field.read.how !== "level") {
    return value;
  }
  const { fine } = field.read;
  const rest = value % fine;
  return (value - rest) / fine + (below(fine, words) < rest ? 1 : 0);
}

function sample({ fields, labelled, mechanism }, classes, words, drawn) {
  const count = fields.length - (labelled ? 1 : 0);
  const { sampled, responses } = mechanism;
  const everything = Array.from({ length: count }, (_, place) => place);
  const places = drawn ?? (sampled === count ? everything : drawPlaces(count, sampled, words));
  const told = places.map((place) => classes[place]);
  const sizes = places.map((place) => sizeOf(fields[place]));
  if (labelled) {
    told.push(label(fields[count], classes[count], words));
    sizes.push(sizeOf(fields[count]));
  }
  const cells = sizes.reduce((product, size) => product * size, 1);
  const cell = told.reduce((number, each, column) => number * sizes[column] + each, 0);
  let left = respond(cells, responses[cells], cell, words);
  for (let column = sizes.length - 1; column >= 0; column -= 1) {
    told[column] = left % sizes[column];
    left = (left - told[column]) / sizes[column];
  }
  return [...places, ...told];
}

function joint({ fields, mechanism }, classes, words) {
  const { size, width, hold } = mechanism;
  const own = classes.reduce((number, each, at) => number * sizeOf(fields[at]) + each, 0);
  const others = new Set();
  // Floyd's algorithm over the other cells, numbered without the own one.
  for (let last = size - 1 - width; last < size - 1; last += 1) {
    const pick = below(last + 1, words);
    others.add(others.has(pick) ? last : pick);
  }
  const set = [...others].map((cell) => cell + (cell >= own ? 1 : 0));
  const holds = words() < BigInt(hold);
  const dropped = below(width, words);
  if (holds) {
    set[dropped] = own;
  }
  return set.sort((one, other) => one - other);
}

function separate({ fields, labelled, mechanism }, values, words, drawn) {
  const { randomizers, sampled } = mechanism;
  const told = randomizers.map((each, column) =>
    values[column] === null ? null : throughOne(each, values[column], words),
  );
  if (sampled === null) {
    return told;
  }
  const count = fields.length - (labelled ? 1 : 0);
  const places = drawn ?? drawPlaces(count, sampled, words);
  return [...places, ...places.map((place) => told[place]), ...told.slice(count)];
}

function answer({ fields, mechanism }, classes, words) {
  const { rule, randomizer } = mechanism;
  const value =
    randomizer.kind === "window"
      ? clip(scores(rule, classes)[0], -1, 1)
      : follow(rule, classes, fields.map(sizeOf));
  return [throughOne(randomizer, value, words)];
}

const MECHANISMS = { sample, joint, separate, answer };

// The places of the fields that this owner tells, or null where all are told. They do not depend on
// the record, so they may be drawn before anything is asked.
export function drawQuestions(question, words = secureWord) {
  const count = question.fields.length - (question.labelled ? 1 : 0);
  const sampled = question.mechanism.sampled ?? count;
  return sampled < count ? drawPlaces(count, sampled, words) : null;
}

// The symbols that leave, for what encode returned; refused where they would cost too much.
export function randomize(question, classes, words = secureWord, places = null) {
  checkPromise(question);
  return MECHANISMS[question.mechanism.kind](question, classes, words, places);
}

// The report that leaves: symbols, and an id that belongs to nobody.
export function makeReport(question, classes, words = secureWord, places = null) {
  return reportOf(question, randomize(question, classes, words, places), words);
}

// A report of symbols that were drawn before.
export function reportOf({ group, phase, study }, symbols, words = secureWord) {
  const id = [words(), words()].map((word) => word.toString(16).padStart(16, "0")).join("");
  return { group, id, phase, study, symbols, version: 1 };
}
