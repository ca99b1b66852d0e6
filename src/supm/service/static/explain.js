// What will leave, and what it costs: in words, numbers and two pictures.

import { drawing, element } from "./elements.js";
import { epsilonOf, sizeOf } from "./randomize.js";

const WORDS = 2 ** 64;
const PLAIN = ["send it as it is", "send something else"];
const NEAR = ["send a number near their own", "send one from elsewhere"];
const REPORT = "your report";
const CLOSE = "that your own number is near the one that is sent";
const LITTLE = 0.9;
const WARNING = "That hides little: take part only if you do not mind their being known.";

function percent(share) {
  const shown = 100 * share;
  if (shown > 99 && shown < 100) {
    return shown < 99.95 ? `${shown.toFixed(1)}\u00a0%` : "more than 99.9\u00a0%";
  }
  return shown > 0 && shown < 1 ? "less than 1\u00a0%" : `${Math.round(shown)}\u00a0%`;
}

function list(names) {
  const last = names[names.length - 1];
  return names.length === 1 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

function few(names) {
  return names.length <= 5 ? list(names) : `${names.length} answers`;
}

// ------------------------------------------------- how often the truth is sent

function oneSymbol(question, asked) {
  const fields = asked.map((at) => question.fields[at]);
  const cells = fields.reduce((product, field) => product * sizeOf(field), 1);
  const kept = Number(question.mechanism.responses[cells]) / WORDS;
  const names = few(fields.map((field) => field.name));
  const rounded = fields
    .filter((field) => field.read.how === "level")
    .map(({ name, read }) => `${name} is first rounded at random to one of ${read.levels} steps. `);
  return {
    kept,
    sentence:
      rounded.join("") +
      `What you say about ${names} is put together into one of ${cells} combinations. ` +
      `With a chance of ${percent(kept)} the true combination is sent; otherwise one of the ` +
      `${cells - 1} others, all alike.`,
  };
}

function oneSet({ mechanism: { size, width, hold } }) {
  const kept = Number(hold) / WORDS;
  const sent =
    width === 1
      ? `the true one is sent; otherwise one of the ${size - 1} others, all alike`
      : `it is on the list of ${width} that is sent; the rest of the list is drawn at random`;
  return {
    kept,
    words: width === 1 ? PLAIN : ["send a list with their own on it", "send a list without it"],
    belief: width === 1 ? REPORT : "that your own combination is on the list",
    sentence:
      `Your answers are put together into one of ${size} combinations. ` +
      `With a chance of ${percent(kept)} ${sent}.`,
  };
}

function shareKept(randomizer) {
  const words = { response: randomizer.keep, window: randomizer.inside }[randomizer.kind];
  return words === undefined ? 1 : Number(words) / WORDS;
}

function nearBy(randomizer) {
  const width = percent(randomizer.window / (randomizer.steps + randomizer.window));
  return (
    `a random number is sent: with a chance of ${percent(shareKept(randomizer))} out of the ` +
    `${width} of the scale that are nearest to it, otherwise from anywhere else`
  );
}

function eachAlone({ fields, form, mechanism }, asked) {
  const told = asked.map((at) => mechanism.randomizers[at]);
  const shares = told.map(shareKept);
  const [kept, most] = [Math.min(...shares), Math.max(...shares)];
  if (kept === 1) {
    const how = form === "raw" ? "as they are" : "as coarse classes, and otherwise as they are";
    return { kept, sentence: `Your answers leave ${how}. Nothing is promised.` };
  }
  if (told[0].kind === "window") {
    const sent = `In place of each of your answers ${nearBy(told[0])}.`;
    return { kept, most, words: NEAR, belief: CLOSE, sentence: sent };
  }
  const names = few(asked.map((at) => fields[at].name));
  return {
    kept,
    most,
    belief: "one of the answers in your report",
    sentence:
      `You are asked about ${names}. Each answer is changed by itself: it is sent as it is with ` +
      `a chance of at least ${percent(kept)}; otherwise another one is sent in its place, all ` +
      "alike.",
  };
}

function modelAnswer({ answer, mechanism: { randomizer } }) {
  const start =
    `Your values stay here. The model's answer about ${answer.name} is worked out in this ` +
    "browser";
  const kept = shareKept(randomizer);
  if (randomizer.kind === "window") {
    const sent = `${start}, and in its place ${nearBy(randomizer)}.`;
    return { kept, words: NEAR, belief: CLOSE, sentence: sent };
  }
  return {
    kept,
    sentence:
      `${start}. It is sent as it is with a chance of ${percent(kept)}; otherwise another ` +
      "answer is sent, all alike.",
  };
}

const CHANCES = { sample: oneSymbol, joint: oneSet, separate: eachAlone, answer: modelAnswer };

// ------------------------------------------------------------------ pictures

function person(at, kept) {
  const [x, y] = [8 + 20 * (at % 20), 8 + 22 * Math.floor(at / 20)];
  if (kept) {
    return drawing("circle", { class: "kept", cx: x, cy: y, r: 6.5 });
  }
  const mark = `M${x - 5} ${y - 5} L${x + 5} ${y + 5} M${x + 5} ${y - 5} L${x - 5} ${y + 5}`;
  return drawing("path", { class: "changed", d: mark, "stroke-width": 2.6, fill: "none" });
}

function legend(shape, words) {
  const key = drawing("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": true });
  key.append(person(0, shape === "kept"));
  return element("li", {}, key, element("span", {}, words));
}

// Of a hundred people with the same answers: how many send the truth.
function crowd({ kept, words: [first, second] = PLAIN }) {
  const whole = Math.min(99, Math.max(0, Math.round(100 * kept)));
  const words = [`${whole} ${first}`, `${100 - whole} ${second}`];
  const title = `Of 100 people with your answer, ${words[0]} and ${words[1]}.`;
  const shown = { viewBox: "0 0 396 104", class: "crowd", role: "img", "aria-label": title };
  const people = Array.from({ length: 100 }, (_, at) => person(at, at < whole));
  const picture = drawing("svg", shown, ...people);
  const keys = [legend("kept", words[0]), legend("changed", words[1])];
  const key = element("ul", { class: "legend" }, ...keys);
  const caption = element("figcaption", {}, "Of 100 people with your answer");
  return element("figure", {}, caption, picture, key);
}

function bar(kind, width) {
  return drawing("rect", { class: kind, x: 0, y: 10, width, height: 14, rx: 7 });
}

// Of those hundred: how often somebody is right who takes what is sent for the truth.
function belief({ kept, most = kept, belief: what = REPORT }) {
  const [low, high] = [kept, most].map((share) => Math.round(100 * share));
  const start = "Nobody can be certain of your answers, not even those who run this study";
  const believer = `whoever believes ${what}`;
  if (high < 50) {
    const wrong = high === 0 ? "more than 99" : `about ${100 - high}`;
    return `${start}: ${believer} is wrong more often than right, ${wrong} times in 100.`;
  }
  const upper = high === 100 ? "more than 99" : `about ${high}`;
  const right = low === high ? upper : `between ${low} and ${Math.min(high, 99)}`;
  const little = most < LITTLE ? "" : ` ${WARNING}`;
  return `${start}, but ${believer} is right ${right} times in 100.${little}`;
}

// From an even guess to the surest that a report can make anybody.
function sureness(sure) {
  const title = `Before: 50\u00a0% sure. After seeing your report: at most ${percent(sure)} sure.`;
  const shown = { viewBox: "0 0 400 34", class: "sureness", role: "img", "aria-label": title };
  const even = { class: "mark", x1: 200, x2: 200, y1: 4, y2: 30, "stroke-width": 2 };
  const bars = [bar("scale", 400), bar("after", Math.max(200, 400 * sure)), bar("before", 200)];
  return drawing("svg", shown, ...bars, drawing("line", even));
}

// ----------------------------------------------------------------- paragraphs

function note(words) {
  return element("p", { class: "note" }, words);
}

// What leaves: a sentence and a picture, for the fields that are asked.
export function explainLeaving(question, asked) {
  if (question.form === "device") {
    const words = "Nothing. The model is followed in this browser, and your values stay here.";
    return [element("p", {}, words)];
  }
  const told = CHANCES[question.mechanism.kind](question, asked);
  const sentence = element("p", {}, told.sentence);
  if (!question.private) {
    return [sentence];
  }
  return [sentence, crowd(told), note(belief(told))];
}

function explainBudget(question) {
  const sure = 1 / (1 + Math.exp(-question.epsilon));
  const factor = Math.exp(question.epsilon).toPrecision(3);
  const worked = epsilonOf(question).toPrecision(6);
  const guess = element(
    "p",
    {},
    "Somebody who thinks it as likely as not that your answer is one thing rather than another " +
      "can become ",
    element("strong", {}, `at most ${percent(sure)} sure`),
    " by seeing your report. Whatever else they know, their odds change by a factor of at most ",
    element("strong", {}, factor),
    ".",
  );
  return [
    guess,
    sureness(sure),
    note(
      "Up to the line: sure before, 50\u00a0%. Beyond it: what a report can add, up to " +
        `${percent(sure)}.`,
    ),
    note(
      `The study states a budget of epsilon = ${question.epsilon}; this page worked out ` +
        `${worked} from the numbers it draws with.`,
    ),
  ];
}

// What it costs: the stated epsilon, held against the thresholds that are drawn with.
export function explainCost(question) {
  if (question.form === "device") {
    return [element("p", {}, "Nothing, since nothing leaves.")];
  }
  if (!question.private) {
    const words =
      "Everything you send: whoever receives it learns your answers. Take part only if you trust " +
      "them with that.";
    return [element("p", { class: "message warn" }, words)];
  }
  return explainBudget(question);
}
