// What an answer costs: epsilon, from the very thresholds that it is drawn with.

import { WORDS } from "./words.js";

// What rounding in doubles may add to an epsilon that is kept exactly.
const ROUNDING = 1e-12;

// The logarithm of a ratio of whole numbers, precise also where it is near 0.
function logRatio(upper, lower) {
  if (lower <= 0n || upper <= 0n) {
    return Infinity;
  }
  return Math.abs(Math.log1p(Number(upper - lower) / Number(lower)));
}

function costOfLevels(inside, outside, threshold) {
  return logRatio(threshold * BigInt(outside), (WORDS - threshold) * BigInt(inside));
}

function costOf(randomizer) {
  if (randomizer.kind === "response") {
    return costOfLevels(1, randomizer.size - 1, BigInt(randomizer.keep));
  }
  if (randomizer.kind === "window") {
    return costOfLevels(randomizer.window, randomizer.steps, BigInt(randomizer.inside));
  }
  return Infinity;
}

function costOfSeparate({ fields, labelled, mechanism }) {
  const count = fields.length - (labelled ? 1 : 0);
  const costs = mechanism.randomizers.map(costOf);
  const largest = costs.slice(0, count).sort((one, other) => other - one);
  const told = [...largest.slice(0, mechanism.sampled ?? count), ...costs.slice(count)];
  return told.reduce((sum, each) => sum + each, 0);
}

const COSTS = {
  none: () => 0,
  sample: ({ mechanism }) =>
    Math.max(
      ...Object.entries(mechanism.responses).map(([size, keep]) =>
        costOf({ kind: "response", size: Number(size), keep }),
      ),
    ),
  joint: ({ mechanism: { size, width, hold } }) => costOfLevels(width, size - width, BigInt(hold)),
  separate: costOfSeparate,
  answer: ({ mechanism }) => costOf(mechanism.randomizer),
};

// What an answer really costs, from the thresholds that it is drawn with.
export function epsilonOf(question) {
  const cost = COSTS[question.mechanism.kind];
  if (cost === undefined) {
    throw new Error(
      "a page cannot run the mechanism of this study; take part with supm contribute where it is " +
        "installed; nothing was sent.",
    );
  }
  return cost(question);
}

// Refuse a question whose mechanism spends more than it states.
export function checkPromise(question) {
  if (question.private && !(epsilonOf(question) <= question.epsilon * (1 + ROUNDING))) {
    throw new Error("the mechanism would spend more than the study states; nothing was sent.");
  }
}
