// ---- Head

function note(text, ...more) { byId("facts").append(element("p", "", text, ...more)); }

function showDevice({ id, name, arch, multiprocessors, last_level_cache_bytes, driver, clocks, power_limit_w, peaks }) {
  const made = element("div", "facts", element("b", "", `${id}: ${name}`));
  made.dataset.device = id;
  const fact = (name, value) => made.append(element("span", "", soft(`${name} `), value));
  if (arch !== null) fact("architecture", arch);
  fact("multiprocessors", multiprocessors);
  fact("last-level cache", bytes(last_level_cache_bytes));
  if (driver !== null) fact("driver", driver);
  if (clocks) fact("clock", `${clocks.sm_mhz} MHz of at most ${clocks.max_sm_mhz}`), fact("memory clock", `${clocks.memory_mhz} MHz`);
  if (known(power_limit_w)) fact("power limit", `${digits(power_limit_w, 3)} W`);
  const flops = (value) => rate(value, "FLOP/s");
  if (peaks) fact("measured peaks", `${rate(peaks.bytes, "B/s")}, f32 ${flops(peaks.f32_flops)}, f64 ${flops(peaks.f64_flops)}`);
  else fact("measured peaks", "none");
  byId("devices").append(made);
}

function showHead() {
  document.title = `${report.target}: cargo gpukernel bench`;
  const commitOf = ({ commit }) => (commit === null ? "no commit" : `commit ${commit}`);
  byId("title").append(report.target, soft(` benchmarks, ${stamp(report.started)}, ${commitOf(report)}`));
  note(`Processor: ${report.processor}, ${report.processor_threads} ${report.processor_threads === 1 ? "thread" : "threads"}`);
  const base = report.baseline;
  const same = `changes up to ${percent(report.noise_threshold, 2)} count as the same`;
  if (base) note(`Compared with the baseline ${base.name} of ${stamp(base.started)}, ${commitOf(base)}; ${same}`);
  else note("Not compared with a baseline");
  for (const device of report.devices) showDevice(device);
  showCounts();
  showLists();
}

// How many lines there are of each kind; a click filters by it.
function showCounts() {
  const verdicts = report.baseline || lines.some((line) => line.mode.change) ? ["faster", "slower", "same", "unclear"] : [];
  const kinds = [...verdicts, "did not converge", "throttled", "above its limit"];
  const is = (line, kind) => (line.mode.change && line.mode.change.verdict === kind) || line.notes.some((note) => note.startsWith(kind));
  if (!lines.length) return;
  const made = table("Measured", ["mode", "times", ...kinds], MODES.map((mode) => {
    const own = lines.filter((line) => line.mode.mode === mode);
    return [mode, own.length, ...kinds.map((kind) => {
      const count = own.filter((line) => is(line, kind)).length;
      if (!count) return "0";
      const className = verdicts.includes(kind) ? kind : "bad";
      const button = titled(element("button", "plain link", element("span", className, count)), `show only these: ${kind}`);
      button.addEventListener("click", () => { Object.assign(state, { mode, filter: kind }); show(); });
      return button;
    })];
  }), [1, 2, 3, 4, 5, 6, 7, 8]);
  made.id = "counts";
  byId("counts").replaceWith(made);
}

function list(id, title, isOpen, items) {
  if (!items.length) return;
  const made = element("details", "", element("summary", isOpen ? "bad" : "", `${title}: ${items.length}`), element("ul", "", ...items));
  Object.assign(made, { id, open: isOpen });
  byId("lists").append(made);
}

// A name of a row that selects it.
function rowLink(name, mode) {
  const index = names.indexOf(name);
  if (index < 0) return element("b", "", name);
  const button = element("button", "plain link", name);
  button.addEventListener("click", () => { if (mode) state.mode = mode; state.row = index; show(); byId("row").scrollIntoView(); });
  return button;
}

function showLists() {
  const failed = ({ row, error }) => element("li", "", rowLink(row), ": ", element("span", "bad", error));
  list("failures", "Failures", true, report.failures.map(failed));
  const limits = (all) => all.map(({ row, provider, to, mode, ratio, limit, reason }) => {
    const what = `: ${provider} takes ${digits(ratio, 3)} of ${to}’s time (${mode}), allowed is ${digits(limit, 3)}`;
    return element("li", "", rowLink(row, mode), what, reason === null ? null : `; accepted: ${reason}`);
  });
  list("above-limits", "Above their limits", true, limits(report.above_limits.filter((at) => at.reason === null)));
  list("accepted", "Above their limits for a reason", false, limits(report.above_limits.filter((at) => at.reason !== null)));
  const of = (line, text) => element("li", "", rowLink(line.name, line.mode.mode), `: ${line.provider.name}, ${line.mode.mode}${text}`);
  const noisy = lines.filter((line) => !line.mode.converged);
  list("not-converged", "Did not converge", false, noisy.map((line) => of(line, `: ± ${percent(line.mode.noise, 2)}`)));
  const slowed = lines.filter((line) => line.mode.throttled.length);
  const clock = ({ sm_mhz }) => (sm_mhz === null ? "" : ` (${sm_mhz} MHz)`);
  list("throttled", "Throttled", false, slowed.map((line) => of(line, `: ${line.mode.throttled.join(", ")}${clock(line.mode)}`)));
  list("skipped", "Skipped", false, report.skipped.map((skipped) => element("li", "", rowLink(skipped.row), `: ${skipped.reason}`)));
}

