// ---- Axes of pictures

// A range for values, with room around them. `units` are sizes and names of units, which go before `unit`.
function axis(values, { title, log = false, zero = false, units = SI, unit = "", pad = 0.06 }) {
  let [low, high] = extent(values) || [0, 1];
  if (log) [low, high] = [low / 1.25, high * 1.25];
  else {
    const room = (high - low) * pad || Math.abs(high) * 0.02 || 1;
    [low, high] = [zero && low >= 0 ? 0 : low - room, high + room];
  }
  const [size, name] = unitOf(units, high);
  const shown = log ? unit : name + unit;
  const format = (value, step) => {
    if (!log) return minus((value / size).toFixed(Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9))));
    const [own, ownName] = unitOf(units, value);
    return minus(`${Number((value / own).toPrecision(3))} ${ownName}`.trim());
  };
  return { low, high, log, format, title: shown ? `${title} (${shown})` : title };
}

function ticks({ low, high, log }, most) {
  const decades = Math.log10(high / low);
  if (log && decades >= 0.9) {
    const first = Math.floor(Math.log10(low)), count = Math.ceil(decades) + 1;
    const factors = count * 3 <= most ? [1, 2, 5] : count * 2 <= most ? [1, 3] : [1], skip = Math.ceil(count / most);
    const all = Array.from({ length: count + 1 }, (_, at) => first + at).filter((power) => power % skip === 0);
    const values = all.flatMap((power) => factors.map((factor) => factor * 10 ** power));
    return values.filter((value) => value >= low && value <= high).map((value) => ({ value, step: value }));
  }
  const rough = (high - low) / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) * power;
  const from = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - from + 1) }, (_, at) => ({ value: (from + at) * step, step }));
}

function position({ low, high, log }, from, to) {
  const pick = log ? Math.log10 : (value) => value;
  const zero = pick(low), size = pick(high) - zero;
  return (value) => Math.round((from + ((pick(value) - zero) / size) * (to - from)) * 100) / 100;
}

// A picture with axes. Without `y`, the vertical has no axis.
function frame({ picture, label, width, height, x, y, left = 58, right = 14, top = 20, bottom = 34 }) {
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, "data-picture": picture });
  const at = { svg, left, right: width - right, top, bottom: height - bottom };
  at.x = position(x, at.left, at.right);
  if (y) {
    at.y = position(y, at.bottom, at.top);
    for (const { value, step } of ticks(y, Math.max(2, (at.bottom - at.top) / 26))) {
      stroke(svg, "grid", `M${at.left},${at.y(value)}H${at.right}`);
      svg.append(words(at.left - 5, at.y(value) + 4, y.format(value, step), { "text-anchor": "end" }));
    }
    svg.append(words(4, 11, fit(y.title, width - 8), { class: "soft" }));
  }
  const withText = ({ value, step }) => ({ value, text: [x.format(value, step)] });
  const marks = x.marks || ticks(x, Math.max(2, (at.right - at.left) / 70)).map(withText);
  // Labels that would touch the one after them are left out, from the last on, which is the newest of runs.
  let free = Infinity;
  for (const { value, text } of marks.toReversed()) {
    const middle = at.x(value), half = Math.max(...text.map(textWidth)) / 2;
    stroke(svg, "grid", `M${middle},${at.top}V${at.bottom + 3}`);
    if (middle + half + 6 > free) continue;
    free = middle - half;
    const centre = Math.min(middle, width - half);
    text.forEach((line, row) => svg.append(words(centre, at.bottom + 14 + 12 * row, line, { "text-anchor": "middle" })));
  }
  stroke(svg, "grid", `M${at.left},${at.top}V${at.bottom}H${at.right}`);
  svg.append(words(at.right, height - 3, fit(x.title, at.right - 8), { class: "soft", "text-anchor": "end" }));
  return at;
}

const errorBar = (x, low, high) => `M${x},${low}V${high}M${x - 3},${low}h6M${x - 3},${high}h6`;
// The width of pictures, in one or two columns. Asked for once: each question would lay out the page anew.
let room = 0;
const measureRoom = () => { room = byId("lanes").clientWidth || 700; };
const widthOf = (columns) => Math.max(260, columns === 2 && room >= 884 ? Math.floor((room - 24) / 2) : room);

