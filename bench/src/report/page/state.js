// ---- What is shown, and its address

const state = {};
const JUMPS = { rows: "rows", distribution: "distribution", runs: "history", roofs: "roofline", curves: "curves" };
let complaint = "";

// Values that the address does not have, or that this report lacks, are those at the start.
function readHash() {
  const wanted = new URLSearchParams(location.hash.slice(1)), get = (name, otherwise = "") => wanted.get(name) ?? otherwise;
  const complaints = [], row = names.indexOf(get("row")), mode = get("mode", MODES[0]);
  if (wanted.has("row") && row < 0) complaints.push(`This report has no row ${get("row")}.`);
  if (wanted.has("mode") && !MODES.includes(mode)) complaints.push(`It has no mode ${mode}.`);
  complaint = complaints.join(" ");
  Object.assign(state, { row: Math.max(0, row), mode: MODES.includes(mode) ? mode : MODES[0], filter: get("filter"), sort: get("sort") });
  state.scale = ["shared", "own"].find((one) => one === get("scale")) || "auto";
  state.clock = get("clock") === "host" ? "host" : "device";
  for (const article of articles) {
    article.axis = article.numeric.find((name) => name === get(`axis:${article.benchmark}`)) || article.numeric[0];
    article.rate = article.rates.find((kind) => kind === get(`throughput:${article.benchmark}`)) || article.defaultRate;
  }
  return get("open").split(" ");
}

function writeHash() {
  const has = new URLSearchParams(), put = (name, value, otherwise) => { if (value !== otherwise) has.set(name, value); };
  put("row", names[state.row], names[0]);
  put("mode", state.mode, MODES[0]);
  for (const [name, otherwise] of [["filter", ""], ["sort", ""], ["scale", "auto"], ["clock", "device"]]) put(name, state[name], otherwise);
  for (const article of articles) {
    put(`axis:${article.benchmark}`, article.axis, article.numeric[0]);
    put(`throughput:${article.benchmark}`, article.rate, article.defaultRate);
  }
  put("open", [...document.querySelectorAll("details.data[open]")].map((details) => details.id).join(" "), "");
  window.history.replaceState(null, "", `#${has}`);
}

function showBar() {
  for (const input of document.querySelectorAll("#modes input")) input.checked = input.value === state.mode;
  for (const name of ["filter", "scale", "clock"]) if (byId(name).value !== state[name]) byId(name).value = state[name];
}

function showPictures() {
  const name = names[state.row];
  byId("selected").replaceChildren(soft("selected "), element("b", "", name), element("span", "bad", complaint && ` ${complaint}`));
  byId("selected").title = name;
  showRow();
  showDistribution();
  showRuns();
  showRoofs();
  articles.forEach(drawCurves);
}

// Everything, after the mode or more has changed.
function show() {
  showBar();
  showTable();
  showPictures();
  writeHash();
}

function selectRow(index) {
  if (index === state.row) return;
  Object.assign(state, { row: index });
  complaint = "";
  lightTable();
  showPictures();
  writeHash();
}

function listen() {
  byId("modes").append(...MODES.map((mode) => {
    const input = Object.assign(element("input"), { type: "radio", name: "mode", value: mode });
    input.addEventListener("change", () => { state.mode = mode; show(); });
    return element("label", "", input, ` ${mode}`);
  }));
  byId("legend").append(...PROVIDERS.map((_, colour) => Object.assign(providerLabel(colour), { role: "listitem" })));
  byId("jumps").append(...Object.entries(JUMPS).map(([id, name]) => {
    const button = element("button", "plain link", name);
    button.addEventListener("click", () => {
      const article = id === "curves" && articles.find((article) => article.benchmark === report.rows[state.row].benchmark);
      (article ? article.host : byId(id)).scrollIntoView();
    });
    return button;
  }));
  byId("filter").addEventListener("input", () => { state.filter = byId("filter").value; filterTable(); writeHash(); });
  for (const name of ["scale", "clock"]) byId(name).addEventListener("change", () => {
    state[name] = byId(name).value;
    showDistribution();
    showRuns();
    writeHash();
  });
  byId("table").addEventListener("click", (event) => {
    const tr = event.target.closest("tr.line");
    if (tr) selectRow(Number(tr.dataset.row));
  });
  byId("table").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], tr = event.target.closest("tr.line");
    if (!step || !tr) return;
    const all = [...document.querySelectorAll("#table tr.line:not([hidden])")], next = all[all.indexOf(tr) + step];
    if (!next) return;
    event.preventDefault();
    selectRow(Number(next.dataset.row));
    next.querySelector("button").focus();
  });
  for (const id of ["roof-figures", "curve-articles"]) byId(id).addEventListener("click", (event) => {
    const point = event.target.closest("path[data-row]");
    if (point) selectRow(Number(point.dataset.row));
  });
  // The event does not bubble.
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches("details.data")) return;
    if (event.target.open) event.target.fill();
    writeHash();
  }, true);
  measureRoom();
  new ResizeObserver(() => {
    const before = room;
    measureRoom();
    if (room !== before) requestAnimationFrame(showPictures);
  }).observe(byId("lanes"));
}

function start() {
  const open = readHash();
  showCurveArticles();
  for (const id of open) { const details = id && byId(id); if (details && details.matches("details.data")) details.open = true; }
  show();
}

showHead();
if (lines.length) {
  showTableHead();
  listen();
  start();
  window.addEventListener("hashchange", start);
} else {
  byId("bar").hidden = true;
  document.querySelector("main").replaceChildren(element("p", "", "No row was measured."));
}
