// The page for owners: ask, change, show, send, and keep a receipt. What was typed never leaves.

import { fetchModel, checkDocument, sendReport } from "./courier.js";
import { byId, element, say } from "./elements.js";
import { explainCost, explainLeaving } from "./explain.js";
import { buildFields, readForm } from "./fields.js";
import { lasts, once, recall, remember } from "./memory.js";
import { answerWords, moveTo, sentence, show, showReceipt, showReport } from "./panels.js";
import {
  checkPromise,
  drawGroup,
  drawQuestions,
  encode,
  makeReport,
  readFields,
  secureWord,
  sizeOf,
} from "./randomize.js";
import { answerFor } from "./rule.js";

const page = byId("owner");
const question = JSON.parse(byId("question").textContent);
const { beginning, phase, study } = question;
const OTHER_GROUP =
  "Thank you for coming. Your browser drew by lot which group you are in, and another group is " +
  "asked now. Please come back later; nothing was sent.";
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
  const kept = recall("report", phase, study);
  const sent = kept !== null && recall("sent", phase, study) !== null;
  const received = recall("receipt", phase, study, page.dataset.name) !== null;
  return received || sent || (kept?.id ?? own) !== own;
}

// Symbols that are not changed are the values as they are, so only the id is kept of those: what
// is typed again then counts once.
function keep(report) {
  if (question.private) {
    own = report.id;
    remember(report, "report", phase, study);
  } else {
    report.id = once(() => report.id, "id", phase, study);
  }
}

// Whether the report that is shown is the one that this browser keeps.
function isCurrent() {
  const kept = recall("report", phase, study);
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
  byId("send").disabled = true;
  remember(true, "sent", phase, study);
  // It may arrive although the answer is lost; another value with the same dice would tell more.
  byId("correct").hidden = true;
  try {
    const answered = await sendReport(page.dataset.name, byId("report").textContent, invitation);
    finish(answered);
  } catch (error) {
    say("send-wrong", sentence(error), "bad");
  } finally {
    byId("send").disabled = false;
  }
}

function finish({ id, verdict, answer, probability }) {
  const time = new Date().toISOString();
  const receipt = { id, study, phase, verdict, time, service: window.location.origin };
  remember(study, "asked", phase, beginning);
  // One document may be asked at several addresses; each gets the same report.
  remember(receipt, "receipt", phase, study, page.dataset.name);
  if (question.private) {
    remember(ROLE, "role", beginning);
  }
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
  const { deadline } = page.dataset;
  if (deadline !== "" && Date.now() / 1000 > Number(deadline)) {
    return "The time for answering has passed. Thank you for coming.";
  }
  if (phase !== "test" && question.groups.length > 1) {
    const group = once(() => drawGroup(question.groups), "group", beginning);
    if (group !== question.group) {
      return OTHER_GROUP;
    }
  }
  const before = recall("asked", phase, beginning);
  if (before !== null && before !== study) {
    return ANSWERED_BEFORE;
  }
  return null;
}

function explain(asked) {
  byId("explain").replaceChildren(...explainLeaving(question, asked));
  byId("cost").replaceChildren(...explainCost(question));
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
  const places = once(() => drawQuestions(question), "places", phase, study);
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
  const report = recall("report", phase, study);
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
  const role = recall("role", beginning);
  const trained = question.private && role !== null && role !== ROLE;
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
    byId("checked").textContent = await checkDocument(page.dataset.name, question);
    beginAsking();
    if (!lasts()) {
      say("notice", FORGETS, "warn");
    }
  } catch (error) {
    say("notice", sentence(error), "bad");
  }
}

begin();
