// ---- The selected row

function showRow() {
  const own = linesOf(state.row), host = byId("row-facts");
  const { elements, bytes, f32_flops, f64_flops } = report.rows[state.row].work;
  const kinds = Object.entries({ elements, bytes, "f32 operations": f32_flops, "f64 operations": f64_flops });
  const declared = kinds.filter(([, count]) => known(count)).map(([name, count]) => `${count.toLocaleString("en")} ${name}`);
  const handled = declared.length ? `: each launch handles ${declared.join(", ")}` : ": no work is declared, so there is no throughput";
  host.replaceChildren(element("p", "", element("b", "", names[state.row]), handled));
  const unreplayed = state.mode === "replay" ? report.rows[state.row].providers.filter((provider) => provider.not_replayed) : [];
  host.append(...unreplayed.map((provider) => element("p", "soft", `${provider.name}: ${provider.not_replayed}`)));
  if (!own.length) return void host.append(element("p", "bad", `Not measured in the mode ${state.mode}.`));
  const checked = ({ checked }) => {
    if (checked === "is-reference") return "is the reference";
    if (checked.values) return `equals given values up to ${digits(checked.values.difference, 3)}`;
    if (checked.provider) return `equals ${checked.provider.name} up to ${digits(checked.provider.difference, 3)}`;
    return `not checked: ${checked.unchecked.reason}`;
  };
  const mhz = (line) => (line.mode.sm_mhz === null ? null : `${line.mode.sm_mhz} MHz`);
  const head = ["provider", "result", "time", "samples", "launches per sample", "clock", "of peak", "notes"];
  const times = table(null, head, own.map((line) => [
    providerLabel(line.colour), checked(line.provider), `${time(line.mode.time_ns.middle)} ${interval(line.mode.time_ns, time)}`,
    line.mode.samples_ns.length, line.mode.launches_per_sample, mhz(line),
    line.shares.map((share) => `${percent(share.value)} ${share.of}`).join("\n") || null, line.notes.join("; ") || "",
  ]), [2, 3, 4, 5, 6]);
  const kernels = own.flatMap((line) => line.provider.kernels.map((kernel) => {
    const has = kernel.resources || {}, number = (value) => (known(value) ? value : null);
    return [
      providerLabel(line.colour), kernel.name, kernel.launches, dimensions(kernel.grid_dim), dimensions(kernel.block_dim),
      number(has.registers), number(has.local_bytes), number(has.shared_bytes), kernel.dynamic_shared_bytes,
      number(has.blocks_per_multiprocessor), known(has.occupancy) ? percent(has.occupancy) : null,
    ];
  }));
  host.append(element("div", "wide", times));
  const facts = [
    "provider", "kernel", "launches", "grid", "block", "registers", "local B", "shared B", "added shared B",
    "blocks per multi\u00adprocessor", "occupancy",
  ];
  if (kernels.length) host.append(element("div", "wide", table(null, facts, kernels, [2, 3, 4, 5, 6, 7, 8, 9, 10])));
}

