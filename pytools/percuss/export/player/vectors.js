// Vectors, quaternions (w first) and 4 x 4 matrices, column after column.
const minus = (a, b) => a.map((x, k) => x - b[k]);
const plus = (a, b) => a.map((x, k) => x + b[k]);
const times = (a, s) => a.map(x => x * s);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit = a => { const n = Math.hypot(...a) || 1; return a.map(x => x / n); };
function turned(q, v) {
  const u = [q[1], q[2], q[3]], t = plus(cross(u, v), times(v, q[0]));
  return plus(v, times(cross(u, t), 2));
}
// The rotation that takes z to a direction.
function towards(direction) {
  const d = unit(direction), c = d[2];
  if (c < -0.999999) return [0, 1, 0, 0];
  const q = [1 + c, -d[1], d[0], 0], n = Math.hypot(...q);
  return q.map(x => x / n);
}
function product4(a, b) {
  const c = new Float32Array(16);
  for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) for (let k = 0; k < 4; k++) c[4 * j + i] += a[4 * k + i] * b[4 * j + k];
  return c;
}
const at = id => document.getElementById(id);
const hex = text => [1, 3, 5].map(i => parseInt(text.trim().slice(i, i + 2), 16) / 255);
const css = name => hex(getComputedStyle(document.documentElement).getPropertyValue(name));
const cssText = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// A number with three digits, and a size with a prefix that suits it.
const told = x => x === 0 ? "0" : Number(x.toPrecision(3)).toString();
const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];
function toldWith(x, name) {
  const [factor, prefix] = PREFIXES.find(([f]) => Math.abs(x) >= f) || (x ? PREFIXES.at(-1) : [1, ""]);
  return `${told(x / factor)} ${prefix}${name}`;
}
