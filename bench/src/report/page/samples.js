// ---- Distribution and order of samples

// Where nearly all samples are: few that are far away would press the others together.
function usual(sorted, also) {
  const [low, high] = [quantile(sorted, 0.25), quantile(sorted, 0.75)], room = Math.max((high - low) * 4, Math.abs(high) * 0.002);
  return [Math.max(sorted[0], low - room), Math.min(sorted[sorted.length - 1], high + room), ...also.filter(known)];
}

// Kernel density with Silverman's bandwidth, of 1 at its highest.
function density(sorted, low, high) {
  const inside = sorted.filter((value) => value >= low && value <= high), n = inside.length;
  const mean = inside.reduce((a, b) => a + b, 0) / n, deviation = Math.sqrt(inside.reduce((a, b) => a + (b - mean) ** 2, 0) / n);
  const quartiles = (quantile(inside, 0.75) - quantile(inside, 0.25)) / 1.34;
  const width = Math.max(0.9 * Math.min(deviation, quartiles || deviation) * n ** -0.2, (high - low) / 250);
  const points = Array.from({ length: 161 }, (_, at) => low + ((high - low) * at) / 160);
  const heights = points.map((point) => inside.reduce((total, value) => total + Math.exp(-0.5 * ((point - value) / width) ** 2), 0));
  const top = Math.max(...heights);
  return points.map((point, at) => [point, heights[at] / top]);
}

function medians(samples) {
  const half = Math.max(2, Math.floor(samples.length / 40)), step = Math.max(1, Math.floor(samples.length / 250)), found = [];
  for (let at = 0; at < samples.length; at += step) {
    found.push([at, quantile(samples.slice(Math.max(0, at - half), at + half + 1).sort((a, b) => a - b), 0.5)]);
  }
  return found;
}

// Whether the pictures of providers have the same scale: apart by more, differences within one are not seen.
function sameScale(middles) {
  const range = extent(middles);
  return state.scale === "shared" || (state.scale === "auto" && range !== null && range[1] <= range[0] * 1.5);
}

function showDistribution() {
  const host = byId("lanes"), isHost = state.clock === "host";
  const lanes = linesOf(state.row).map((line) => {
    const samples = isHost ? line.mode.host_samples_ns : line.mode.samples_ns, sorted = samples.filter(known).sort((a, b) => a - b);
    const middle = isHost ? { low: null, middle: line.mode.host_ns, high: null } : line.mode.time_ns;
    return { line, samples, sorted, middle, range: sorted.length ? usual(sorted, Object.values(middle)) : [] };
  });
  const drawable = lanes.filter((lane) => lane.sorted.length);
  const common = sameScale(drawable.map((lane) => lane.middle.middle)) ? drawable.flatMap((lane) => lane.range) : null;
  host.replaceChildren(...lanes.map((lane) => {
    const { line, sorted, middle } = lane, title = isHost ? "time of the host" : "time";
    const text = `median ${time(middle.middle)}${known(middle.low) ? ` ${interval(middle, time)}` : ""}, ${sorted.length} samples`;
    const span = sorted.length ? `, from ${time(sorted[0])} to ${time(sorted[sorted.length - 1])}` : "";
    const caption = element("figcaption", "", providerLabel(line.colour), ` ${text}`, soft(span));
    const figure = element("figure", "", caption);
    figure.dataset.provider = line.provider.name;
    if (sorted.length) {
      const x = axis(common || lane.range, { title, units: TIME }), pair = element("div", "pair");
      pair.append(strip(lane, x, `Distribution of the samples of ${line.provider.name}: ${text}`));
      pair.append(inOrder(lane, x, `Samples of ${line.provider.name} in order of measurement: ${text}`));
      figure.append(pair);
    } else figure.append(element("p", "soft", "no samples"));
    return figure;
  }));
  if (!lanes.length) host.append(element("p", "bad", `Not measured in the mode ${state.mode}.`));
  dataTable(byId("distribution-data"), () => {
    const shares = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1];
    const head = ["provider", "samples", "least", "5 %", "25 %", "median", "75 %", "95 %", "most"];
    const row = ({ line, sorted }) => [providerLabel(line.colour), sorted.length, ...shares.map((share) => time(quantile(sorted, share)))];
    const summary = table("Quantiles", head, drawable.map(row), [1, 2, 3, 4, 5, 6, 7, 8]);
    const longest = Math.max(0, ...lanes.map((lane) => lane.samples.length));
    const all = Array.from({ length: longest }, (_, at) => [at + 1, ...lanes.map((lane) => time(lane.samples[at]))]);
    const samplesHead = ["sample", ...lanes.map((lane) => lane.line.provider.name)];
    return element("div", "", summary, table("In order of measurement", samplesHead, all, samplesHead.map((_, at) => at)));
  });
}

function strip({ line, samples, sorted, middle }, x, label) {
  const at = frame({ picture: "distribution", label, width: widthOf(2), height: 132, x, left: 14, top: 6 });
  const { svg } = at, centre = 36, colour = colourClass(line.colour);
  const shape = density(sorted, x.low, x.high);
  const upper = shape.map(([value, height]) => `${at.x(value)},${(centre - 26 * height).toFixed(2)}`);
  const [from, to] = [at.x(x.low), at.x(x.high)];
  if (shape.every(([, height]) => known(height))) stroke(svg, `band ${colour}`, `M${from},${centre}L${upper.join("L")}L${to},${centre}z`);
  // Samples below their density, apart from each other by the golden ratio.
  const apartFrom = (index) => (centre + 8 + 30 * ((index * 0.618034) % 1)).toFixed(1);
  const isInside = (value) => value >= x.low && value <= x.high;
  const dots = samples.map((value, index) => (isInside(value) ? `M${at.x(value)},${apartFrom(index)}h.01` : "")).join("");
  stroke(svg, `dots ${colour}`, dots);
  if (known(middle.low) && known(middle.high)) {
    const [left, right] = [at.x(middle.low), at.x(middle.high)], height = at.bottom - at.top;
    const rect = drawn("rect", { class: "interval", x: left, y: at.top, width: Math.max(1, right - left), height });
    svg.append(hover(rect, `confidence interval of the median: ${interval(middle, time)}`));
  }
  if (known(middle.middle)) {
    hover(stroke(svg, "median", `M${at.x(middle.middle)},${at.top}V${at.bottom}`), `median: ${time(middle.middle)}`);
  }
  const below = sorted.filter((value) => value < x.low).length, above = sorted.filter((value) => value > x.high).length;
  if (below) svg.append(words(at.left + 3, at.top + 11, `◂ ${below} more`, { class: "over" }));
  if (above) svg.append(words(at.right - 3, at.top + 11, `${above} more ▸`, { class: "over", "text-anchor": "end" }));
  return svg;
}

function inOrder({ line, samples, middle }, y, label) {
  const x = { ...axis([1, Math.max(2, samples.length)], { title: "sample", pad: 0.01 }), format: (value) => String(Math.round(value)) };
  const at = frame({ picture: "order", label, width: widthOf(2), height: 132, x, y, top: 18 });
  const colour = colourClass(line.colour);
  const inside = (value) => at.y(Math.min(Math.max(value, y.low), y.high));
  if (known(middle.middle)) stroke(at.svg, "median dashed", `M${at.left},${at.y(middle.middle)}H${at.right}`);
  const dots = samples.map((value, index) => (known(value) ? `M${at.x(index + 1)},${inside(value)}h.01` : ""));
  stroke(at.svg, `dots ${colour}`, dots.join(""));
  const running = medians(samples).filter(([, value]) => known(value)).map(([index, value]) => `${at.x(index + 1)},${inside(value)}`);
  at.svg.append(hover(drawn("path", { class: `curve own ${colour}`, d: `M${running.join("L")}` }), "running median"));
  return at.svg;
}

