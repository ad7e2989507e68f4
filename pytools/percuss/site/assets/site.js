// Shared by all pages: receives data files (each is one call), loads them once, and small builders of elements.
"use strict";
const percuss = (() => {
  const waiting = new Map();
  const loaded = new Map();
  const answer = (key, data) => { loaded.set(key, data); (waiting.get(key) || []).forEach(resolve => resolve(data)); waiting.delete(key); };
  const load = (key, file) => loaded.has(key) ? Promise.resolve(loaded.get(key)) : new Promise((resolve, reject) => {
    const queue = waiting.get(key);
    if (queue) { queue.push(resolve); return; }
    waiting.set(key, [resolve]);
    const script = document.createElement("script");
    script.src = file;
    script.onerror = () => reject(new Error("cannot load " + file));
    document.head.append(script);
  });
  const make = (name, attributes = {}, ...children) => {
    const space = ["svg", "path", "line", "circle", "rect", "text", "g", "polygon", "title"].includes(name) && attributes !== null && attributes.svg !== false;
    const element = space ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (key !== "svg") element.setAttribute(key, value);
    element.append(...children.filter(child => child !== null && child !== undefined));
    return element;
  };
  const number = value => {
    if (value === null || value === undefined || Number.isNaN(value)) return "";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3);
    return String(Number(value.toPrecision(4)));
  };
  const time = seconds => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
  return {
    load, make, number, time,
    rows: data => answer("events-" + data.part, data),
    behind: data => answer("behind-" + data.home, data),
    compare: data => answer("compare-" + data.id, data),
    campaign: data => answer("campaign-" + data.id, data),
    list: data => answer("list-" + data.of, data),
  };
})();
