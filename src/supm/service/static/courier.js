// The page's requests, all to the host that served it: the document, the report, the model.

const API = "/api/v1/studies";
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

function refusal(answer, body) {
  const waits = answer.status === 429 || answer.status === 503;
  const known = typeof body.error === "string" ? body.error : "the study did not take this.";
  return new Error(waits ? "the study is busy; nothing is lost, so try again in a moment." : known);
}

// Send a report; one that arrives twice counts once, so a failed attempt may be repeated.
export async function sendReport(name, text, invitation) {
  const headers = { "Content-Type": "application/json" };
  if (invitation !== "") {
    headers["X-Invitation"] = invitation;
  }
  const answer = await ask(`${name}/reports`, { method: "POST", headers, body: text });
  const body = await bodyOf(answer);
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

async function hashOf(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Hold the question against the study's document: its hash, and what it states. Returns a sentence
// for the page; a contradiction is refused.
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
  return hash === null
    ? `The question agrees with the document ${question.study}. Its hash can be checked over HTTPS.`
    : `Checked here: the question agrees with the study's document, whose hash is ${hash}.`;
}
