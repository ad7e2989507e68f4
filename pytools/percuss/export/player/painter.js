// Drawing: every form is sent once, and repeated here for all bodies that have it, so that they are drawn in one call. Bodies
// are rows of a texture. Software rendering takes as long over an instance as over a call: twice the time for a wall, and more
// with a uniform block.
const ROWS = 256;
const VERTEX = `#version 300 es
precision highp float; precision highp int;
layout(location = 0) in vec3 place; layout(location = 1) in vec3 normal;
uniform highp sampler2D rows; uniform int size;
uniform mat4 camera; uniform int mode; uniform vec3 sun; uniform float floorZ;
out vec3 seen; out vec3 facing; out vec3 own; flat out vec4 colour; flat out vec2 more;
vec3 turned(vec4 turn, vec3 v) { return v + 2.0 * cross(turn.yzw, cross(turn.yzw, v) + turn.x * v); }
void main() {
  int who = gl_VertexID / size; ivec2 row = ivec2(4 * (who % ${ROWS}), who / ${ROWS});
  vec4 a = texelFetch(rows, row, 0), b = texelFetch(rows, row + ivec2(1, 0), 0);
  vec4 c = texelFetch(rows, row + ivec2(2, 0), 0), d = texelFetch(rows, row + ivec2(3, 0), 0);
  vec3 origin = a.xyz, scale = vec3(b.w, c.xy); vec4 turn = vec4(a.w, b.xyz), paint = vec4(c.zw, d.xy); vec2 extra = d.zw;
  seen = origin + turned(turn, scale * place);
  facing = turned(turn, normal / max(scale, vec3(1e-20)));
  own = place; colour = paint; more = extra;
  if (mode == 2) { seen.xy -= (seen.z - floorZ) * sun.xy / sun.z; seen.z = floorZ; }
  gl_Position = camera * vec4(seen, 1.0);
  if (paint.a <= 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;
// Modes: 0 a body, 1 its edges, 2 its shadow, 3 who it is, 4 ground without end.
const FRAGMENT = `#version 300 es
precision highp float; precision highp int;
in vec3 seen; in vec3 facing; in vec3 own; flat in vec4 colour; flat in vec2 more; out vec4 drawn;
uniform int mode; uniform vec3 sky, edge, ground, sun, middle; uniform float grid, reach;
float dither() { ivec2 p = ivec2(gl_FragCoord.xy) & 3; int a = p.x ^ p.y;
  return (float(((a & 1) << 3) | ((p.y & 1) << 2) | (a & 2) | ((p.y & 2) >> 1)) + 0.5) / 16.0; }
vec3 floored(vec3 shade) {
  vec2 line = abs(fract(seen.xy / grid - 0.5) - 0.5) / fwidth(seen.xy / grid);
  shade = mix(shade * 0.84, shade, clamp(min(line.x, line.y), 0.0, 1.0));
  return mix(shade, sky, smoothstep(2.0 * reach, 6.0 * reach, distance(seen, middle)));
}
void main() {
  if (colour.a < 1.0 && dither() > colour.a) discard;
  if (mode == 1) { drawn = vec4(edge, 1.0); return; }
  if (mode == 2) { drawn = vec4(floored(ground * 0.78), 1.0); return; }
  if (mode == 3) { int id = int(more.x); drawn = vec4(float(id & 255), float((id >> 8) & 255), float((id >> 16) & 255), 255.0) / 255.0; return; }
  if (mode == 4) { drawn = vec4(floored(colour.rgb), 1.0); return; }
  vec3 n = normalize(facing); if (!gl_FrontFacing) n = -n;
  float light = 0.5 + 0.28 * (0.5 + 0.5 * n.z) + 0.32 * max(dot(n, sun), 0.0);
  // Balls have two tones, so that one sees them turn.
  if (more.y > 0.0 && own.x * own.y * own.z > 0.0) light *= 0.86;
  drawn = vec4(colour.rgb * light, 1.0);
}`;
const STRIDE = 16, SUN = unit([-0.45, -0.6, 0.9]);

// Rounds narrower than this on the screen, in pixels, are drawn with fewer sides: one level coarser each.
const NARROW = [40, 12];

// The numbers of a list so many times over, each time `step` more.
function repeated(list, times, step) {
  const Kind = step && times * step > 65535 ? Uint32Array : list.constructor, out = new Kind(times * list.length);
  for (let i = 0, k = 0; i < times; i++) for (let j = 0; j < list.length; j++, k++) out[k] = list[j] + i * step;
  return out;
}

class Batch {
  constructor(painter, look, bodies) {
    const gl = painter.gl;
    Object.assign(this, { painter, gl, look, bodies, level: 0, count: 0, room: 0, drawn: new Map(), texture: gl.createTexture(), values: new Float32Array(0) });
    this.reserve(Math.max(bodies.length, 1));
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    for (const name of ["MIN", "MAG"]) gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}_FILTER`], gl.NEAREST);
  }
  // Room for so many; lists that were made for fewer are made again.
  reserve(count) {
    if (count <= this.room) return;
    this.room = count;
    this.across = Math.min(count, ROWS);
    const values = new Float32Array(STRIDE * this.across * Math.ceil(count / ROWS));
    values.set(this.values);
    this.values = values;
    for (const { array, buffers } of this.drawn.values()) { this.gl.deleteVertexArray(array); for (const buffer of buffers) this.gl.deleteBuffer(buffer); }
    this.drawn.clear();
  }
  // As coarse as nobody sees, with so many pixels for a metre.
  choose(pixels) {
    const narrow = NARROW.filter(limit => this.look.round * pixels < limit).length;
    // Only the first level has what lies inside.
    this.level = this.through && this.look.levels[0].outer ? 0 : Math.min(narrow, this.look.levels.length - 1);
  }
  get mesh() { return this.look.levels[this.level]; }
  // Triangles or edges of all bodies. What lies inside a body shows only where the body is seen through.
  list(edges) {
    const whole = this.through || !this.mesh.outer, key = `${this.level} ${edges} ${whole}`;
    if (!this.drawn.has(key)) {
      const gl = this.gl, mesh = this.mesh, array = gl.createVertexArray(), all = edges ? mesh.edges : mesh.triangles;
      const own = whole ? all : all.subarray(0, edges ? 2 * mesh.outer[1] : 3 * mesh.outer[0]), size = mesh.places.length / 3;
      const indices = repeated(own, this.room, size), buffers = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
      gl.bindVertexArray(array);
      for (const [place, data, kind, scaled] of [[0, mesh.places, gl.FLOAT, false], [1, mesh.normals, gl.BYTE, true]]) {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[place]);
        gl.bufferData(gl.ARRAY_BUFFER, repeated(data, this.room, 0), gl.STATIC_DRAW);
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, 3, kind, scaled, 0, 0);
      }
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers[2]);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
      gl.bindVertexArray(null);
      this.drawn.set(key, { array, buffers, size, each: own.length, kind: indices.BYTES_PER_ELEMENT === 4 ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT });
    }
    return this.drawn.get(key);
  }
  // One more of these: origin, rotation, scale, colour with opacity, who.
  add(origin, turn, scale, colour, alpha, id, toned) {
    if (this.count === this.room) this.reserve(2 * this.room);
    const k = STRIDE * this.count++;
    this.values.set(origin, k); this.values.set(turn, k + 3); this.finish(k, scale, colour, alpha, id, toned);
  }
  finish(k, scale, colour, alpha, id, toned) {
    const v = this.values;
    v[k + 7] = scale[0]; v[k + 8] = scale[1]; v[k + 9] = scale[2];
    v[k + 10] = colour[0]; v[k + 11] = colour[1]; v[k + 12] = colour[2]; v[k + 13] = alpha;
    v[k + 14] = id; v[k + 15] = toned;
  }
  upload() {
    const gl = this.gl;
    if (!this.count) return;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 4 * this.across, Math.ceil(this.count / ROWS), 0, gl.RGBA, gl.FLOAT, this.values);
  }
  draw(edges) {
    const gl = this.gl, mesh = this.mesh;
    if (!this.count || !(edges ? mesh.edges : mesh.triangles).length) return;
    const { array, size, each, kind } = this.list(edges);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    this.painter.set("size", size);
    gl.bindVertexArray(array);
    if (mesh.closed && !edges) gl.enable(gl.CULL_FACE); else gl.disable(gl.CULL_FACE);
    gl.drawElements(edges ? gl.LINES : gl.TRIANGLES, each * this.count, kind, 0);
  }
}

class Painter {
  constructor(canvas, films) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", { alpha: false, antialias: false, powerPreference: "high-performance" });
    if (!this.gl) return;
    this.films = films;
    this.program = this.compiled();
    this.where = {};
    // Bodies by their look; balls by themselves, coarser the more there are.
    this.looks = films.map(film => {
      const batches = film.looks.map((look, number) => {
        const bodies = film.shows.filter(([l]) => l === number).map(([, body]) => body);
        return new Batch(this, look, bodies);
      });
      const balls = film.radii.flatMap((radius, body) => radius === null ? [] : [body]);
      const fine = balls.length > 30000 ? 0 : balls.length > 3000 ? 1 : balls.length > 60 ? 2 : 3;
      const levels = [fine, fine - 1, fine - 2].filter(level => level === fine || level > 0).map(ballMesh);
      const look = { levels, round: 2 * Math.max(...balls.map(body => film.radii[body])), unbounded: false };
      if (balls.length) batches.push(Object.assign(new Batch(this, look, balls), { scaled: true }));
      return batches;
    });
    const form = mesh => new Batch(this, single(mesh), []);
    this.forms = { rod: form(rodMesh(10, 1)), ball: form(ballMesh(2)), coil: form(coilMesh(6, 10, 4)) };
    this.forces = { spike: form(rodMesh(4, 0.02, false)), chain: form(rodMesh(5, 1, false)) };
    this.floorZ = this.floor();
  }
  compiled() {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    return program;
  }
  // Height of level ground, on which shadows fall.
  floor() {
    const film = this.films[0], when = film.at(film.start);
    for (const [look, body] of film.shows) if (film.looks[look].unbounded) {
      const { turn } = film.poseOf(body, when), p = film.looks[look].levels[0].places;
      if (turned(turn, [0, 0, 1])[2] > 0.9999) return film.pointOf(body, [p[0], p[1], p[2]], when)[2];
    }
    return null;
  }
  set(name, value) {
    const gl = this.gl, place = this.where[name] ??= gl.getUniformLocation(this.program, name);
    if (name === "mode" || name === "size") gl.uniform1i(place, value);
    else if (name === "camera") gl.uniformMatrix4fv(place, false, value);
    else if (typeof value === "number") gl.uniform1f(place, value);
    else gl.uniform3fv(place, value);
  }
  begin(camera, width, height) {
    const gl = this.gl, size = camera.size;
    gl.viewport(0, 0, width, height);
    gl.enable(gl.DEPTH_TEST);
    gl.useProgram(this.program);
    this.set("camera", camera.matrix(width / height));
    for (const name of ["sky", "edge", "ground"]) this.set(name, css(`--${name}`));
    this.set("sun", SUN);
    this.set("middle", camera.middle);
    this.set("reach", 0.5 * size);
    this.set("grid", 10 ** Math.floor(Math.log10(size / 3)));
    this.set("floorZ", this.floorZ ?? 0);
  }
  paint(camera, chains, shadows) {
    const gl = this.gl, { width, height } = this.canvas;
    this.begin(camera, width, height);
    gl.clearColor(...css("--sky"), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const all = [...this.looks.flat(), ...Object.values(this.forms)], pixels = 0.5 * height * camera.zoom(width / height) / camera.distance;
    for (const batch of all) batch.choose(pixels);
    const solid = all.filter(batch => !batch.look.unbounded);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 2);
    this.set("mode", 4);
    for (const batch of all) if (batch.look.unbounded) batch.draw(false);
    // A shadow is a copy of the ground, darker: what lies twice in the shade is no darker than what lies once.
    if (shadows && this.floorZ !== null && camera.eye()[2] > this.floorZ) {
      gl.polygonOffset(1, 1);
      this.set("mode", 2);
      for (const batch of this.looks[0]) if (!batch.look.unbounded && batch.mesh.triangles.length * batch.count < 2e5) batch.draw(false);
    }
    gl.polygonOffset(1, 1);
    this.set("mode", 0);
    for (const batch of solid) batch.draw(false);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    this.set("mode", 1);
    for (const batch of solid) batch.draw(true);
    this.set("mode", 0);
    // Spikes stand in front of the bodies, so that forces between faces show.
    if (!chains) gl.clear(gl.DEPTH_BUFFER_BIT);
    for (const batch of Object.values(this.forces)) batch.draw(false);
    gl.bindVertexArray(null);
  }
  // Which body is at a point of the canvas: 0 for none.
  pick(camera, x, y) {
    const gl = this.gl, { width, height } = this.canvas;
    this.target ??= { frame: gl.createFramebuffer(), colour: gl.createRenderbuffer(), depth: gl.createRenderbuffer() };
    const { frame, colour, depth } = this.target;
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    for (const [buffer, format, place] of [[colour, gl.RGBA8, gl.COLOR_ATTACHMENT0], [depth, gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]]) {
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
    }
    this.begin(camera, width, height);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(x, height - 1 - y, 1, 1);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.set("mode", 3);
    for (const batch of this.looks.flat()) batch.draw(false);
    const pixel = new Uint8Array(4);
    gl.readPixels(x, height - 1 - y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return pixel[0] | pixel[1] << 8 | pixel[2] << 16;
  }
}
