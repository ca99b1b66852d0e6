// The panels of the page for owners: which is shown, and what is in it.

import { byId, element, say } from "./elements.js";
import { sizeOf } from "./randomize.js";
import { answerFor } from "./rule.js";
import { toldRows } from "./telling.js";

const PANELS = ["asking", "preview", "done", "device"];

// Show one of the panels, and how far the owner has come.
export function show(panel, step) {
  PANELS.forEach((each) => {
    byId(each).hidden = each !== panel;
  });
  [...byId("steps").children].forEach((item, at) => {
    item.className = at < step ? "done" : at === step ? "now" : "";
    if (at === step) {
      item.setAttribute("aria-current", "step");
    } else {
      item.removeAttribute("aria-current");
    }
  });
}

// Show a panel and go there, for readers of the screen too.
export function moveTo(panel, step) {
  show(panel, step);
  byId(`${panel}-title`).focus();
  byId(panel).scrollIntoView({ block: "nearest" });
}

export function showReceipt(receipt) {
  const { id, study, phase, time } = receipt;
  const facts = { Report: id, Study: study, Phase: phase, Received: time };
  byId("receipt").replaceChildren(
    ...Object.entries(facts).flatMap(([name, value]) => [
      element("dt", {}, name),
      element("dd", { class: "mono" }, value),
    ]),
  );
  const file = new Blob([`${JSON.stringify(receipt, null, 2)}\n`], { type: "application/json" });
  byId("download").href = URL.createObjectURL(file);
  byId("done-words").textContent =
    receipt.verdict === "sent before"
      ? "This report had arrived before; it counts once."
      : "Your report has arrived.";
}

// An answer of the model in words.
export function answerWords({ answer, probability = null }) {
  const sure = probability === null ? "" : ` (${Math.round(100 * probability)}\u00a0% sure)`;
  const shown = typeof answer === "number" ? Number(answer.toPrecision(6)) : answer;
  return `${shown}${sure}`;
}

function tableRow([asked, own, sent, changed], whole) {
  const head = element("th", { scope: "row" }, asked);
  const cells = whole ? [own, sent, changed] : [sent, changed];
  return element("tr", {}, head, ...cells.map((each) => element("td", {}, each)));
}

// Show what will be sent: in words, and letter by letter. The classes are null where a report comes
// from memory, which does not have them.
export function showReport(question, report, classes) {
  const rows = toldRows(question, report, classes);
  byId("told").replaceChildren(...rows.map((each) => tableRow(each, classes !== null)));
  byId("own-column").hidden = classes === null;
  byId("report").textContent = JSON.stringify(report);
  byId("preview-words").textContent = classes
    ? "What stands under “Sent”, and nothing else about you, is sent once you agree. Your own " +
      "answers are beside it for you to compare; they stay here."
    : "Your browser drew this before. It draws once: a second draw would tell more about you.";
  byId("correct").hidden = classes === null;
  if (classes && question.form === "answer") {
    const sizes = question.fields.map(sizeOf);
    const own = answerFor(question.answer, question.mechanism.rule, classes, sizes);
    say("own-answer", `The model's answer for you, which only you see: ${answerWords(own)}.`);
  }
}

// An error as one sentence.
export function sentence(error) {
  const known = error instanceof Error ? error.message : "something went wrong; nothing was sent.";
  return known.charAt(0).toUpperCase() + known.slice(1);
}
