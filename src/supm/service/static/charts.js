// Charts drawn by Plotly in the colours of the page; drawn again when the look changes.

const drawn = new Map();

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function font() {
  return { family: getComputedStyle(document.body).fontFamily, color: colour("muted"), size: 13 };
}

function layout(more) {
  const axis = {
    gridcolor: colour("line"),
    linecolor: colour("line"),
    zerolinecolor: colour("control"),
    automargin: true,
    fixedrange: true,
  };
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: font(),
    margin: { l: 48, r: 12, t: 12, b: 40 },
    hoverlabel: { bgcolor: colour("surface"), bordercolor: colour("line"), font: { color: colour("ink") } },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    dragmode: false,
    ...more,
    xaxis: { ...axis, ...more.xaxis },
    yaxis: { ...axis, ...more.yaxis },
  };
}

const quiet = { displayModeBar: false, responsive: true, showTips: false };

const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

// Plotly takes texts for markup, with links; those of a study are shown as they are. Only templates
// are written here, and names are put into them by Plotly.
function asText(value) {
  if (typeof value === "string") return value.replace(/[&<>]/g, (sign) => SIGNS[sign]);
  if (Array.isArray(value)) return value.map(asText);
  if (value === null || typeof value !== "object" || value instanceof Date) return value;
  const parts = Object.entries(value);
  return Object.fromEntries(parts.map(([name, part]) => [name, name === "hovertemplate" ? part : asText(part)]));
}

function draw(id, make) {
  drawn.set(id, make);
  // Without the library the tables still say it all.
  if (!window.Plotly) return;
  const [traces, more] = asText(make());
  window.Plotly.react(id, traces, layout(more), quiet);
}

export function redraw() {
  for (const [id, make] of drawn) draw(id, make);
}

const lines = { reduce: ["second", "dot"], train: ["accent", "solid"], test: ["muted", "dash"] };

const MINUTE = 60000;

// A minute before and after: a first minute alone would be stretched to milliseconds.
function timeAxis(series) {
  const minutes = Object.values(series).flat().map(([minute]) => minute);
  const [first, last] = [Math.min(...minutes) - 1, Math.max(...minutes) + 1];
  const ticks = last - first <= 6 ? { dtick: MINUTE } : { nticks: 6 };
  return { type: "date", range: [new Date(first * MINUTE), new Date(last * MINUTE)], ...ticks };
}

// Nobody sends half a report.
function countAxis(series) {
  const most = Math.max(...Object.values(series).map((points) => sumOf(points)));
  const ticks = most <= 5 ? { dtick: 1 } : { nticks: 5 };
  return { rangemode: "tozero", tickformat: ",d", ...ticks };
}

function sumOf(points) {
  return points.reduce((sum, [, reports]) => sum + reports, 0);
}

// series: {phase: [[unix minute, reports], …]}
export function drawSeries(id, series) {
  draw(id, () => {
    const traces = Object.entries(series).map(([phase, points]) => {
      let sum = 0;
      const told = points.map(([, reports]) => (sum += reports));
      const [ink, dash] = lines[phase] ?? ["muted", "solid"];
      return {
        x: points.map(([minute]) => new Date(minute * MINUTE)),
        y: told,
        name: `to ${phase}`,
        mode: points.length < 40 ? "lines+markers" : "lines",
        line: { color: colour(ink), dash, width: 2.5, shape: "hv" },
        marker: { size: 6 },
        cliponaxis: false,
        fill: "tozeroy",
        fillcolor: colour(`${ink}-soft`) || colour("sunken"),
        hovertemplate: "%{y:,} stored by %{x|%d %b %H:%M}<extra></extra>",
      };
    });
    return [traces, {
      showlegend: traces.length > 1,
      height: 250,
      yaxis: countAxis(series),
      xaxis: timeAxis(series),
    }];
  });
}

// shown: one histogram of the estimates
export function drawHistogram(id, shown) {
  draw(id, () => {
    const bar = colour("accent");
    const hollow = shown.outside.map((outside) => (outside ? "rgba(0,0,0,0)" : colour("accent-soft")));
    const trace = {
      type: "bar",
      x: shown.classes,
      y: shown.shares,
      customdata: shown.low.map((low, place) => [low, shown.high[place]]),
      marker: { color: hollow, line: { color: bar, width: 1.5 } },
      error_y: {
        type: "data",
        symmetric: false,
        array: shown.high.map((high, place) => high - shown.shares[place]),
        arrayminus: shown.low.map((low, place) => shown.shares[place] - low),
        color: colour("second"),
        thickness: 2.5,
        width: 8,
      },
      hovertemplate: "%{x}<br>%{y:.1%}, from %{customdata[0]:.1%} to %{customdata[1]:.1%}<extra></extra>",
    };
    return [[trace], {
      showlegend: false,
      height: 340,
      bargap: shown.classes.length < 4 ? 0.55 : 0.25,
      xaxis: { type: "category", title: { text: shown.name } },
      yaxis: { tickformat: ".0%", zeroline: true, zerolinewidth: 1.5, title: { text: "share of people" } },
    }];
  });
}

// told: what the forecast answered
export function drawForecast(id, told) {
  draw(id, () => {
    const budgets = told.points.map((point) => point.epsilon);
    const line = (name, values, ink, dash) => ({
      x: budgets,
      y: values,
      name,
      mode: dash === "dash" ? "lines" : "lines+markers",
      line: { color: colour(ink), width: 2.5, dash },
      marker: { size: budgets.map((each) => (each === told.epsilon ? 14 : 8)) },
      hovertemplate: `${name}: %{y:.1%}<extra>ε = %{x}</extra>`,
    });
    const traces = [line("on the device", told.points.map((point) => point.on_device), "accent", "solid")];
    if (!told.device) {
      traces.push(line("answers to reports", told.points.map((point) => point.answered), "second", "dot"));
    }
    traces.push(line("commonest label", told.points.map((point) => point.majority), "muted", "dash"));
    return [traces, {
      height: 340,
      xaxis: { type: "log", tickvals: budgets, ticktext: budgets.map((each) => `${Number(each.toPrecision(3))}`), title: { text: "budget ε" } },
      yaxis: { tickformat: ".0%", title: { text: "accuracy" }, rangemode: "normal" },
      shapes: [{ type: "line", x0: told.epsilon, x1: told.epsilon, y0: 0, y1: 1, yref: "paper", line: { color: colour("control"), width: 1, dash: "dot" } }],
      annotations: [{ x: Math.log10(told.epsilon), y: 1, yref: "paper", text: "this study", showarrow: false, xanchor: "left", yanchor: "top", xshift: 4 }],
    }];
  });
}
