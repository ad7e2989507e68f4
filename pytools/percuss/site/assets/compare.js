// Two runs, posteriors or surrogates side by side.
"use strict";
(async () => {
  const { load, make, number, chart } = percuss;
  const list = await load("list-comparable", "data/comparable.js");
  const first = document.getElementById("first"), second = document.getElementById("second"), out = document.getElementById("compared");
  const query = new URLSearchParams(location.search);
  const label = item => `${item.form}: ${item.words} (${item.study}, ${item.id.slice(-6)})`;
  const fill = (select, items) => {
    const before = select.value;
    select.replaceChildren(...items.map(item => { const option = make("option", { value: item.id }); option.textContent = label(item); return option; }));
    if (items.some(item => item.id === before)) select.value = before;
  };
  const find = id => list.items.find(item => item.id === id);
  const form = id => find(id)?.form;
  // What an item is best held against: of its study, else of its form.
  const beside = item => {
    const others = list.items.filter(other => other.form === item.form && other.id !== item.id);
    return others.find(other => other.study === item.study) || others[0];
  };
  const heading = text => { const h = make("h2"); h.textContent = text; return h; };
  const table = (caption, heads, rows) => {
    const head = make("tr"), body = make("tbody");
    const numeric = heads.map((_, i) => i > 0 && rows.some(row => typeof row[i] === "number") && rows.every(row => typeof row[i] !== "string"));
    const sided = i => numeric[i] ? { class: "n" } : {};
    heads.forEach((text, i) => { const th = make("th", { scope: "col", ...sided(i) }); th.textContent = text; head.append(th); });
    for (const row of rows) {
      const tr = make("tr");
      row.forEach((value, i) => { const td = make("td", sided(i)); td.textContent = typeof value === "number" ? number(value) : value ?? ""; tr.append(td); });
      body.append(tr);
    }
    const words = make("caption"); words.textContent = caption;
    return make("div", { class: "table", tabindex: "0", role: "region", "aria-label": caption }, make("table", {}, words, make("thead", {}, head), body));
  };
  const both = (a, b, of, name) => {
    const names = [...new Set([...of(a).map(name), ...of(b).map(name)])];
    return names.map(key => [key, of(a).find(item => name(item) === key), of(b).find(item => name(item) === key)]);
  };
  const curves = (a, b) => {
    const charts = both(a, b, d => d.curves, c => c.label).map(([name, one, two]) => {
      const some = [one, two].filter(Boolean);
      const f = chart.frame(some.flatMap(c => c.x), some.flatMap(c => c.bands.flat()), some[0].x_label, some[0].y_label, name, `${name} in both`);
      [[one, "a"], [two, "b"]].forEach(([c, side]) => {
        if (!c) return;
        const [low, middle, high] = c.bands;
        const back = [...c.x].reverse(), ends = [...low].reverse();
        f.svg.append(percuss.make("path", { class: "fill-" + side, d: chart.path(c.x.concat(back), high.concat(ends), f.x, f.y) + "Z" }));
        f.svg.append(percuss.make("path", { class: "line " + side, d: chart.path(c.x, middle, f.x, f.y) }));
      });
      return f.figure;
    });
    return charts.length ? [heading("Curves"), make("div", { class: "pair" }, ...charts)] : [];
  };
  const runs = (a, b) => [
    heading("Outputs"),
    table("Median and 5 to 95 % of the runs", ["output", "unit", "first", "5 %", "95 %", "second", "5 %", "95 %"],
      both(a, b, d => d.outputs, o => o[0]).map(([name, one, two]) => [name, (one || two)[1], one?.[3], one?.[2], one?.[4], two?.[3], two?.[2], two?.[4]])),
    ...curves(a, b),
  ];
  const posteriors = (a, b) => {
    const rows = both(a, b, d => d.unknowns, u => u.label);
    const charts = rows.map(([name, one, two]) => {
      const some = [one, two].filter(Boolean);
      const f = chart.frame(some.flatMap(u => u.edges), [0, ...some.flatMap(u => u.density)], name, "density", "", `density of ${name} in both`);
      [[one, "a"], [two, "b"]].forEach(([u, side]) => {
        if (!u) return;
        const xs = [], ys = [];
        u.density.forEach((v, i) => { xs.push(u.edges[i], u.edges[i + 1]); ys.push(v, v); });
        f.svg.append(percuss.make("path", { class: "fill-" + side, d: chart.path([xs[0], ...xs, xs[xs.length - 1]], [0, ...ys, 0], f.x, f.y) + "Z" }));
        f.svg.append(percuss.make("path", { class: "line " + side, d: chart.path(xs, ys, f.x, f.y) }));
      });
      return f.figure;
    });
    const told = u => u?.estimate ? [u.estimate[0], u.estimate[1]] : [null, null];
    return [
      ...[a, b].filter(d => !d.converged).map(d => { const p = make("p", { class: "notice warning" }); p.textContent = `UNCONVERGED: ${d.block}; its draws do not represent the posterior.`; return p; }),
      heading("Unknowns"),
      table("Mean and standard deviation", ["unknown", "first", "std", "second", "std"], rows.map(([name, one, two]) => [name, ...told(one), ...told(two)])),
      make("div", { class: "pair" }, ...charts),
    ];
  };
  const surrogates = (a, b) => [
    heading("Errors"),
    table("Error over the variance of the output", ["output", "first", "second"], both(a, b, d => d.errors, e => e[0]).map(([name, one, two]) => [name, one?.[1], two?.[1]])),
  ];
  const sides = (a, b) => {
    const key = make("p", { class: "key" });
    for (const [side, item] of [["a", a], ["b", b]]) {
      const span = make("span"), svg = percuss.make("svg", { viewBox: "0 0 40 10", class: "mark", "aria-hidden": "true" });
      const stroke = percuss.make("path", { d: "M0 5H40", class: "line " + side }); svg.append(stroke);
      const link = make("a", { href: `events/${item.id}.html` }); link.textContent = label(item);
      span.append(svg, (side === "a" ? "first (solid): " : "second (dashed): "), link); span.className = "chart"; key.append(span);
    }
    return key;
  };
  const offer = () => {
    fill(second, list.items.filter(item => item.form === form(first.value)));
    second.value = beside(find(first.value))?.id ?? first.value;
  };
  const show = async () => {
    const [a, b] = await Promise.all([first.value, second.value].map(id => load("compare-" + id, `data/compare-${id}.js`)));
    out.replaceChildren(sides(find(a.id), find(b.id)), ...({ runs, posterior: posteriors, surrogate: surrogates })[a.form](a, b));
    document.documentElement.dataset.ready = "1";
  };
  if (list.items.length < 2) { out.textContent = "There are no two runs, posteriors or surrogates to hold against each other."; document.documentElement.dataset.ready = "1"; return; }
  fill(first, list.items);
  // The newest that has another of its study beside it, posteriors before runs.
  const paired = list.items.filter(item => beside(item)?.study === item.study);
  first.value = query.get("first") || (paired.find(item => item.form === "posterior") || paired[0] || list.items[0]).id;
  offer();
  if (query.get("second")) second.value = query.get("second");
  first.addEventListener("change", () => { offer(); show(); }); second.addEventListener("change", show);
  await show();
})();
