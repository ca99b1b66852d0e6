// What a published model says about classes: public arithmetic, the same as in Python.

function place(classes, sizes) {
  return classes.reduce((cell, held, column) => cell * sizes[column] + held, 0);
}

// The sum of points for each output, added in the order in which Python adds them.
export function scores(rule, classes) {
  const sums = [...rule.offsets];
  rule.points.forEach((table, column) => {
    table[classes[column]].forEach((points, output) => {
      sums[output] += points;
    });
  });
  for (const pair of rule.pairs ?? []) {
    pair.points[classes[pair.first]][classes[pair.second]].forEach((points, output) => {
      sums[output] += points;
    });
  }
  return sums;
}

// The number of the label that a rule gives: of a cell, or of most points.
export function follow(rule, classes, sizes) {
  if (rule.kind === "cells") {
    return rule.answers[place(classes, sizes)];
  }
  const sums = scores(rule, classes);
  return sums.indexOf(Math.max(...sums));
}

// How sure a scorecard is of each label; a table of answers does not say.
function probabilities(rule, classes) {
  if (rule.kind === "cells") {
    return null;
  }
  const sums = scores(rule, classes);
  const top = Math.max(...sums);
  const grown = sums.map((sum) => Math.exp(sum - top));
  const total = grown.reduce((sum, each) => sum + each, 0);
  return grown.map((each) => each / total);
}

// The model's answer in the target's own values: {answer, probability}.
export function answerFor(target, rule, classes, sizes) {
  if (target.kind === "continuous") {
    const share = (Math.min(1, Math.max(-1, scores(rule, classes)[0])) + 1) / 2;
    return { answer: target.low * (1 - share) + target.high * share, probability: null };
  }
  const label = follow(rule, classes, sizes);
  const shares = probabilities(rule, classes);
  return { answer: target.values[label], probability: shares && shares[label] };
}
