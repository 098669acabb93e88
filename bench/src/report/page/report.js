"use strict";
// ---- The report, as a line for each row, provider and mode

const { report, history: runs } = JSON.parse(document.getElementById("data").textContent);
const unique = (values) => [...new Set(values)];
const known = (value) => typeof value === "number" && Number.isFinite(value);
const devices = new Map(report.devices.map((device) => [device.id, device]));
const MODES = unique(report.rows.flatMap((row) => row.providers.flatMap((provider) => provider.modes.map((mode) => mode.mode))));
const PROVIDERS = unique(report.rows.flatMap((row) => row.providers.map((provider) => provider.name)));
const COLOURS = 7;

const axesOf = (row) => row.axes.map((axis) => `${axis.name}=${axis.value}`).join(" ");
// As `row_name` of the program writes it, because history and limits name rows by it.
const nameOf = (row) => `${row.benchmark}${row.axes.map((axis) => ` ${axis.name}=${axis.value}`).join("")} (${row.device})`;
const sum = (values) => { const all = values.filter(known); return all.length ? all.reduce((a, b) => a + b) : null; };
const largest = (shares) => shares.reduce((most, share) => (!most || share.value > most.value ? share : most), null);
const names = report.rows.map(nameOf);

function lineOf(row, index, provider, mode) {
  const device = devices.get(provider.device), peaks = device && device.peaks, ns = mode.time_ns.middle;
  const rate = (count) => (known(count) && ns > 0 ? (count / ns) * 1e9 : null);
  const work = { ...row.work, flops: sum([row.work.f32_flops, row.work.f64_flops]) };
  const rates = { elements: rate(work.elements), bytes: rate(work.bytes), flops: rate(work.flops) };
  const shares = !peaks ? [] : [
    { of: "bandwidth", value: rates.bytes / peaks.bytes },
    { of: "f32", value: rate(work.f32_flops) / peaks.f32_flops },
    { of: "f64", value: rate(work.f64_flops) / peaks.f64_flops },
  ].filter((share) => known(share.value) && share.value > 0);
  const share = largest(shares);
  const name = names[index];
  const limit = report.above_limits.find((at) => at.row === name && at.provider === provider.name && at.mode === mode.mode);
  const notes = [
    !mode.converged && "did not converge", mode.throttled.length > 0 && `throttled: ${mode.throttled.join(", ")}`,
    limit && (limit.reason === null ? "above its limit" : "above its limit, accepted"),
  ].filter(Boolean);
  const colour = PROVIDERS.indexOf(provider.name);
  const line = { index, row, name, provider, mode, device, work, rates, shares, share, limit, notes, colour };
  const kernels = provider.kernels.map((kernel) => kernel.name);
  const words = [name, provider.name, provider.device, mode.change && mode.change.verdict, ...notes, ...kernels];
  line.text = words.join(" ").toLowerCase();
  return line;
}

const lines = report.rows.flatMap((row, index) =>
  row.providers.flatMap((provider) => provider.modes.map((mode) => lineOf(row, index, provider, mode))));
const linesOf = (index) => lines.filter((line) => line.index === index && line.mode.mode === state.mode);

