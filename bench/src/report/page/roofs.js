// ---- Roofline

// Of lines with both, operations per byte and per second, of the type that comes closest to its peak.
function roofPoint(line) {
  const flops = largest(line.shares.filter((share) => share.of !== "bandwidth"));
  if (!flops || !(line.rates.bytes > 0)) return null;
  const perSecond = flops.value * line.device.peaks[`${flops.of}_flops`];
  return { line, type: flops.of, x: perSecond / line.rates.bytes, y: perSecond };
}

function showRoofs() {
  const shown = lines.filter((line) => line.mode.mode === state.mode), all = [];
  byId("roof-figures").replaceChildren(...report.devices.map((device) => {
    const own = shown.filter((line) => line.device === device);
    const figure = element("figure", "", element("h3", "", `${device.name} (${device.id})`));
    if (!device.peaks) return figure.append(element("p", "soft", "The peaks of this device were not measured.")), figure;
    const points = own.map(roofPoint).filter(Boolean), bars = own.filter((line) => line.share && !roofPoint(line));
    all.push(...points);
    if (points.length) figure.append(roofline(device, points));
    if (bars.length) figure.append(shareBars(bars));
    const none = own.length ? "No row here declares bytes or operations." : `Nothing was measured here in the mode ${state.mode}.`;
    if (!points.length && !bars.length) figure.append(element("p", "soft", none));
    return figure;
  }));
  byId("roofs-data").hidden = !all.length;
  const head = ["row", "provider", "device", "type", "FLOP/byte", "FLOP/s", "of bandwidth", "of FLOP/s"];
  dataTable(byId("roofs-data"), () => table(null, head, all.map(({ line, type, x, y }) => {
    const share = (of) => percent((line.shares.find((share) => share.of === of) || {}).value);
    return [rowLink(line.name), providerLabel(line.colour), line.provider.device, type, digits(x, 3), rate(y), share("bandwidth"), share(type)];
  }), [4, 5, 6, 7]));
}

function roofline(device, points) {
  const { bytes: slope, f32_flops: f32, f64_flops: f64 } = device.peaks, top = Math.max(f32, f64);
  const xs = [...points.map((point) => point.x), f64 / slope / 2, (top / slope) * 4];
  const x = axis(xs, { title: "operations per byte", log: true, unit: "FLOP/B" });
  const y = axis([...points.map((point) => point.y), top * 1.5], { title: "operations per second", log: true, unit: "FLOP/s" });
  const [f32Text, f64Text, slopeText] = [rate(f32, "FLOP/s"), rate(f64, "FLOP/s"), rate(slope, "B/s")];
  const label = `Roofline of ${device.name}: ${points.length} points under ${slopeText}, ${f32Text} for f32 and ${f64Text} for f64`;
  const at = frame({ picture: "roofline", label, width: Math.min(1100, widthOf(1)), height: 360, x, y, right: 112 });
  at.svg.dataset.device = device.id;
  const from = Math.max(x.low, y.low / slope), [x1, y1] = [at.x(from), at.y(from * slope)], [x2, y2] = [at.x(top / slope), at.y(top)];
  stroke(at.svg, "roof", `M${x1},${y1}L${x2},${y2}`);
  const turned = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI, [mx, my] = [x1 + (x2 - x1) * 0.5, y1 + (y2 - y1) * 0.5];
  const turn = `rotate(${turned.toFixed(1)} ${mx} ${my})`;
  at.svg.append(words(mx, my - 6, slopeText, { class: "over", "text-anchor": "middle", transform: turn }));
  const roofs = [["f32", f32, "roof"], ["f64", f64, "roof dashed"]].map(([type, value, className]) => {
    at.svg.append(drawn("path", { class: className, d: `M${at.x(value / slope)},${at.y(value)}H${at.right}` }));
    return { text: `${type}: ${rate(value, "FLOP/s")}`, wanted: at.y(value) };
  });
  for (const { text, place } of apart(roofs, 13, at.top, at.bottom)) at.svg.append(words(at.right + 4, place + 4, text));
  // The selected ones last, so that they are above the others.
  const ordered = points.toSorted((a, b) => (a.line.index === state.row) - (b.line.index === state.row)), labels = [];
  for (const { line, type, x, y } of ordered) {
    const [px, py] = [at.x(x), at.y(y)], isOwn = line.index === state.row;
    if (isOwn) at.svg.append(drawn("path", { class: "ring", d: SHAPES[0](px, py, 8) })), labels.push({ line, px, wanted: py });
    const made = mark(line.colour, px, py, isOwn ? 5 : 4, type === "f64" ? "hollow" : "");
    made.dataset.row = line.index;
    const shares = line.shares.map((share) => `${percent(share.value)} of ${share.of}`).join(", ");
    at.svg.append(hover(made, `${line.name}: ${line.provider.name}, ${rate(y, "FLOP/s")}, ${digits(x, 3)} FLOP/B, ${shares}`));
  }
  for (const { line, px, place } of apart(labels, 13, at.top + 8, at.bottom - 4)) {
    const isLeft = px + 13 + textWidth(line.provider.name) > at.right && px - at.left > at.right - px;
    const text = fit(line.provider.name, Math.min((isLeft ? px - at.left : at.right - px) - 16, 180));
    at.svg.append(words(px + (isLeft ? -13 : 13), place + 4, text, { class: "over", "text-anchor": isLeft ? "end" : "start" }));
  }
  const hollow = points.some((point) => point.type === "f64") ? "Hollow marks are f64. " : "";
  const caption = element("figcaption", "soft", hollow, "Ringed: the selected row.");
  return element("div", "", at.svg, caption);
}

function shareBars(bars) {
  const title = "Share of the measured peak, of rows without both bytes and operations";
  const made = table(title, ["row", "provider", "of", "share", ""], bars.map((line) => {
    const bar = element("div", `bar ${colourClass(line.colour)}`, element("i"));
    bar.firstChild.style.width = `${Math.min(100, line.share.value * 100).toFixed(1)}%`;
    return [rowLink(line.name), providerLabel(line.colour), line.share.of, percent(line.share.value), bar];
  }), [3]);
  bars.forEach((line, at) => {
    const tr = made.tBodies[0].rows[at];
    tr.dataset.row = line.index;
    if (line.index === state.row) tr.className = "lit";
  });
  const host = element("div", "wide bars", made);
  host.tabIndex = 0;
  host.dataset.picture = "shares";
  return host;
}

// Positions of labels that do not touch, as near as can be to where they are wanted.
function apart(labels, gap, low, high) {
  const sorted = labels.toSorted((a, b) => a.wanted - b.wanted);
  sorted.forEach((label, at) => { label.place = Math.max(label.wanted, low, at ? sorted[at - 1].place + gap : low); });
  for (let at = sorted.length - 1, most = high; at >= 0; at -= 1) {
    sorted[at].place = Math.min(sorted[at].place, most);
    most = sorted[at].place - gap;
  }
  return sorted;
}

