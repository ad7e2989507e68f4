// What the page holds, decoded, and where everything is at any instant.
const READ = { f4: Float32Array, u4: Uint32Array, u2: Uint16Array, i1: Int8Array };

async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = new DataView(bytes.buffer).getUint32(0, true), head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const array = name => {
    const [kind, offset, count, rows] = head.arrays[name], from = 4 + size + offset;
    if (kind !== "d2") return new READ[kind](bytes.slice(from, from + count * READ[kind].BYTES_PER_ELEMENT).buffer);
    const all = rows * count, levels = new Uint16Array(all);
    for (let row = 0, k = 0; row < rows; row++) for (let i = 0, level = 0; i < count; i++, k++) {
      const coded = bytes[from + k] << 8 | bytes[from + all + k];
      level = level + ((coded >>> 1) ^ -(coded & 1)) & 65535;
      levels[k] = level;
    }
    return levels;
  };
  return head.films.map(film => new Film(film, array));
}

class Film {
  constructor(head, array) {
    Object.assign(this, head);
    for (const name of ["times", "first", "last", "low", "step", "positions", "turns", "speeds"]) this[name] = array(head[name]);
    if (head.cells) this.cells = array(head.cells);
    for (const look of this.looks) for (const mesh of look.levels)
      for (const name of ["places", "normals", "triangles", "edges"]) mesh[name] = array(mesh[name]);
    for (const name of ["ends", "places", "forces", "bodies"]) this.contacts[name] = array(head.contacts[name]);
    this.curves = head.curves.map(curve => ({ label: curve.label, times: array(curve.times), values: array(curve.values) }));
    this.count = this.names.length;
    this.frames = this.times.length;
    this.end = this.times[this.frames - 1];
    this.start = this.times[0];
    this.contactCount = this.frames ? this.contacts.ends[this.frames - 1] : 0;
  }
  // Which two frames an instant lies between, and how far.
  at(time) {
    let frame = 0, high = this.frames - 1;
    while (high - frame > 1) { const middle = (frame + high) >> 1; if (this.times[middle] <= time) frame = middle; else high = middle; }
    const next = Math.min(frame + 1, this.frames - 1), span = this.times[next] - this.times[frame];
    return { frame, next, share: span > 0 ? Math.min(Math.max((time - this.times[frame]) / span, 0), 1) : 0 };
  }
  frameAt(time) {
    const { frame, next, share } = this.at(time);
    return share > 0.999999 ? next : frame;
  }
  there(body, when) { return when.frame >= this.first[body] && when.frame <= this.last[body]; }
  // Origin and rotation into `out` from `k` on.
  pose(out, k, body, when) {
    const { frame, next, share } = when, n = this.frames, back = 1 - share;
    for (let i = 0, row = 3 * body; i < 3; i++, row++)
      out[k + i] = this.low[row] + this.step[row] * (back * this.positions[row * n + frame] + share * this.positions[row * n + next]);
    let length = 0;
    for (let i = 0, row = 4 * body; i < 4; i++, row++) {
      const q = back * this.turns[row * n + frame] + share * this.turns[row * n + next] - 32768;
      out[k + 3 + i] = q;
      length += q * q;
    }
    length = Math.sqrt(length) || 1;
    for (let i = 3; i < 7; i++) out[k + i] /= length;
  }
  poseOf(body, when) {
    if (body < 0) return { origin: [0, 0, 0], turn: [1, 0, 0, 0] };
    const out = [];
    this.pose(out, 0, body, when);
    return { origin: out.slice(0, 3), turn: out.slice(3, 7) };
  }
  pointOf(body, point, when) {
    const { origin, turn } = this.poseOf(body, when);
    return plus(origin, turned(turn, point));
  }
  speed(body, when) {
    const row = body * this.frames;
    return this.fastest / 65535 * ((1 - when.share) * this.speeds[row + when.frame] + when.share * this.speeds[row + when.next]);
  }
  // How far a body is turned from where it started, and how far it is from there.
  turnedBy(body, when) {
    const n = this.frames, start = Math.min(this.first[body], n - 1), { turn } = this.poseOf(body, when);
    let inner = 0;
    for (let i = 0; i < 4; i++) inner += turn[i] * (this.turns[(4 * body + i) * n + start] - 32768) / 32767;
    return 2 * Math.acos(Math.min(1, Math.abs(inner)));
  }
  moved(body, when) {
    const n = this.frames, start = Math.min(this.first[body], n - 1), { origin } = this.poseOf(body, when);
    return Math.hypot(...origin.map((x, i) => x - this.low[3 * body + i] - this.step[3 * body + i] * this.positions[(3 * body + i) * n + start]));
  }
  contact(c) {
    const all = this.contactCount, { low, step, places, forces, bodies, strongest } = this.contacts;
    const force = [0, 1, 2].map(k => { const root = (forces[k * all + c] - 32768) / 32767; return strongest * root ** 3; });
    return { place: [0, 1, 2].map(k => low[k] + step[k] * places[k * all + c]), force, pair: [bodies[c] - 1, bodies[all + c] - 1] };
  }
  contactsIn(frame) { return [frame ? this.contacts.ends[frame - 1] : 0, this.contacts.ends[frame]]; }
  // Sum of the sizes of the contact forces on each body.
  loads(frame) {
    const sums = new Float32Array(this.count), [from, to] = this.contactsIn(frame);
    for (let c = from; c < to; c++) {
      const { force, pair } = this.contact(c), size = Math.hypot(...force);
      for (const body of pair) if (body >= 0) sums[body] += size;
    }
    return sums;
  }
}
