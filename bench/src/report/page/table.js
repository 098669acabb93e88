// ---- Table of rows

const MORE = { faster: "▼", slower: "▲", same: "=", unclear: "?" };
// A fact of each kernel of a launch; of many kernels, the smallest and the largest.
function ofKernels(line, pick, format = String) {
  const values = line.provider.kernels.map(pick).filter(known), [low, high] = extent(values) || [];
  if (values.length <= 3) return values.map((value) => format(value)).join("\n") || NONE;
  return low === high ? format(low) : `${format(low)} – ${format(high)}`;
}
const most = (line, pick) => { const all = extent(line.provider.kernels.map(pick)); return all && all[1]; };
const resource = (name) => (kernel) => kernel.resources && kernel.resources[name];
const shared = (kernel) => kernel.resources && kernel.resources.shared_bytes + kernel.dynamic_shared_bytes;
const dimensions = (dim) => dim.slice(0, dim[2] > 1 ? 3 : dim[1] > 1 ? 2 : 1).join("×");
const soft = (text) => element("span", "soft", text);
const giga = (value) => digits(value === null ? null : value / 1e9, 4);
const interval = ({ low, high }, format) => `[${format(low)}, ${format(high)}]`;

function changeCell({ mode: { change } }) {
  if (!change) return NONE;
  const text = `${MORE[change.verdict]} ${signed(change.value.middle)} % ${change.verdict} `;
  return element("span", change.verdict, text, soft(interval(change.value, signed)));
}

function ratioCell({ mode: { ratio } }) {
  if (!ratio) return NONE;
  const range = interval(ratio.value, (value) => digits(value, 3));
  return element("span", "", `${digits(ratio.value.middle, 3)} `, soft(`${range} of `), clipped(ratio.to));
}

function gridCell(line) {
  const all = line.provider.kernels.map(({ launches, grid_dim, block_dim }) =>
    `${launches > 1 ? `${launches} × ` : ""}${dimensions(grid_dim)} / ${dimensions(block_dim)}`);
  return all.length > 3 ? `${all.length} kernels` : all.join("\n") || NONE;
}

const ofResource = (key, title, hint, pick, format) =>
  ({ key, title, hint, number: true, value: (line) => most(line, pick), cell: (line) => ofKernels(line, pick, format) });

// `value` is what is sorted by, `cell` what is shown.
const COLUMNS = [
  { key: "row", title: "axes", value: (line) => axesOf(line.row) },
  { key: "provider", title: "provider", value: (line) => line.provider.name, cell: (line) => providerLabel(line.colour) },
  {
    key: "device", title: "device", value: (line) => line.provider.device,
    cell: (line) => titled(element("span", "", line.provider.device), line.device ? line.device.name : ""),
  },
  {
    key: "time", title: "time", hint: "median time of the device per launch, with half the width of its confidence interval",
    number: true, value: (line) => line.mode.time_ns.middle,
    cell: ({ mode }) => element("span", "", `${time(mode.time_ns.middle)} `, soft(`± ${percent(mode.noise, 2)}`)),
  },
  {
    key: "change", title: "change", hint: "change of the time since the baseline, with its confidence interval",
    number: true, value: ({ mode: { change } }) => change && change.value.middle, cell: changeCell,
  },
  {
    key: "ratio", title: "ratio", hint: "time as a ratio to another provider’s, with its confidence interval",
    number: true, value: ({ mode: { ratio } }) => ratio && ratio.value.middle, cell: ratioCell,
  },
  {
    key: "host", title: "host", hint: "median time of the host until the call that launches returns",
    number: true, value: (line) => line.mode.host_ns, cell: (line) => time(line.mode.host_ns),
  },
  { key: "elements", title: "elements/s", number: true, value: (line) => line.rates.elements, cell: (line) => rate(line.rates.elements) },
  { key: "bytes", title: "GB/s", number: true, value: (line) => line.rates.bytes, cell: (line) => giga(line.rates.bytes) },
  { key: "flops", title: "GFLOP/s", number: true, value: (line) => line.rates.flops, cell: (line) => giga(line.rates.flops) },
  {
    key: "peak", title: "of peak", hint: "share of the measured peak of what limits it",
    number: true, value: ({ share }) => share && share.value,
    cell: ({ share }) => (share ? element("span", "", `${percent(share.value)} `, soft(share.of)) : NONE),
  },
  ofResource("registers", "regis\u00adters", "registers per thread", resource("registers")),
  ofResource("local", "local B", "local memory per thread", resource("local_bytes")),
  ofResource("shared", "shared B", "shared memory per block, with what the launch adds", shared),
  ofResource("occupancy", "occu\u00adpancy", "resident warps of those that a multiprocessor has room for", resource("occupancy"), percent),
  {
    key: "grid", title: "grid / block", hint: "launches × blocks / threads",
    number: true, value: (line) => most(line, (kernel) => kernel.grid_dim.reduce((a, b) => a * b)), cell: gridCell,
  },
  {
    key: "notes", title: "notes", value: (line) => line.notes.join("; "),
    cell: (line) => element("span", "bad", clipped(line.notes.join("; "))),
  },
];

const hasValue = (value) => known(value) || (typeof value === "string" && value !== "");
// What no line has, such as a change without a baseline, has no column.
const columns = COLUMNS.filter((column) => ["row", "time"].includes(column.key) || lines.some((line) => hasValue(column.value(line))));

function showTableHead() {
  const tr = element("tr", "");
  for (const column of columns) {
    const button = titled(element("button", "", column.title), column.hint || "");
    button.addEventListener("click", () => {
      state.sort = { [column.key]: `-${column.key}`, [`-${column.key}`]: "" }[state.sort] ?? column.key;
      sortTable();
      writeHash();
    });
    column.th = Object.assign(element("th", column.number ? "number" : "", button, element("span", "arrow")), { scope: "col" });
    tr.append(column.th);
  }
  byId("table").append(element("thead", "", tr));
}

let groups = [];
function showTable() {
  for (const group of groups) group.body.remove();
  const shown = lines.filter((line) => line.mode.mode === state.mode);
  groups = unique(shown.map((line) => line.row.benchmark)).map((benchmark) => {
    const head = Object.assign(element("th", "", element("span", "", benchmark)), { colSpan: columns.length, scope: "rowgroup" });
    const own = shown.filter((line) => line.row.benchmark === benchmark);
    const made = { own, head: element("tr", "group", head) };
    made.body = element("tbody", "", made.head);
    for (const line of own) {
      line.tr = element("tr", "line");
      line.tr.dataset.row = line.index;
      line.tr.dataset.provider = line.provider.name;
      for (const { key, number, value, cell } of columns) {
        if (key === "row") {
          const button = element("button", "plain", value(line) || benchmark);
          button.tabIndex = -1;
          line.tr.append(Object.assign(element("th", "", button), { scope: "row" }));
        } else line.tr.append(element("td", number ? "number lines" : "lines", cell ? cell(line) : value(line)));
      }
    }
    return made;
  });
  byId("table").append(...groups.map((group) => group.body));
  sortTable();
}

const collator = new Intl.Collator("en", { numeric: true });
function sortTable() {
  const key = state.sort.replace("-", ""), sign = state.sort.startsWith("-") ? -1 : 1;
  const column = columns.find((column) => column.key === key);
  for (const { key, th } of columns) {
    const way = state.sort === key ? "ascending" : state.sort === `-${key}` ? "descending" : "none";
    th.setAttribute("aria-sort", way);
    th.lastChild.textContent = { ascending: " ↑", descending: " ↓", none: "" }[way];
  }
  // What has no value comes last either way.
  const compare = (a, b) => {
    const [x, y] = [column.value(a), column.value(b)], missing = hasValue(y) - hasValue(x);
    return missing || (typeof x === "string" ? sign * collator.compare(x, y) : known(x) ? sign * (x - y) : 0);
  };
  for (const group of groups) group.sorted = column ? group.own.toSorted(compare) : group.own;
  const ordered = column ? groups.toSorted((a, b) => compare(a.sorted[0], b.sorted[0])) : groups;
  byId("table").append(...ordered.map((group) => { group.body.append(...group.sorted.map((line) => line.tr)); return group.body; }));
  filterTable();
}

function filterTable() {
  const wanted = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0, all = 0;
  for (const group of groups) {
    let before = null, some = false;
    for (const line of group.sorted) {
      const fits = wanted.every((word) => line.text.includes(word));
      line.tr.hidden = !fits;
      all += 1;
      if (!fits) continue;
      shown += 1;
      some = true;
      line.tr.classList.toggle("again", before === line.index);
      before = line.index;
    }
    group.head.hidden = !some;
  }
  byId("shown").textContent = shown === all ? `${all}` : `${shown} of ${all}: filtered by “${state.filter}”`;
  lightTable();
}

// Scrolls the table, and not the page, to the selected row.
function showLine() {
  const tr = document.querySelector("#table tr[aria-current]:not([hidden])"), host = byId("table").parentElement;
  if (!tr) return;
  const [own, all, head] = [tr, host, byId("table").tHead].map((node) => node.getBoundingClientRect());
  if (own.top < all.top + head.height || own.bottom > all.bottom) host.scrollTop += own.top - all.top - all.height / 3;
}

function lightTable() {
  let first = true;
  for (const tr of document.querySelectorAll("#table tr.line")) {
    const lit = Number(tr.dataset.row) === state.row;
    if (lit) tr.setAttribute("aria-current", "true"); else tr.removeAttribute("aria-current");
    const button = tr.querySelector("button");
    // One stop for the tabulator; arrows go on from there.
    button.tabIndex = lit && first && !tr.hidden ? 0 : -1;
    if (button.tabIndex === 0) first = false;
  }
  // After the layout that is due anyway.
  requestAnimationFrame(showLine);
  if (first) { const button = document.querySelector("#table tr.line:not([hidden]) button"); if (button) button.tabIndex = 0; }
}

