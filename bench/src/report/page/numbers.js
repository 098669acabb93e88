// ---- Numbers

const TIME = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
const SI = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"], [1e15, "P"]];
const BINARY = [[1, "B"], [1024, "KiB"], [1024 ** 2, "MiB"], [1024 ** 3, "GiB"]];
const RATES = {
  bytes: { name: "bytes", unit: "B/s" },
  flops: { name: "floating-point operations", unit: "FLOP/s" },
  elements: { name: "elements", unit: "elements/s" },
};
const NONE = "–";
const unitOf = (units, value) => units.findLast(([size]) => Math.abs(value) >= size) || units[0];
const minus = (text) => text.replace("-", "−");

function digits(value, count = 4, most = 9) {
  if (!known(value)) return NONE;
  const decimals = value === 0 ? 0 : count - 1 - Math.floor(Math.log10(Math.abs(value)));
  return minus(value.toFixed(Math.min(Math.max(decimals, 0), most)));
}

function withUnit(units, value, count, unit = "") {
  if (!known(value)) return NONE;
  const [size, name] = unitOf(units, value);
  return `${digits(value / size, count)} ${name}${unit}`.trim();
}

const time = (ns) => withUnit(TIME, ns, 4);
const rate = (value, unit) => withUnit(SI, value, 3, unit);
const bytes = (count) => withUnit(BINARY, count, 3);
const percent = (share, count = 3) => (known(share) ? `${digits(share * 100, count, 3)} %` : NONE);
const signed = (share) => (known(share) ? minus(`${share > 0 ? "+" : ""}${(share * 100).toFixed(1)}`) : NONE);
const stamp = (text) => text.replace("T", " ").replace(/\.\d+/, "").replace(/Z$/, " UTC");
const short = (commit) => (commit === null ? "no commit" : commit.replace(/^([^-]{8})[^-]*/, "$1"));
// Powers of two are what people choose for sizes.
function axisValue(text) {
  const value = numberOf(text), power = Math.log2(value);
  const superscript = (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit];
  if (value >= 1024 && Number.isInteger(power)) return "2" + [...String(power)].map(superscript).join("");
  return value >= 1e5 ? withUnit(SI, value, 3).replace(" ", "") : text;
}
const numberOf = (text) => (/^[+-]?\d[\d_]*(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text.replaceAll("_", "")) : NaN);

function quantile(sorted, share) {
  const at = share * (sorted.length - 1), below = Math.floor(at);
  return sorted[below] + (at - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (known(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  return low <= high ? [low, high] : null;
}

