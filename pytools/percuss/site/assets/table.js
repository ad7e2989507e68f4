// The table of events: filtered, folded, and drawn only where it is looked at.
"use strict";
(async () => {
  const { load, make, time } = percuss;
  const view = document.getElementById("events"), count = document.getElementById("count");
  const search = document.getElementById("search"), kind = document.getElementById("kind");
  const study = document.getElementById("study"), bad = document.getElementById("bad"), gone = document.getElementById("gone");
  const spacer = make("div", {}), shown = new Map(), open = new Map();
  view.append(spacer);
  const MOST_PRINTED = 2000;
  let rows = [], visible = [], total = 0, printing = false;
  const height = () => window.matchMedia("(max-width: 52rem)").matches ? 64 : 44;

  const take = data => {
    total = data.total;
    const c = data.columns, names = Object.keys(c);
    const size = names.length ? c[names[0]].length : 0;
    for (let i = 0; i < size; i++) {
      const row = Object.fromEntries(names.map(name => [name, c[name][i]]));
      row.text = [row.id, row.kind, row.study, row.words, row.mark].join(" ").toLowerCase();
      rows.push(row);
    }
  };
  const options = (select, values) => {
    const have = new Set([...select.options].map(option => option.value));
    for (const value of [...new Set(values)].sort()) if (value && !have.has(value)) {
      const option = make("option", { value }); option.textContent = value; select.append(option);
    }
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    visible = [];
    let events = 0;
    for (const row of rows) {
      if (kind.value && row.kind !== kind.value) continue;
      if (study.value && row.study !== study.value) continue;
      if (bad.checked && !row.bad) continue;
      if (gone.checked && row.mark) continue;
      if (!words.every(word => row.text.includes(word))) continue;
      events += 1;
      visible.push(row);
      for (const part of open.get(row.id) || []) visible.push(part);
    }
    const all = rows.length < total ? `${rows.length} of ${total}` : `${total}`;
    count.textContent = `${events} of ${all} events shown; runs stand behind what they were made for`;
    spacer.style.height = `${visible.length * height()}px`;
    for (const element of shown.values()) element.remove();
    shown.clear();
    draw();
  };
  const fold = async row => {
    if (open.has(row.id)) open.delete(row.id);
    else {
      const data = await load("behind-" + row.id, `data/behind-${row.id}.js`);
      const c = data.columns;
      open.set(row.id, c.id.map((id, i) => ({ id, home: row.id, kind: c.kind[i], at: c.at[i], words: c.words[i], study: row.study, mark: "", notes: 0, behind: 0, part: true })));
    }
    filter();
  };
  const flag = (text, classes = "") => { const span = make("span", { class: "flag " + classes }); span.textContent = text; return span; };
  const cell = (name, text) => { const span = make("span", { class: name, title: text }); span.textContent = text; return span; };
  const line = (row, place) => {
    const link = make("a", { class: "row" + (row.part ? " behind" : "") + (row.bad ? " bad" : "") + (row.mark === "superseded" ? " gone" : ""), href: row.part ? `events/${row.home}.html` : `events/${row.id}.html` });
    link.style.top = `${place * height()}px`;
    link.dataset.place = place;
    const flags = make("span", { class: "flags" });
    if (row.mark) flags.append(flag(row.mark, "warn"));
    if (row.bad) flags.append(flag("not trusted", "warn"));
    if (row.notes) flags.append(flag(row.notes === 1 ? "1 note" : `${row.notes} notes`));
    if (row.behind) {
      const button = make("button", { class: "fold", type: "button", "aria-expanded": String(open.has(row.id)), "aria-label": `${row.behind} events behind it` });
      button.textContent = (open.has(row.id) ? "− " : "+ ") + row.behind;
      button.addEventListener("click", event => { event.preventDefault(); fold(row); });
      flags.append(button);
    }
    link.append(cell("time", time(row.at)), cell("kind", row.kind), cell("study", row.study), cell("words", row.words), flags);
    return link;
  };
  const draw = () => {
    const each = height(), first = Math.max(0, Math.floor(view.scrollTop / each) - 10);
    const last = Math.min(visible.length, Math.ceil((view.scrollTop + view.clientHeight) / each) + 10);
    for (const [place, element] of shown) if (place < first || place >= last) { element.remove(); shown.delete(place); }
    for (let place = first; place < last; place++) if (!shown.has(place)) {
      const element = line(visible[place], place);
      shown.set(place, element);
      spacer.append(element);
    }
  };
  // On paper nobody scrolls: all rows, as far as anybody would print them.
  const print = () => {
    printing = true;
    spacer.replaceChildren(...visible.slice(0, MOST_PRINTED).map(line));
    if (visible.length > MOST_PRINTED) spacer.append(cell("more", `and ${visible.length - MOST_PRINTED} more`));
  };
  window.addEventListener("beforeprint", print);
  window.addEventListener("afterprint", () => { printing = false; spacer.replaceChildren(); filter(); });
  view.addEventListener("scroll", () => printing || draw(), { passive: true });
  window.addEventListener("resize", () => printing || filter());
  view.addEventListener("keydown", event => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = Number(document.activeElement.dataset.place ?? -1);
    const next = Math.max(0, Math.min(visible.length - 1, at + step));
    const each = height(), top = next * each;
    if (top < view.scrollTop) view.scrollTop = top;
    if (top + each > view.scrollTop + view.clientHeight) view.scrollTop = top + each - view.clientHeight;
    draw();
    shown.get(next)?.focus();
  });
  let pause;
  search.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(filter, 60); });
  for (const control of [kind, study, bad, gone]) control.addEventListener("change", filter);

  const first = await load("events-0", "data/events-0.js");
  take(first);
  const wanted = new URLSearchParams(location.search);
  options(kind, rows.map(row => row.kind)); options(study, rows.map(row => row.study));
  search.value = wanted.get("q") || ""; kind.value = wanted.get("kind") || "";
  filter();
  document.documentElement.dataset.ready = "1";
  for (let part = 1; part < first.parts; part++) {
    take(await load("events-" + part, `data/events-${part}.js`));
    await new Promise(resolve => setTimeout(resolve));
  }
  if (first.parts > 1) { options(kind, rows.map(row => row.kind)); options(study, rows.map(row => row.study)); filter(); }
  document.documentElement.dataset.whole = "1";
})();
