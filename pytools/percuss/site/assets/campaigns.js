// Outputs of all campaigns, sorted by any column; runs of one of them as a scatter.
"use strict";
(async () => {
  const { load, make, number, chart } = percuss;
  const list = await load("list-campaigns", "data/campaigns.js");
  const place = document.getElementById("outputs"), which = document.getElementById("campaign"), xs = document.getElementById("x"), ys = document.getElementById("y"), out = document.getElementById("scatter");
  const heads = ["study", "campaign", "case", "output", "unit", "runs", "mean", "std", "5 %", "median", "95 %"];
  let rows = list.rows, by = null, down = false;
  const table = () => {
    const head = make("tr"), body = make("tbody");
    heads.forEach((name, i) => {
      const button = make("button", { type: "button" }); button.textContent = name;
      const th = make("th", { scope: "col", "aria-sort": by === i ? (down ? "descending" : "ascending") : "none" }, button);
      if (i > 4) th.className = "n";
      button.addEventListener("click", () => {
        down = by === i ? !down : false; by = i;
        rows = [...rows].sort((a, b) => (a[i] === b[i] ? 0 : a[i] === null ? 1 : b[i] === null ? -1 : a[i] < b[i] ? -1 : 1) * (down ? -1 : 1));
        table();
        place.querySelectorAll("th button")[i].focus();
      });
      head.append(th);
    });
    for (const row of rows.slice(0, 2000)) {
      const tr = make("tr");
      row.forEach((value, i) => {
        const td = make("td", i > 4 ? { class: "n" } : {});
        if (i === 1) { const link = make("a", { href: `events/${value}.html` }); link.textContent = value.slice(-6); td.append(link); }
        else td.textContent = typeof value === "number" ? number(value) : value ?? "";
        tr.append(td);
      });
      body.append(tr);
    }
    const words = make("caption"); words.textContent = `Outputs of ${list.campaigns.length} campaigns` + (rows.length > 2000 ? `; the first 2000 of ${rows.length} rows` : "");
    place.replaceChildren(make("table", {}, words, make("thead", {}, head), body));
  };
  const fill = (select, names, chosen) => { select.replaceChildren(...names.map(name => { const option = make("option", { value: name }); option.textContent = name; return option; })); if (names.includes(chosen)) select.value = chosen; };
  let data = null;
  const draw = () => {
    const x = data.columns[xs.value], y = data.columns[ys.value];
    const f = chart.frame(x, y, xs.value, ys.value, "", `${ys.value} over ${xs.value}, ${x.length} runs`);
    const cases = [...new Set(data.columns.case)];
    x.forEach((v, i) => {
      if (v === null || y[i] === null) return;
      const k = cases.indexOf(data.columns.case[i]), a = f.x(v), b = f.y(y[i]);
      f.svg.append(k % 2 ? percuss.make("rect", { class: "dot-b", x: a - 2, y: b - 2, width: 4, height: 4 }) : percuss.make("circle", { class: "dot-a", cx: a, cy: b, r: 2.3 }));
    });
    const key = make("figcaption"); key.textContent = cases.length > 1 ? cases.map((name, i) => `${i % 2 ? "squares" : "circles"}: ${name}`).join("; ") : `${x.length} runs`;
    f.figure.append(key);
    out.replaceChildren(f.figure);
    document.documentElement.dataset.ready = "1";
  };
  const pick = async () => {
    data = await load("campaign-" + which.value, `data/campaign-${which.value}.js`);
    const names = Object.keys(data.columns).filter(name => name !== "case");
    fill(xs, names, xs.value || names[0]); fill(ys, names, names.includes(ys.value) && ys.value !== xs.value ? ys.value : names[data.parameters.length] ?? names[0]);
    draw();
  };
  table();
  if (!list.campaigns.length) { document.documentElement.dataset.ready = "1"; return; }
  which.replaceChildren(...list.campaigns.map(item => { const option = make("option", { value: item.id }); option.textContent = `${item.study}: ${item.runs} runs (${item.id.slice(-6)})`; return option; }));
  which.addEventListener("change", pick); xs.addEventListener("change", draw); ys.addEventListener("change", draw);
  which.value = [...list.campaigns].sort((a, b) => b.runs - a.runs)[0].id;
  await pick();
})();
