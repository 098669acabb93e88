// ---- Axis curves

// Benchmarks with an axis of at least two different numbers.
const articles = unique(report.rows.map((row) => row.benchmark)).flatMap((benchmark) => {
  const rows = report.rows.filter((row) => row.benchmark === benchmark);
  const values = (name) => unique(rows.map((row) => (row.axes.find((axis) => axis.name === name) || {}).value));
  const all = unique(rows.flatMap((row) => row.axes.map((axis) => axis.name)));
  const isNumeric = (texts) => texts.length > 1 && texts.every((text) => !Number.isNaN(numberOf(text ?? "")));
  const numeric = all.filter((name) => isNumeric(values(name)));
  const varied = all.filter((name) => values(name).length > 1), isOnSeveral = unique(rows.map((row) => row.device)).length > 1;
  const declared = (row, kind) => known(kind === "flops" ? sum([row.work.f32_flops, row.work.f64_flops]) : row.work[kind]);
  const rates = Object.keys(RATES).filter((kind) => rows.some((row) => declared(row, kind)));
  return numeric.length ? [{ benchmark, numeric, varied, isOnSeveral, rates, axis: numeric[0] }] : [];
});
for (const article of articles) {
  const flopBound = lines.some((line) => line.row.benchmark === article.benchmark && line.share && line.share.of !== "bandwidth");
  article.rate = article.defaultRate = flopBound ? "flops" : article.rates[0] || "";
}

function select(title, values, texts, chosen, change) {
  const made = element("select", "", ...values.map((value, at) => Object.assign(element("option", "", texts[at]), { value })));
  made.value = chosen;
  made.addEventListener("change", () => change(made.value));
  return element("label", "", `${title} `, made);
}

function showCurveArticles() {
  byId("curve-articles").replaceChildren(...articles.map((article, at) => {
    const redraw = () => { drawCurves(article); writeHash(); };
    const controls = element("div", "controls");
    const { numeric, rates } = article, units = rates.map((kind) => RATES[kind].unit);
    const choice = (title, key, values, texts) =>
      select(title, values, texts, article[key], (value) => { article[key] = value; redraw(); });
    if (numeric.length > 1) controls.append(choice("axis", "axis", numeric, numeric));
    if (rates.length > 1) controls.append(choice("throughput in", "rate", rates, units));
    article.pictures = element("div", "pair");
    article.data = Object.assign(element("details", "data", element("summary", "", "Curves as a table")), { id: `curves-${at}-data` });
    article.host = element("article", "", element("h3", "", article.benchmark), controls, article.pictures, article.data);
    article.host.id = `curves-${at}`;
    return article.host;
  }));
  if (!articles.length) byId("curve-articles").append(element("p", "soft", "No benchmark here has an axis with several numbers."));
}

// One series for each provider and values of the other axes.
function seriesOf(article) {
  const found = new Map(), valueOf = (row, name) => (row.axes.find((axis) => axis.name === name) || {}).value;
  for (const line of lines) {
    if (line.row.benchmark !== article.benchmark || line.mode.mode !== state.mode || !known(line.mode.time_ns.middle)) continue;
    const others = article.varied.filter((name) => name !== article.axis).map((name) => [name, valueOf(line.row, name)]);
    if (article.isOnSeveral) others.push(["device", line.row.device]);
    const key = JSON.stringify([line.provider.name, others]);
    const name = [line.provider.name, ...others.map(([, value]) => value ?? "")].join(" ");
    if (!found.has(key)) found.set(key, { colour: line.colour, others: JSON.stringify(others), name, points: [] });
    found.get(key).points.push({ line, x: numberOf(valueOf(line.row, article.axis)), text: valueOf(line.row, article.axis) });
  }
  const all = [...found.values()];
  for (const series of all) {
    series.points.sort((a, b) => a.x - b.x);
    series.dash = unique(all.map((one) => one.others)).indexOf(series.others);
  }
  const chosen = all.find((series) => series.points.some((point) => point.line.index === state.row));
  for (const series of all) series.isOwn = !chosen || chosen.others === series.others;
  return all;
}

function drawCurves(article) {
  const all = seriesOf(article), kind = article.rate;
  const timeOf = (point) => point.line.mode.time_ns;
  const rateOf = (point) => {
    const count = point.line.work[kind], { low, middle, high } = timeOf(point);
    const per = (ns) => (known(count) && ns > 0 ? (count / ns) * 1e9 : null);
    return { low: per(high), middle: per(middle), high: per(low) };
  };
  const pictures = [["time", timeOf, { title: "time", units: TIME }]];
  if (kind) pictures.push(["throughput", rateOf, { title: RATES[kind].name + " per second", unit: RATES[kind].unit }]);
  article.pictures.replaceChildren(...pictures.map(([name, pick, as]) => curves(article, all, name, pick, as)));
  if (!all.length) article.pictures.append(element("p", "soft", `Not measured in the mode ${state.mode}.`));
  const head = [article.axis, "line", "time", ...(kind ? [RATES[kind].unit] : [])];
  dataTable(article.data, () => table(null, head, all.flatMap((series) => series.points.map((point) => [
    point.text, series.name, `${time(timeOf(point).middle)} ${interval(timeOf(point), time)}`,
    ...(kind ? [rate(rateOf(point).middle)] : []),
  ])), [0, 2, 3]));
}

const DASHES = ["", "7 3", "2 3", "10 3 2 3", "12 5", "4 2"];
function curves(article, all, name, pick, as) {
  const points = all.flatMap((series) => series.points).filter((point) => known(pick(point).middle));
  const values = points.map((point) => pick(point).middle), spans = (range) => range !== null && range[0] > 0 && range[1] / range[0] >= 10;
  if (!points.length) return element("p", "soft", "");
  const xs = unique(points.map((point) => point.x)).sort((a, b) => a - b), isLog = spans(extent(xs)), isHigh = spans(extent(values));
  const width = widthOf(2), labelled = all.length <= 20 ? all : all.filter((series) => series.isOwn).slice(0, 20);
  const right = Math.min(Math.max(...labelled.map((series) => textWidth(series.name))) + 16, 180, width * 0.36);
  const x = axis(xs, { title: article.axis, log: isLog, pad: 0.03 });
  // Each value has a label of its own if there are few.
  if (xs.length <= 12) x.marks = xs.map((value) => ({ value, text: [axisValue(points.find((point) => point.x === value).text)] }));
  // A bar that would reach down to zero is not drawn where the scale has none.
  const seen = ({ low, middle, high }) => [isHigh && !(low > 0) ? middle : low, middle, high];
  const y = axis(points.flatMap((point) => seen(pick(point))), { ...as, log: isHigh, zero: true });
  const label = `${as.title} of ${article.benchmark} over ${article.axis}: ${all.length} lines`;
  const at = frame({ picture: name, label, width, height: 290, x, y, right, bottom: 36 }), ends = [];
  for (const series of all.toSorted((a, b) => a.isOwn - b.isOwn)) {
    const own = series.points.filter((point) => known(pick(point).middle) && (!isHigh || pick(point).middle > 0));
    const colour = colourClass(series.colour);
    if (!own.length) continue;
    const places = own.map((point) => [at.x(point.x), at.y(pick(point).middle)]);
    const path = stroke(at.svg, `curve ${colour}${series.isOwn ? " own" : ""}`, `M${places.join("L")}`);
    path.setAttribute("stroke-dasharray", DASHES[series.dash % DASHES.length]);
    path.dataset.series = series.name;
    hover(path, series.name);
    own.forEach((point, number) => {
      const [px, py] = places[number], { low, middle, high } = pick(point), isSelected = point.line.index === state.row;
      const isShown = known(low) && known(high) && (!isHigh || low > 0);
      if (isShown) stroke(at.svg, `error ${colour}`, errorBar(px, at.y(low), at.y(high)));
      if (isSelected) stroke(at.svg, "ring", SHAPES[0](px, py, 7));
      const made = mark(series.colour, px, py, series.isOwn ? 3.6 : 2.8);
      made.dataset.row = point.line.index;
      const value = name === "time" ? time(middle) : rate(middle, as.unit);
      at.svg.append(hover(made, `${series.name}, ${article.axis}=${point.text}: ${value}`));
    });
    if (labelled.includes(series)) ends.push({ series, px: places[places.length - 1][0], wanted: places[places.length - 1][1] });
  }
  for (const { series, px, wanted, place } of apart(ends, 12.5, at.top, at.bottom)) {
    stroke(at.svg, `thin ${colourClass(series.colour)}`, `M${px + 5},${wanted}L${at.right + 9},${place}`);
    at.svg.append(hover(words(at.right + 12, place + 4, fit(series.name, right - 14), { class: series.isOwn ? "" : "soft" }), series.name));
  }
  return element("figure", "", at.svg);
}

