// The page's requests, all to the host that served it: the document, the report, the model.

import { questionText } from "./same.js";

const API = "/api/v1/studies";
const ATTEMPTS = 4;
const LONGEST_WAIT = 30;
const CONFLICT = 409;
const MOVED = "the study has moved on; nothing was stored. Reload this page.";
const UNREACHED = "the study could not be reached; nothing is lost, so try again in a moment.";

async function ask(path, options = {}) {
  try {
    return await fetch(`${API}/${path}`, { cache: "no-store", credentials: "omit", ...options });
  } catch {
    throw new Error(UNREACHED);
  }
}

async function bodyOf(answer) {
  try {
    return await answer.json();
  } catch {
    return {};
  }
}

function isBusy(answer) {
  return answer.status === 429 || answer.status === 503;
}

// Seconds until a busy study is asked again: what it says, or a second and more.
function secondsUntil(answer, attempt) {
  const told = Number.parseInt(answer.headers.get("Retry-After") ?? "", 10);
  return Math.min(told >= 0 ? told : 2 ** attempt, LONGEST_WAIT);
}

// Ask again while the study is busy, a few times; onWait hears how many seconds pass until then.
async function askPatiently(path, options, onWait) {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await ask(path, options);
    if (!isBusy(answer) || attempt === ATTEMPTS - 1) {
      return answer;
    }
    const seconds = secondsUntil(answer, attempt);
    onWait(seconds);
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  }
}

function refusal(answer, body) {
  const known = typeof body.error === "string" ? body.error : "the study did not take this.";
  return new Error(isBusy(answer) ? "the study is busy; nothing is lost, so try again in a moment." : known);
}

// The question of this page is asked no more: the same report would be refused again.
export class MovedOn extends Error {}

// Send a report; one that arrives twice counts once, so a failed attempt may be repeated.
export async function sendReport(name, text, invitation, onWait = () => {}) {
  const headers = { "Content-Type": "application/json" };
  if (invitation !== "") {
    headers["X-Invitation"] = invitation;
  }
  const options = { method: "POST", headers, body: text };
  const answer = await askPatiently(`${name}/reports`, options, onWait);
  const body = await bodyOf(answer);
  if (answer.status === CONFLICT) {
    throw new MovedOn(MOVED);
  }
  if (!answer.ok) {
    throw refusal(answer, body);
  }
  return body;
}

export async function fetchModel(name) {
  const answer = await ask(`${name}/model`);
  if (!answer.ok) {
    throw refusal(answer, await bodyOf(answer));
  }
  return answer.json();
}

// The name of a question under which its answer is remembered; where browsers do not hash, its text.
async function nameOf(document, phase) {
  const text = questionText(document, phase);
  return crypto.subtle ? hashOf(new TextEncoder().encode(text)) : text;
}

async function hashOf(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Hold the question against the study's document: its hash, and what it states. Returns a sentence
// for the page and the question's name; a contradiction is refused.
export async function checkDocument(name, question) {
  const answer = await ask(`${name}/documents/${question.study}`);
  if (!answer.ok) {
    throw refusal(answer, await bodyOf(answer));
  }
  const bytes = await answer.arrayBuffer();
  const document = JSON.parse(new TextDecoder().decode(bytes));
  const stated = document.questions.find((each) => each.phase === question.phase);
  const agrees = ["form", "epsilon", "group"].every((part) => stated?.[part] === question[part]);
  // Browsers hash only on pages that came over HTTPS, or from this computer.
  const hash = crypto.subtle ? await hashOf(bytes) : null;
  if (!agrees || (hash !== null && hash !== question.study)) {
    throw new Error("the question is not what the study's document states; nothing was sent.");
  }
  const checked = hash === null
    ? `The question agrees with the document ${question.study}. Its hash can be checked over HTTPS.`
    : `Checked here: the question agrees with the study's document, whose hash is ${hash}.`;
  return { checked, name: await nameOf(document, question.phase) };
}
