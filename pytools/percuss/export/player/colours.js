// What colours stand for: pale at rest, dark at the top of the scale, which is the same for all frames.
const SCALE = ["#d9dee3", "#f5d787", "#f09a4f", "#d1512d", "#83173a"].map(hex);
const PALETTE = ["#4e79a7", "#f28e2b", "#76b7b2", "#e15759", "#59a14f", "#edc948", "#b07aa1", "#9c755f"].map(hex);
function scaled(share) {
  const x = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1), i = Math.min(Math.floor(x), SCALE.length - 2);
  return SCALE[i].map((c, k) => c + (x - i) * (SCALE[i + 1][k] - c));
}
const COLOURS = {
  speed: { words: "by speed", title: "Speed", unit: "m/s", root: true, top: film => film.fastest, of: (film, body, when) => film.speed(body, when) },
  moved: { words: "by displacement", title: "Displacement since the start", unit: "m", root: true, top: film => largest(film, "moved"), of: (film, body, when) => film.moved(body, when) },
  turned: { words: "by rotation", title: "Rotation since the start", unit: "°", root: false, top: film => largest(film, "turnedBy") * 180 / Math.PI,
    of: (film, body, when) => film.turnedBy(body, when) * 180 / Math.PI },
  force: { words: "by force", title: "Contact forces on a body, summed", unit: "N", root: true, top: film => film.heaviest ??= heaviest(film), of: (film, body, when, loads) => loads[body] },
  body: { words: "by body" },
};
function sampled(film) { const n = film.frames; return [...new Set([0.1, 0.25, 0.5, 0.75, 0.9, 1].map(s => Math.round(s * (n - 1))))]; }
function largest(film, what) {
  const key = `largest ${what}`;
  if (film[key] === undefined) {
    film[key] = 0;
    for (const frame of sampled(film)) for (let body = 0; body < film.count; body++) if (!film.fixed[body])
      film[key] = Math.max(film[key], film[what](body, { frame, next: frame, share: 0 }));
  }
  return film[key];
}
function heaviest(film) {
  let most = 0;
  for (const frame of sampled(film)) film.loads(frame).forEach((load, body) => { if (!film.fixed[body]) most = Math.max(most, load); });
  return most;
}
// Colours there is something to see by; speed first if anything moves.
function coloursOf(film) {
  return Object.keys(COLOURS).filter(name => !COLOURS[name].top || (name === "force" ? film.contactCount && heaviest(film) > 0 : COLOURS[name].top(film) > 0));
}
function colourOf(name, film, body, when, loads) {
  const { top, of, root } = COLOURS[name];
  if (!top) return PALETTE[body % PALETTE.length];
  const share = of(film, body, when, loads) / (top(film) || 1);
  return scaled(root ? Math.sqrt(share) : share);
}
function legendOf(name, film, forces) {
  const { title, unit: name_, root, top } = COLOURS[name], parts = [];
  if (top) {
    const high = top(film), show = x => name_ === "°" ? `${told(x)}°` : toldWith(x, name_);
    parts.push(`<div>${title}${root ? " (square-root scale)" : ""}</div><div class="bar" style="background: linear-gradient(90deg, ${
      [0, .25, .5, .75, 1].map(x => `rgb(${scaled(x).map(c => Math.round(255 * c))})`)})"></div>` +
      `<div class="ends"><span>0</span><span>${show(root ? high / 4 : high / 2)}</span><span>${show(high)}</span></div>`);
  }
  if (forces) parts.push(`<p><span style="color: var(--force)" aria-hidden="true">▲</span> ${forces}</p>`);
  return parts.join("");
}
