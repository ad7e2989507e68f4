// Small charts as SVG: lines with bands, densities, dots. The second of two is dashed: never by colour alone.
"use strict";
percuss.chart = (() => {
  const { make, number } = percuss;
  const W = 420, H = 240, L = 58, R = 12, T = 12, B = 42;
  const ticks = (low, high) => {
    const span = high - low || 1, raw = span / 5, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
    const list = [];
    for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) list.push(Math.abs(v) < step * 1e-9 ? 0 : v);
    return list;
  };
  const range = values => {
    let low = Infinity, high = -Infinity;
    for (const v of values) if (v !== null && Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
    if (!(low <= high)) return [0, 1];
    const more = (high - low) * 0.04 || Math.abs(low) * 0.1 || 1;
    return [low - more, high + more];
  };
  const frame = (xs, ys, xLabel, yLabel, title, words) => {
    const [x0, x1] = range(xs), [y0, y1] = range(ys);
    const x = v => L + (v - x0) / (x1 - x0) * (W - L - R), y = v => H - B - (v - y0) / (y1 - y0) * (H - T - B);
    const svg = make("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": words });
    for (const v of ticks(x0, x1)) {
      svg.append(make("line", { class: "grid", x1: x(v), x2: x(v), y1: T, y2: H - B }));
      const label = make("text", { x: x(v), y: H - B + 15, "text-anchor": "middle" }); label.textContent = number(v); svg.append(label);
    }
    for (const v of ticks(y0, y1)) {
      svg.append(make("line", { class: "grid", x1: L, x2: W - R, y1: y(v), y2: y(v) }));
      const label = make("text", { x: L - 6, y: y(v) + 4, "text-anchor": "end" }); label.textContent = number(v); svg.append(label);
    }
    svg.append(make("path", { class: "axis", d: `M${L} ${T}V${H - B}H${W - R}` }));
    const below = make("text", { x: (L + W - R) / 2, y: H - 8, "text-anchor": "middle" }); below.textContent = xLabel; svg.append(below);
    const left = make("text", { x: 0, y: 0, transform: `translate(12 ${(T + H - B) / 2}) rotate(-90)`, "text-anchor": "middle" }); left.textContent = yLabel; svg.append(left);
    const figure = make("figure", { class: "chart" }, svg);
    if (title) { const caption = make("figcaption"); caption.textContent = title; figure.append(caption); }
    return { figure, svg, x, y };
  };
  const path = (xs, ys, x, y) => xs.map((v, i) => ys[i] === null || v === null ? "" : `${i ? "L" : "M"}${x(v).toFixed(1)} ${y(ys[i]).toFixed(1)}`).join("");
  return { frame, path, range };
})();
