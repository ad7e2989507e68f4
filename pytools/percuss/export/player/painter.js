// Drawing: every form is stored once and drawn for all bodies that have it in one call.
const VERTEX = `#version 300 es
layout(location = 0) in vec3 place; layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 origin; layout(location = 3) in vec4 turn; layout(location = 4) in vec3 scale;
layout(location = 5) in vec4 paint; layout(location = 6) in vec2 extra;
uniform mat4 camera; uniform int mode; uniform vec3 sun; uniform float floorZ;
out vec3 seen; out vec3 facing; out vec3 own; flat out vec4 colour; flat out vec2 more;
vec3 turned(vec3 v) { return v + 2.0 * cross(turn.yzw, cross(turn.yzw, v) + turn.x * v); }
void main() {
  seen = origin + turned(scale * place);
  facing = turned(normal / max(scale, vec3(1e-20)));
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

class Batch {
  constructor(painter, look, capacity, bodies) {
    const gl = painter.gl, buffer = gl.createBuffer();
    Object.assign(this, { gl, look, buffer, bodies, level: 0, count: 0, values: new Float32Array(STRIDE * Math.max(capacity, 1)) });
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.values, gl.DYNAMIC_DRAW);
    this.drawn = look.levels.map(mesh => {
      const places = gl.createBuffer(), normals = gl.createBuffer();
      for (const [target, data] of [[places, mesh.places], [normals, mesh.normals]]) {
        gl.bindBuffer(gl.ARRAY_BUFFER, target);
        gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      }
      return { faces: this.array(places, normals, mesh.triangles), lines: this.array(places, normals, mesh.edges) };
    });
  }
  // As coarse as nobody sees, with so many pixels for a metre.
  choose(pixels) {
    const narrow = NARROW.filter(limit => this.look.round * pixels < limit).length;
    this.level = this.through ? 0 : Math.min(narrow, this.look.levels.length - 1);
  }
  get mesh() { return this.look.levels[this.level]; }
  array(places, normals, indices) {
    const gl = this.gl, array = gl.createVertexArray(), list = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, list);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, places);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, normals);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 3, gl.BYTE, true, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    for (const [location, size, from] of [[2, 3, 0], [3, 4, 3], [4, 3, 7], [5, 4, 10], [6, 2, 14]]) {
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, gl.FLOAT, false, 4 * STRIDE, 4 * from);
      gl.vertexAttribDivisor(location, 1);
    }
    gl.bindVertexArray(null);
    return array;
  }
  // One more of these: origin, rotation, scale, colour with opacity, who.
  add(origin, turn, scale, colour, alpha, id, toned) {
    const k = STRIDE * this.count++;
    if (k + STRIDE > this.values.length) { const more = new Float32Array(2 * this.values.length); more.set(this.values); this.values = more; }
    this.values.set(origin, k); this.values.set(turn, k + 3); this.finish(k, scale, colour, alpha, id, toned);
  }
  finish(k, scale, colour, alpha, id, toned) {
    const v = this.values;
    v[k + 7] = scale[0]; v[k + 8] = scale[1]; v[k + 9] = scale[2];
    v[k + 10] = colour[0]; v[k + 11] = colour[1]; v[k + 12] = colour[2]; v[k + 13] = alpha;
    v[k + 14] = id; v[k + 15] = toned;
  }
  upload() {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, this.values.subarray(0, STRIDE * this.count), this.gl.DYNAMIC_DRAW);
  }
  draw(edges) {
    // What lies inside a body shows only where the body is seen through.
    const gl = this.gl, mesh = this.mesh, list = edges ? mesh.edges : mesh.triangles;
    const length = mesh.outer && !this.through ? (edges ? 2 * mesh.outer[1] : 3 * mesh.outer[0]) : list.length;
    if (!this.count || !length) return;
    gl.bindVertexArray(this.drawn[this.level][edges ? "lines" : "faces"]);
    if (mesh.closed && !edges) gl.enable(gl.CULL_FACE); else gl.disable(gl.CULL_FACE);
    gl.drawElementsInstanced(edges ? gl.LINES : gl.TRIANGLES, length, list.BYTES_PER_ELEMENT === 4 ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT, 0, this.count);
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
        return new Batch(this, look, bodies.length, bodies);
      });
      const balls = film.radii.flatMap((radius, body) => radius === null ? [] : [body]);
      const fine = balls.length > 3000 ? 1 : balls.length > 60 ? 2 : 3;
      if (balls.length) batches.push(Object.assign(new Batch(this, single(ballMesh(fine)), balls.length, balls), { scaled: true }));
      return batches;
    });
    const form = mesh => new Batch(this, single(mesh), 64, []);
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
    if (name === "mode") gl.uniform1i(place, value);
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
