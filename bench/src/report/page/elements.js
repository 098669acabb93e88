// ---- Elements

const byId = (id) => document.getElementById(id);
const NAMESPACE = byId("svg").namespaceURI;

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null));
  return made;
}

function drawn(tag, attributes, ...children) {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// What a text of a picture takes, and as much of it as fits.
const pen = document.createElement("canvas").getContext("2d");
pen.font = "11px system-ui, sans-serif";
const textWidth = (text) => pen.measureText(text).width;
function fit(text, width) {
  const all = [...text.replace(/\s+/g, " ")];
  if (textWidth(all.join("")) <= width) return all.join("");
  while (all.length && textWidth(`${all.join("")}…`) > width) all.pop();
  return `${all.join("")}…`;
}

const titled = (node, text) => { node.title = text; return node; };
const clipped = (text) => (text.length < 28 ? text : titled(element("span", "clip", text), text));
function stroke(svg, className, d) {
  const made = drawn("path", { class: className, d });
  svg.append(made);
  return made;
}
const words = (x, y, text, attributes = {}) => drawn("text", { x, y, ...attributes }, text);
const hover = (node, text) => { node.append(drawn("title", {}, text)); return node; };

const SHAPES = [
  (x, y, r) => `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`,
  (x, y, r) => `M${x - r * 0.9},${y - r * 0.9}h${r * 1.8}v${r * 1.8}h${-r * 1.8}z`,
  (x, y, r) => `M${x},${y - r * 1.2}l${r * 1.15},${r * 2}h${-r * 2.3}z`,
  (x, y, r) => `M${x},${y - r * 1.3}l${r * 1.2},${r * 1.3}l${-r * 1.2},${r * 1.3}l${-r * 1.2},${-r * 1.3}z`,
  (x, y, r) => `M${x},${y + r * 1.2}l${r * 1.15},${-r * 2}h${-r * 2.3}z`,
  (x, y, r) => {
    const a = r * 0.8;
    return `M${x - a / 2},${y - a * 1.5}h${a}v${a}h${a}v${a}h${-a}v${a}h${-a}v${-a}h${-a}v${-a}h${a}z`;
  },
];
const colourClass = (colour) => `c${colour % COLOURS}`;
const mark = (colour, x, y, size, className = "") =>
  drawn("path", { class: `mark ${colourClass(colour)} ${className}`, d: SHAPES[colour % SHAPES.length](x, y, size) });
const swatch = (colour) => drawn("svg", { class: "swatch", viewBox: "0 0 12 12", "aria-hidden": "true" }, mark(colour, 6, 6, 4.5));
const providerLabels = new Map();
function providerLabel(colour) {
  if (!providerLabels.has(colour)) providerLabels.set(colour, element("span", "provider", swatch(colour), clipped(PROVIDERS[colour])));
  return providerLabels.get(colour).cloneNode(true);
}

function table(caption, head, rows, numbers = []) {
  const made = element("table");
  if (caption) made.append(element("caption", "", caption));
  const cell = (tag, value, column) => {
    const made = element(tag, numbers.includes(column) ? "number lines" : "lines", value ?? NONE);
    if (made.textContent.length > 34) made.classList.add("long");
    return made;
  };
  const tr = element("tr", "", ...head.map((text, column) => cell("th", text, column)));
  for (const th of tr.children) th.scope = "col";
  const body = rows.map((row) => element("tr", "", ...row.map((value, column) => cell("td", value, column))));
  made.append(element("thead", "", tr), element("tbody", "", ...body));
  return made;
}

// Tables of the data of pictures are made once they are looked at, because they are long.
function dataTable(details, make) {
  details.fill = () => {
    for (const old of details.querySelectorAll(".wide")) old.remove();
    const made = element("div", "wide", make());
    made.tabIndex = 0;
    details.append(made);
  };
  if (details.open) details.fill();
}

