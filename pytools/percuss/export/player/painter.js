// Drawing: every form is sent once, and repeated here for all bodies that have it, so that they are drawn in one call. Bodies
// are rows of a texture. Software rendering takes as long over an instance as over a call: twice the time for a wall, and more
// with a uniform block.
const ROWS = 256;
// What is drawn: faces of bodies, their edges, their shadows, who is where, ground without end.
const FACES = 0, EDGES = 1, SHADOWS = 2, WHO = 3, GROUND = 4;
// Each has a program of its own, and another where bodies are seen through: without a graphics card every pixel pays for all that
// its program could do. Light is worked out at corners, for both sides of a face.
const VERTEX = `layout(location = 0) in vec3 place; layout(location = 1) in vec3 normal;
uniform highp sampler2D rows; uniform int size;
uniform mat4 camera; uniform vec3 sun, middle; uniform float floorZ, grid, reach;
flat out vec4 colour;
vec3 turned(vec4 turn, vec3 v) { return v + 2.0 * cross(turn.yzw, cross(turn.yzw, v) + turn.x * v); }
#if MODE == ${FACES}
out vec2 light; out vec3 own;
float lit(vec3 n) { return 0.64 + 0.14 * n.z + 0.32 * max(dot(n, sun), 0.0); }
#elif MODE == ${WHO}
flat out float id;
#elif MODE != ${EDGES}
out vec2 tile; out vec3 off;
#endif
void main() {
  int who = gl_VertexID / size; ivec2 row = ivec2(4 * (who % ${ROWS}), who / ${ROWS});
  vec4 a = texelFetch(rows, row, 0), b = texelFetch(rows, row + ivec2(1, 0), 0);
  vec4 c = texelFetch(rows, row + ivec2(2, 0), 0), d = texelFetch(rows, row + ivec2(3, 0), 0);
  vec3 origin = a.xyz, scale = vec3(b.w, c.xy); vec4 turn = vec4(a.w, b.xyz);
  vec3 at = origin + turned(turn, scale * place);
  colour = vec4(c.zw, d.xy);
#if MODE == ${FACES}
  vec3 n = normalize(turned(turn, normal / max(scale, vec3(1e-20))));
  light = vec2(lit(n), lit(-n)); own = place;
#elif MODE == ${SHADOWS}
  at.xy -= (at.z - floorZ) * sun.xy / sun.z; at.z = floorZ;
#endif
#if MODE == ${WHO}
  id = d.z;
#elif MODE == ${SHADOWS} || MODE == ${GROUND}
  tile = at.xy / grid - 0.5; off = (at - middle) / reach;
#endif
  gl_Position = camera * vec4(at, 1.0);
  if (colour.a <= 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;
const FRAGMENT = `flat in vec4 colour; out vec4 drawn;
uniform vec3 sky, edge, ground;
#if MODE == ${FACES}
in vec2 light; in vec3 own;
#elif MODE == ${WHO}
flat in float id;
#elif MODE != ${EDGES}
in vec2 tile; in vec3 off;
vec3 floored(vec3 shade) {
  vec2 line = abs(fract(tile) - 0.5) / fwidth(tile);
  return mix(shade * min(0.84 + 0.16 * min(line.x, line.y), 1.0), sky, smoothstep(2.0, 6.0, length(off)));
}
#endif
float dither() { ivec2 p = ivec2(gl_FragCoord.xy) & 3; int a = p.x ^ p.y;
  return (float(((a & 1) << 3) | ((p.y & 1) << 2) | (a & 2) | ((p.y & 2) >> 1)) + 0.5) / 16.0; }
void main() {
#if THROUGH
  if (colour.a < 1.0 && dither() > colour.a) discard;
#endif
#if MODE == ${FACES}
  float shade = gl_FrontFacing ? light.x : light.y;
  // Balls have two tones, so that one sees them turn.
#if TONED
  if (own.x * own.y * own.z > 0.0) shade *= 0.86;
#endif
  drawn = vec4(colour.rgb * shade, 1.0);
#elif MODE == ${EDGES}
  drawn = vec4(edge, 1.0);
#elif MODE == ${SHADOWS}
  drawn = vec4(floored(ground * 0.78), 1.0);
#elif MODE == ${WHO}
  int n = int(id); drawn = vec4(float(n & 255), float((n >> 8) & 255), float((n >> 16) & 255), 255.0) / 255.0;
#else
  drawn = vec4(floored(colour.rgb), 1.0);
#endif
}`;
const STRIDE = 16, SUN = unit([-0.45, -0.6, 0.9]);

// Rounds narrower than this on the screen, in pixels, are drawn with fewer sides: one level coarser each.
const NARROW = [40, 12, 8];

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
  // One more of these: origin, rotation, scale, colour.
  add(origin, turn, scale, colour) {
    if (this.count === this.room) this.reserve(2 * this.room);
    const k = STRIDE * this.count++;
    this.values.set(origin, k); this.values.set(turn, k + 3); this.finish(k, scale, colour, 1, 0);
  }
  finish(k, scale, colour, alpha, id) {
    const v = this.values;
    v[k + 7] = scale[0]; v[k + 8] = scale[1]; v[k + 9] = scale[2];
    v[k + 10] = colour[0]; v[k + 11] = colour[1]; v[k + 12] = colour[2]; v[k + 13] = alpha;
    v[k + 14] = id;
  }
  upload() {
    const gl = this.gl;
    if (!this.count) return;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 4 * this.across, Math.ceil(this.count / ROWS), 0, gl.RGBA, gl.FLOAT, this.values);
  }
  draw(mode) {
    const gl = this.gl, mesh = this.mesh, edges = mode === EDGES;
    if (!this.count || !(edges ? mesh.edges : mesh.triangles).length) return;
    const { array, size, each, kind } = this.list(edges);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    this.painter.use(mode, Boolean(this.through), mode === FACES && Boolean(this.scaled)).set("size", size);
    gl.bindVertexArray(array);
    if (mesh.closed && !edges) gl.enable(gl.CULL_FACE); else gl.disable(gl.CULL_FACE);
    gl.drawElements(edges ? gl.LINES : gl.TRIANGLES, each * this.count, kind, 0);
  }
}

class Program {
  constructor(gl, mode, through, toned) {
    Object.assign(this, { gl, where: {}, frame: -1, program: gl.createProgram() });
    const head = `#version 300 es\nprecision highp float; precision highp int;\n#define MODE ${mode}\n#define THROUGH ${Number(through)}\n#define TONED ${Number(toned)}\n`;
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, head + text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(this.program));
  }
  set(name, value) {
    const gl = this.gl, place = this.where[name] ??= gl.getUniformLocation(this.program, name);
    if (name === "size") gl.uniform1i(place, value);
    else if (name === "camera") gl.uniformMatrix4fv(place, false, value);
    else if (typeof value === "number") gl.uniform1f(place, value);
    else gl.uniform3fv(place, value);
  }
}

class Painter {
  constructor(canvas, films) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", { alpha: false, antialias: false, powerPreference: "high-performance" });
    if (!this.gl) return;
    this.films = films;
    this.programs = new Map();
    this.frame = 0;
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
  // Height of level ground, on which shadows fall.
  floor() {
    const film = this.films[0], when = film.at(film.start);
    for (const [look, body] of film.shows) if (film.looks[look].unbounded) {
      const { turn } = film.poseOf(body, when), p = film.looks[look].levels[0].places;
      if (turned(turn, [0, 0, 1])[2] > 0.9999) return film.pointOf(body, [p[0], p[1], p[2]], when)[2];
    }
    return null;
  }
  // From here on, as the camera sees it.
  begin(camera, width, height) {
    const gl = this.gl, size = camera.size;
    gl.viewport(0, 0, width, height);
    gl.enable(gl.DEPTH_TEST);
    this.frame++;
    this.values = { camera: camera.matrix(width / height), sun: SUN, middle: camera.middle, reach: 0.5 * size,
      grid: 10 ** Math.floor(Math.log10(size / 3)), floorZ: this.floorZ ?? 0 };
    for (const name of ["sky", "edge", "ground"]) this.values[name] = css(`--${name}`);
  }
  // The program that does this and no more; compiled when first asked for.
  use(mode, through, toned) {
    const key = `${mode} ${through} ${toned}`;
    if (!this.programs.has(key)) this.programs.set(key, new Program(this.gl, mode, through, toned));
    const program = this.programs.get(key);
    this.gl.useProgram(program.program);
    if (program.frame !== this.frame) for (const [name, value] of Object.entries(this.values)) program.set(name, value);
    program.frame = this.frame;
    return program;
  }
  paint(camera, chains, shadows) {
    const gl = this.gl, { width, height } = this.canvas;
    this.begin(camera, width, height);
    gl.clearColor(...this.values.sky, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const all = [...this.looks.flat(), ...Object.values(this.forms)], pixels = 0.5 * height * camera.zoom(width / height) / camera.distance;
    for (const batch of all) batch.choose(pixels);
    const solid = all.filter(batch => !batch.look.unbounded);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 1);
    for (const batch of solid) batch.draw(FACES);
    // A shadow is a copy of the ground, darker: what lies twice in the shade is no darker than what lies once.
    if (shadows && this.floorZ !== null && camera.eye()[2] > this.floorZ)
      for (const batch of this.looks[0]) if (!batch.look.unbounded && batch.mesh.triangles.length * batch.count < 2e5) batch.draw(SHADOWS);
    // Last, so that nothing is worked out for ground that is covered.
    gl.polygonOffset(2, 2);
    for (const batch of all) if (batch.look.unbounded) batch.draw(GROUND);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    for (const batch of solid) batch.draw(EDGES);
    // Spikes stand in front of the bodies, so that forces between faces show.
    if (!chains) gl.clear(gl.DEPTH_BUFFER_BIT);
    for (const batch of Object.values(this.forces)) batch.draw(FACES);
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
    for (const batch of this.looks.flat()) batch.draw(WHO);
    const pixel = new Uint8Array(4);
    gl.readPixels(x, height - 1 - y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return pixel[0] | pixel[1] << 8 | pixel[2] << 16;
  }
}
