// The page for owners: ask, change, show, send, and keep a receipt. What was typed never leaves.

import { checkDocument, fetchModel, MovedOn, sendReport } from "./courier.js";
import { byId, element, say } from "./elements.js";
import { explainCost, explainLeaving } from "./explain.js";
import { buildFields, readForm } from "./fields.js";
import { lasts, once, recall, remember, sumOf } from "./memory.js";
import { answerWords, moveTo, sentence, show, showReceipt, showReport } from "./panels.js";
import {
  checkPromise,
  drawGroup,
  drawQuestions,
  encode,
  makeReport,
  readFields,
  reportOf,
  secureWord,
  sizeOf,
} from "./randomize.js";
import { answerFor } from "./rule.js";

const page = byId("owner");
const question = JSON.parse(byId("question").textContent);
const { beginning, phase, study } = question;
const { deadline, until } = page.dataset;
const LATER = until === "" ? "later" : `after ${until}, when the time of that group is over`;
const OTHER_GROUP =
  "Thank you for coming. Your browser drew by lot which group you are in, and another group is " +
  `asked now. Please come back ${LATER}; nothing was sent.`;
const ANSWERED_BEFORE =
  "You answered this study before it changed its questions. A second answer would tell more " +
  "about you than was promised, so you are not asked again.";
const TRAINED =
  "You helped to train this model, so no report of you is taken now. The answer is worked out " +
  "here.";
const TOOK_PART =
  "You have taken part in this study already; its promise is for one part in it, so you are not " +
  "asked again.";
const FORGETS =
  "This browser does not let the page remember that you answered. Please answer once only.";
const ROLE = phase === "test" ? "tested" : "training";

// The name of the question, which is the same in each study that asks the same.
let same = null;

// The id of the report that this page drew, which alone may be corrected here.
let own = null;

// Words are drawn once for each page: who corrects a value does not throw the dice again.
const drawn = [];

function sameWords() {
  let next = 0;
  return () => {
    if (next === drawn.length) {
      drawn.push(secureWord());
    }
    next += 1;
    return drawn[next - 1];
  };
}

// Whether another tab drew or sent meanwhile; a second draw would tell more than was promised.
function drawnElsewhere() {
  const answer = recall("answer", same);
  const sent = answer !== null && recall("sent", same) !== null;
  const received = recall("receipt", phase, study, page.dataset.name) !== null;
  return received || sent || (answer?.by ?? own) !== own;
}

// Symbols that are not changed are the values as they are, so only the id is kept of those: what
// is typed again then counts once.
function keep(report) {
  if (question.private) {
    own = report.id;
    remember({ by: own, symbols: report.symbols }, "answer", same);
    remember(report, "report", phase, study);
  } else {
    report.id = once(() => report.id, "id", phase, study);
  }
}

// The report that this browser keeps, or null. The same question gets the same answer, in whichever
// study it is asked: its symbols are those that were drawn first.
function keptReport() {
  const kept = recall("report", phase, study);
  const symbols = recall("answer", same)?.symbols;
  if (!symbols || JSON.stringify(symbols) === JSON.stringify(kept?.symbols)) {
    return kept;
  }
  const report = kept === null ? reportOf(question, symbols) : { ...kept, symbols };
  remember(report, "report", phase, study);
  return report;
}

// Whether the report that is shown is the one that this browser keeps.
function isCurrent() {
  const kept = keptReport();
  return kept === null || JSON.stringify(kept) === byId("report").textContent;
}

// ------------------------------------------------------------------- the steps

function prepare(asked, places) {
  return (event) => {
    event.preventDefault();
    say("form-wrong", "");
    const record = readForm(question, asked);
    if (record === null) {
      return;
    }
    if (!question.private && !byId("consent").checked) {
      say("form-wrong", "Please say that you agree, or leave this page; nothing was sent.", "bad");
      byId("consent").focus();
      return;
    }
    if (drawnElsewhere()) {
      continueFromMemory();
      return;
    }
    try {
      const classes = encode(question, record, places);
      const report = makeReport(question, classes, sameWords(), places);
      keep(report);
      showReport(question, report, classes);
      moveTo("preview", 1);
    } catch (error) {
      say("form-wrong", sentence(error), "bad");
    }
  };
}

async function send(event) {
  event.preventDefault();
  say("send-wrong", "");
  const invitation = page.dataset.invited === "yes" ? byId("invitation").value.trim() : "";
  if (page.dataset.invited === "yes" && invitation === "") {
    say("send-wrong", "Please enter your invitation code.", "bad");
    byId("invitation").focus();
    return;
  }
  if (!isCurrent()) {
    continueFromMemory();
    say("send-wrong", "Your answers were corrected in another tab; this is the report now.", "bad");
    return;
  }
  const reason = reasonNotToSend();
  if (reason !== null) {
    say("send-wrong", reason, "bad");
    return;
  }
  byId("send").disabled = true;
  rememberSending();
  // It may arrive although the answer is lost; another value with the same dice would tell more.
  byId("correct").hidden = true;
  try {
    const text = byId("report").textContent;
    finish(await sendReport(page.dataset.name, text, invitation, sayBusy));
  } catch (error) {
    say("send-wrong", sentence(error), "bad");
    byId("send").hidden = error instanceof MovedOn;
  } finally {
    byId("send").disabled = false;
  }
}

// Before anything leaves: a report may arrive although its answer is lost or the tab is closed.
function rememberSending() {
  remember(true, "sent", same);
  remember(study, "asked", phase, beginning);
  if (question.private) {
    remember(question.epsilon, "spent", same);
    remember(ROLE, "role", beginning);
  }
}

function sayBusy(seconds) {
  say("send-wrong", `The study is busy; this page tries again in ${seconds} s.`, "bad");
}

function finish({ id, verdict, answer, probability }) {
  const time = new Date().toISOString();
  const receipt = { id, study, phase, verdict, time, service: window.location.origin };
  // One document may be asked at several addresses; each gets the same report.
  remember(receipt, "receipt", phase, study, page.dataset.name);
  say("send-wrong", "");
  showReceipt(receipt);
  if (answer !== undefined) {
    const told = answerWords({ answer, probability });
    say("server-answer", `The study's answer to your report: ${told}.`);
  }
  moveTo("done", 2);
}

function followHere(asked) {
  return async (event) => {
    event.preventDefault();
    say("form-wrong", "");
    const record = readForm(question, asked);
    if (record === null) {
      return;
    }
    try {
      const rule = question.mechanism.rule ?? (await fetchModel(page.dataset.name)).rule;
      const classes = encode(question, record);
      const own = answerFor(question.answer, rule, classes, question.fields.map(sizeOf));
      byId("device-answer").textContent = answerWords(own);
      const about = question.answer.name;
      byId("device-words").textContent = `The model says this about ${about}. It can be wrong.`;
      moveTo("device", 1);
    } catch (error) {
      say("form-wrong", sentence(error), "bad");
    }
  };
}

// ------------------------------------------------------------------- beginning

// Why this owner is not asked now, or null. The totals that a study states are for one answer to
// each question, and for different people who train and who are tested.
function reasonNotToAsk() {
  if (deadline !== "" && Date.now() / 1000 > Number(deadline)) {
    return "The time for answering has passed. Thank you for coming.";
  }
  if (phase !== "test" && question.groups.length > 1) {
    const group = once(() => drawGroup(question.groups), "group", beginning);
    if (group !== question.group) {
      return OTHER_GROUP;
    }
  }
  return answeredBefore() ? ANSWERED_BEFORE : null;
}

function answeredBefore() {
  return (recall("asked", phase, beginning) ?? study) !== study;
}

function hasOtherRole() {
  return question.private && (recall("role", beginning) ?? ROLE) !== ROLE;
}

// Another tab may have answered since this page was opened.
function reasonNotToSend() {
  if (hasOtherRole()) {
    return TOOK_PART;
  }
  return answeredBefore() ? ANSWERED_BEFORE : null;
}

// What answers to this aggregator have cost this browser before.
function explainSpent() {
  if (!question.private || same === null) {
    return [];
  }
  const again =
    recall("spent", same) === null
      ? ""
      : " This very question is among them: the same answer is sent, and costs you nothing more.";
  const spent = Number(sumOf("spent").toPrecision(6));
  const words = `Answers from this browser to studies at this address have cost ε = ${spent} so far.`;
  return spent === 0 ? [] : [element("p", { id: "spent" }, words + again)];
}

function explain(asked) {
  byId("explain").replaceChildren(...explainLeaving(question, asked));
  byId("cost").replaceChildren(...explainCost(question), ...explainSpent());
  byId("guarantee").textContent = question.guarantee;
}

function openForm(asked, submit) {
  buildFields(question, asked);
  byId("form").addEventListener("submit", submit);
  byId("steps").hidden = question.form === "device";
  byId("part").hidden = false;
  show("asking", 0);
}

function askForConsent() {
  const box = element("input", { type: "checkbox", id: "consent" });
  const words = "I trust those who run this study with these answers as they are.";
  const label = element("label", { for: "consent" }, words);
  byId("fields").append(element("div", { class: "consent" }, box, label));
}

function beginOnDevice(notice) {
  const all = question.fields.map((_, at) => at);
  question.form = "device";
  question.private = true;
  byId("lead").textContent = "See what the model says about you. Your values stay in this browser.";
  byId("show").textContent = "Work out my answer here";
  byId("again").addEventListener("click", () => moveTo("asking", 0));
  say("notice", notice);
  explain(all);
  openForm(all, followHere(all));
}

function leadFor({ form, private: changed }) {
  if (!changed) {
    return "This study asks for your answers as they are.";
  }
  const what = form === "answer" ? "The model's answer about you is" : "Your answers are";
  return `${what} changed at random on this device before anything leaves it.`;
}

function beginAsking() {
  const places = once(() => drawQuestions(question), "places", same);
  const asked = readFields(question, places);
  const left = question.fields.length - asked.length;
  byId("lead").textContent = `${leadFor(question)} You see what is sent before it goes.`;
  if (left > 0) {
    const many = `${asked.length} of ${question.fields.length} questions`;
    byId("asking-note").textContent = `Your browser drew by lot which ${many} you are asked.`;
  }
  byId("invitation-field").hidden = page.dataset.invited !== "yes";
  explain(asked);
  openForm(asked, prepare(asked, places));
  if (!question.private) {
    askForConsent();
  }
  byId("send-form").addEventListener("submit", send);
  byId("correct").addEventListener("click", () => moveTo("asking", 0));
  continueFromMemory();
}

// A report that was drawn before is the one that is sent; one that has arrived has its receipt.
function continueFromMemory() {
  const receipt = recall("receipt", phase, study, page.dataset.name);
  const report = keptReport();
  if (receipt !== null) {
    showReceipt(receipt);
    byId("done-words").textContent = "You have answered already, so you are not asked again.";
    show("done", 2);
  } else if (report !== null) {
    showReport(question, report, null);
    show("preview", 1);
  }
}

async function begin() {
  const reason = reasonNotToAsk();
  if (reason !== null) {
    say("notice", reason);
    return;
  }
  const trained = hasOtherRole();
  if (question.form === "device" || (trained && question.mechanism.rule)) {
    beginOnDevice(trained ? TRAINED : "");
    return;
  }
  if (trained) {
    say("notice", TOOK_PART);
    return;
  }
  try {
    checkPromise(question);
    const { checked, name } = await checkDocument(page.dataset.name, question);
    same = name;
    byId("checked").textContent = checked;
    beginAsking();
    if (!lasts()) {
      say("notice", FORGETS, "warn");
    }
  } catch (error) {
    say("notice", sentence(error), "bad");
  }
}

begin();
