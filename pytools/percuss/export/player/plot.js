// A curve of the run under the picture, with a line at the present; of a second run dashed.
class Plot {
  constructor(films, seek) {
    this.films = films;
    this.canvas = at("graph");
    this.labels = films[0].curves.map(curve => curve.label);
    at("plot").hidden = !this.labels.length;
    for (const label of this.labels) at("curve").add(new Option(label, label));
    at("curve").addEventListener("change", () => seek(null));
    const to = e => { const { left, span } = this.scale(); seek(this.low + (e.offsetX - left) / span * (this.high - this.low)); };
    this.canvas.addEventListener("pointerdown", e => { this.canvas.setPointerCapture(e.pointerId); to(e); });
    this.canvas.addEventListener("pointermove", e => { if (e.buttons) to(e); });
    this.low = Math.min(...films.map(film => film.start));
    this.high = Math.max(...films.map(film => film.end));
  }
  scale() { return { left: 66, span: Math.max(this.canvas.clientWidth - 76, 1) }; }
  // The line at the present moves over the curves, which are drawn only when something else changes.
  draw(now, ratio) {
    if (!this.labels.length) return;
    const label = at("curve").value, { left, span } = this.scale(), state = [label, span, this.canvas.clientHeight, ratio, cssText("--ink")].join();
    const curves = this.films.map(film => film.curves.find(curve => curve.label === label));
    if (this.state !== state) this.drawCurves(curves, ratio);
    this.state = state;
    const share = Math.min(Math.max((now - this.low) / (this.high - this.low || 1), 0), 1);
    const values = curves.map(curve => curve && valueAt(curve, now)).filter(y => y !== undefined && Number.isFinite(y))
      .map(y => Math.abs(y) < 1e-6 * (this.top - this.bottom) ? 0 : y);
    at("cursor").style.transform = `translateX(${left + span * share}px)`;
    at("cursor").classList.toggle("late", share > 0.7);
    at("cursor").firstElementChild.textContent = values.map(told).join(" and ");
  }
  drawCurves(curves, ratio) {
    const canvas = this.canvas, [width, height] = [canvas.clientWidth, canvas.clientHeight], pen = canvas.getContext("2d");
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    pen.scale(ratio, ratio);
    let [low, high] = [Infinity, -Infinity];
    for (const curve of curves) if (curve) for (const y of curve.values) if (Number.isFinite(y)) { low = Math.min(low, y); high = Math.max(high, y); }
    if (!(high >= low)) [low, high] = [0, 1];
    if (high === low) { high += Math.abs(high) * 0.1 || 1; low -= Math.abs(low) * 0.1 || 1; }
    [this.bottom, this.top] = [low, high];
    const { left, span } = this.scale(), [top, base] = [10, height - 20], clock = this.films[0].clock;
    const X = t => left + span * (t - this.low) / (this.high - this.low || 1), Y = y => base - (base - top) * (y - low) / (high - low);
    pen.font = "12px system-ui, sans-serif";
    pen.strokeStyle = cssText("--line");
    pen.fillStyle = cssText("--soft");
    pen.strokeRect(left, top, span, base - top);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const y of [low, high]) pen.fillText(told(Math.abs(y) < 1e-6 * (high - low) ? 0 : y), left - 6, Y(y));
    pen.textBaseline = "top";
    pen.textAlign = "left";
    pen.fillText(told(this.low), left, base + 5);
    pen.textAlign = "right";
    pen.fillText(clock[1] ? `${told(this.high)} ${clock[1]}` : `${clock[0]} ${told(this.high)}`, left + span, base + 5);
    curves.forEach((curve, k) => {
      if (!curve) return;
      pen.strokeStyle = cssText(k ? "--other" : "--accent");
      pen.setLineDash(k ? [5, 3] : []);
      pen.lineWidth = 1.5;
      pen.beginPath();
      for (let i = 0; i < curve.times.length; i++) pen.lineTo(X(curve.times[i]), Y(curve.values[i]));
      pen.stroke();
    });
  }
}
function valueAt(curve, time) {
  const { times, values } = curve;
  if (!times.length) return undefined;
  let low = 0, high = times.length - 1;
  while (high - low > 1) { const middle = (low + high) >> 1; if (times[middle] <= time) low = middle; else high = middle; }
  const span = times[high] - times[low], share = span > 0 ? Math.min(Math.max((time - times[low]) / span, 0), 1) : 0;
  return values[low] * (1 - share) + values[high] * share;
}
