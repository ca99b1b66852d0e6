// The analyst's page: live counts, histograms, the forecast, and the next step after a question.

import { drawForecast, drawHistogram, drawSeries, redraw } from "./charts.js";

const page = document.getElementById("dashboard");
const { name, state } = page.dataset;
const api = `/api/v1/studies/${encodeURIComponent(name)}`;
const numbers = new Intl.NumberFormat("en");
const byId = (id) => document.getElementById(id);
const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(1)} %`);

let reports = {};
let estimated = { phase: null, reports: 0, histograms: [] };
let waiting = null;

async function fetchJson(path, options = {}) {
  const answer = await fetch(path, { credentials: "same-origin", ...options });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.error ?? `The service answered ${answer.status}.`);
  return body;
}

function row(cells) {
  const line = document.createElement("tr");
  cells.forEach((text, place) => {
    const cell = document.createElement(place === 0 ? "th" : "td");
    if (place === 0) cell.scope = "row";
    if (place > 0) cell.className = "number";
    cell.textContent = text;
    line.append(cell);
  });
  return line;
}

// Live counts

function showProgress(progress) {
  reports = progress.reports;
  for (const figure of document.querySelectorAll("[data-count]")) {
    figure.textContent = numbers.format(reports[figure.dataset.count] ?? 0);
  }
  for (const figure of document.querySelectorAll("[data-left]")) {
    const left = figure.dataset.of - (reports[figure.dataset.left] ?? 0);
    figure.textContent = numbers.format(Math.max(left, 0));
  }
  const bar = byId("minimum");
  if (bar) bar.value = Math.min(reports[bar.dataset.phase] ?? 0, bar.max);
  guardMoves();
  const filled = Object.fromEntries(Object.entries(progress.series).filter(([, points]) => points.length));
  byId("no-reports").hidden = Object.keys(filled).length > 0;
  if (Object.keys(filled).length) drawSeries("series", filled);
  byId("moved").hidden = progress.state === state;
  refreshLater();
}

function guardMoves() {
  const bar = byId("minimum");
  for (const button of document.querySelectorAll("[data-move][data-phase]")) {
    const few = bar !== null && bar.dataset.phase === button.dataset.phase && bar.value < bar.max;
    button.disabled = few;
    button.title = few ? "More reports are needed first." : "";
  }
}

function listen() {
  const sign = byId("live");
  const events = new EventSource(`${api}/events`);
  const say = (on, word) => {
    sign.dataset.on = String(on);
    byId("live-word").textContent = word;
  };
  events.addEventListener("open", () => say(true, "live"));
  events.addEventListener("error", () => say(false, "connecting"));
  events.addEventListener("progress", (event) => showProgress(JSON.parse(event.data)));
  window.addEventListener("pagehide", () => events.close());
}

// Estimated histograms

function refreshLater() {
  const stored = estimated.phase ? reports[estimated.phase] ?? 0 : -1;
  if (waiting !== null || stored === estimated.reports) return;
  waiting = setTimeout(() => {
    waiting = null;
    loadEstimates();
  }, estimated.reports ? 5000 : 1000);
}

async function loadEstimates() {
  try {
    estimated = await fetchJson(`${api}/estimates`);
    const many = `${numbers.format(estimated.reports)} ${estimated.reports === 1 ? "report" : "reports"}`;
    const from = `From ${many} to ${estimated.phase}. ${estimated.band}`;
    byId("estimate-note").textContent = estimated.note || from;
    fillAttributes(estimated.histograms);
  } catch (error) {
    byId("estimate-note").textContent = error.message;
  }
}

function fillAttributes(histograms) {
  const chooser = byId("attribute");
  const before = chooser.value;
  // The target is what most people look for first.
  const ordered = [...histograms.slice(-1), ...histograms.slice(0, -1)];
  chooser.replaceChildren(...ordered.map((each) => new Option(each.name, each.name)));
  if (ordered.some((each) => each.name === before)) chooser.value = before;
  chooser.hidden = ordered.length === 0;
  byId("histogram").hidden = byId("as-table").hidden = ordered.length === 0;
  showHistogram();
}

function showHistogram() {
  const shown = estimated.histograms.find((each) => each.name === byId("attribute").value);
  if (!shown) return;
  const told = shown.told > 0;
  byId("histogram").hidden = byId("as-table").hidden = !told;
  byId("outside-note").hidden = !shown.outside.some(Boolean);
  if (!told) {
    byId("estimate-note").textContent = `Nobody has told ${shown.name} yet.`;
    return;
  }
  byId("histogram").setAttribute("aria-label", `Estimated shares of the classes of ${shown.name}, with bands; a table follows`);
  drawHistogram("histogram", shown);
  const rows = shown.classes.map((each, place) =>
    row([each, percent(shown.shares[place]), percent(shown.low[place]), percent(shown.high[place])]));
  byId("histogram-rows").replaceChildren(...rows);
}

// The forecast

async function loadForecast() {
  const button = byId("ask-forecast");
  const note = byId("forecast-note");
  button.disabled = true;
  note.textContent = "Working it out.";
  try {
    const told = await fetchJson(`/studies/${encodeURIComponent(name)}/dashboard/forecast`);
    showForecast(told);
    button.hidden = true;
  } catch (error) {
    note.textContent = error.message;
    button.disabled = button.hidden = false;
  }
}

// Where it is cheap it needs no button, but comes after everything else.
function loadForecastLater() {
  const later = window.requestIdleCallback ?? setTimeout;
  window.addEventListener("load", () => setTimeout(() => later(loadForecast), 1000));
}

function showForecast(told) {
  const note = byId("forecast-note");
  if (!told.points.length) {
    note.textContent = told.note;
    return;
  }
  const people = numbers.format(told.owners);
  note.textContent = `Mean of ${told.repeats} repeats, each with ${people} made-up people and 5 folds; beside it, always answering the commonest label.`;
  byId("forecast").hidden = byId("forecast-table").hidden = byId("forecast-kind").hidden = false;
  drawForecast("forecast", told);
  const rows = told.points.map((point) => row([
    `${Number(point.epsilon.toPrecision(4))}`,
    percent(point.on_device),
    ...(told.device ? [] : [percent(point.answered)]),
    percent(point.majority),
  ]));
  byId("forecast-rows").replaceChildren(...rows);
}

// The next step

function askFirst(button) {
  const dialog = byId(`dialog-${button.dataset.move}`);
  dialog.querySelector("[data-refused]").textContent = "";
  dialog.showModal();
}

async function takeStep(button) {
  const dialog = button.closest("dialog");
  const weights = dialog.querySelector("#weights");
  const refused = dialog.querySelector("[data-refused]");
  button.disabled = true;
  refused.textContent = "";
  try {
    await fetchJson(`${api}/${button.dataset.confirm}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-SUPM": "1" },
      body: JSON.stringify(weights ? { weights: weights.value || null } : {}),
    });
    window.location.reload();
  } catch (error) {
    refused.textContent = error.message;
    button.disabled = false;
  }
}

async function copyLink() {
  const field = byId("link");
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    byId("copied").textContent = "Copied.";
  } catch {
    byId("copied").textContent = "Selected; copy it with the keyboard.";
  }
}

function wire() {
  for (const button of document.querySelectorAll("[data-move]")) {
    button.addEventListener("click", () => askFirst(button));
  }
  for (const button of document.querySelectorAll("[data-cancel]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
  for (const button of document.querySelectorAll("[data-confirm]")) {
    button.addEventListener("click", () => takeStep(button));
  }
  byId("attribute").addEventListener("change", showHistogram);
  byId("ask-forecast").addEventListener("click", loadForecast);
  byId("copy").addEventListener("click", copyLink);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

wire();
guardMoves();
loadEstimates();
listen();
if (page.dataset.forecast === "ready") loadForecast();
if (page.dataset.forecast === "cheap") loadForecastLater();
