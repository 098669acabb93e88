// ---- History

// Times of a row, provider and mode over the runs, on the same hardware.
function pastOf(line) {
  const hardware = line.device ? line.device.name : "";
  return runs.flatMap((run, index) => {
    const found = run.times.find((past) => past.row === line.name && past.provider === line.provider.name
      && past.mode === line.mode.mode && past.device === hardware);
    return found && known(found.time_ns.middle) ? [{ index, run, time: found.time_ns }] : [];
  });
}

function showRuns() {
  const host = byId("run-lanes");
  const lanes = linesOf(state.row).map((line) => ({ line, past: pastOf(line) })).filter((lane) => lane.past.length);
  const used = unique(lanes.flatMap((lane) => lane.past.map((point) => point.index))).sort((a, b) => a - b);
  byId("runs-data").hidden = used.length < 2;
  const none = runs.length < 2 ? "There are no earlier runs." : "Earlier runs did not measure this row in this mode on this device.";
  if (used.length < 2) return void host.replaceChildren(element("p", "soft", none));
  const spread = (lane) => lane.past.flatMap(({ time }) => [time.low, time.middle, time.high]);
  const common = sameScale(lanes.map((lane) => lane.past[lane.past.length - 1].time.middle)) ? lanes.flatMap(spread) : null;
  const place = (index) => used.indexOf(index);
  const day = (run) => run.started.slice(0, 10);
  const marks = used.map((index, at) => ({ value: at, text: [day(runs[index]), short(runs[index].commit)] }));
  const x = { low: -0.4, high: used.length - 0.6, log: false, title: "", marks };
  host.replaceChildren(element("div", "pair", ...lanes.map(({ line, past }) => {
    const y = axis(common || spread({ past }), { title: "time", units: TIME }), colour = colourClass(line.colour);
    const [first, last] = [past[0], past[past.length - 1]].map((point) => time(point.time.middle));
    const label = `Median times of ${line.provider.name} over ${past.length} runs, from ${first} to ${last}`;
    const at = frame({ picture: "history", label, width: widthOf(2), height: 170, x, y, bottom: 42, left: 62, right: 36 });
    const base = used.findIndex((index) => report.baseline && runs[index].started === report.baseline.started);
    if (base >= 0) {
      stroke(at.svg, "roof dashed", `M${at.x(base)},${at.top}V${at.bottom}`);
      at.svg.append(words(at.x(base) + 4, at.top + 10, "baseline", { class: "over" }));
    }
    const points = past.map((point) => `${at.x(place(point.index))},${at.y(point.time.middle)}`);
    stroke(at.svg, `curve own ${colour}`, `M${points.join("L")}`);
    for (const { index, run, time: { low, middle, high } } of past) {
      const centre = at.x(place(index));
      if (known(low) && known(high)) stroke(at.svg, `error ${colour}`, errorBar(centre, at.y(low), at.y(high)));
      const text = `${stamp(run.started)}, ${short(run.commit)}: ${time(middle)} ${interval({ low, high }, time)}`;
      at.svg.append(hover(mark(line.colour, centre, at.y(middle), 4), text));
    }
    const where = ` ${past.length} runs on ${line.device ? line.device.name : "an unknown device"}`;
    return element("figure", "", element("figcaption", "", providerLabel(line.colour), soft(where)), at.svg);
  })));
  const head = ["run", "commit", ...lanes.map((lane) => lane.line.provider.name)];
  const cell = (lane, index) => {
    const point = lane.past.find((point) => point.index === index);
    return point ? `${time(point.time.middle)} ${interval(point.time, time)}` : null;
  };
  const row = (index) => [stamp(runs[index].started), runs[index].commit, ...lanes.map((lane) => cell(lane, index))];
  dataTable(byId("runs-data"), () => table(null, head, used.map(row), lanes.map((_, at) => at + 2)));
}

