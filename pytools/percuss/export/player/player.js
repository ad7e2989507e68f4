// The page: what is chosen, what is drawn when, and what keys and pointers do.
const RATES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];
// A film lasts about this long unless another rate is chosen: shorter ones are slowed down, longer ones run faster.
const LASTS_S = 10, THROUGH = 0.25;
// Pixels drawn for each shown: two while nothing moves, which smooths edges. While it moves, as much as can be drawn in time:
// pixels, and whether there are shadows.
const FINE = 2, EFFORTS = [[1, true], [1, false], [0.75, false], [0.5, false]];
// Frames that take longer (ms) are slow; so many in a row ask for less effort, so many quick ones for more.
const SLOW_MS = 36, QUICK_MS = 20, SLOW_FRAMES = 2, QUICK_FRAMES = 120;

function say(fault) { at("fault").textContent = fault; at("fault").hidden = false; }

function start(films) {
  const canvas = at("view"), overlay = at("overlay"), painter = new Painter(canvas, films), sheet = document.createElement("canvas");
  if (!painter.gl) return say("This browser cannot draw with WebGL 2.");
  const film = films[0], camera = new Camera(film), low = Math.min(...films.map(f => f.start)), high = Math.max(...films.map(f => f.end));
  const timed = film.clock[1] === "s", grains = film.cells !== null && film.radii.every(r => r !== null);
  let now = low, playing = false, stamp = 0, asked = false, picked = null, following = null, detail = FINE, shadows = true, effort = 0, slow = 0, quick = 0, draws = 0, media = null;
  const alphas = films.map(f => new Float32Array(f.count).fill(1));
  const plot = new Plot(films, time => { if (time !== null) go(time); redraw(); });
  const ratio = () => window.devicePixelRatio || 1;

  // Rates: of time if the clock is one, otherwise so that the film lasts as long as others.
  const natural = (high - low) / LASTS_S || 1;
  for (const rate of timed ? RATES : [0.2, 0.5, 1, 2, 5]) at("rate").add(new Option(rate === 1 ? (timed ? "real time" : "1 ×") : rate < 1 ? `1/${Math.round(1 / rate)}` : `${rate} ×`, rate));
  at("rate").value = timed ? RATES.filter(rate => rate <= natural).at(-1) ?? RATES[0] : 1;
  const pace = () => Number(at("rate").value) * (timed ? 1 : natural);

  for (const name of coloursOf(film)) at("colour").add(new Option(COLOURS[name].words, name));
  at("forces-label").hidden = !film.contactCount;
  if (grains) { at("forces").checked = false; at("forces-label").lastElementChild.textContent = "Force chains"; }
  at("time").min = low;
  at("time").max = high;

  function fill(when) {
    const by = at("colour").value, ground = css("--ground"), other = css("--other"), accent = css("--accent"), opacity = Number(at("opacity").value);
    films.forEach((f, number) => {
      const moment = when[number], loads = by === "force" ? f.loads(f.frameAt(now)) : null;
      for (const batch of painter.looks[number]) {
        let k = 0;
        batch.through = false;
        for (const body of batch.bodies) {
          const radius = f.radii[body], size = batch.scaled ? radius : 1;
          f.pose(batch.values, k, body, moment);
          let colour = f.fixed[body] ? ground : number ? other : colourOf(by, f, body, moment, loads);
          if (picked && picked.film === number && picked.body === body) colour = colour.map((c, i) => 0.35 * c + 0.65 * accent[i]);
          const alpha = !f.there(body, moment) ? 0 : alphas[number][body] * (batch.look.unbounded ? 1 : number ? 0.45 * opacity : opacity);
          batch.through ||= alpha > 0 && alpha < 1;
          batch.finish(k, [size, size, size], colour, alpha, number * 0x800000 + body + 1);
          k += STRIDE;
        }
        // Ground of the second film would hide that of the first.
        batch.count = number && batch.look.unbounded ? 0 : batch.bodies.length;
        batch.upload();
      }
    });
    fillConnections(when);
    fillForces(when[0]);
  }
  function between(batch, from, to, width, colour) {
    const way = minus(to, from), length = Math.hypot(...way);
    if (length > 1e-9 * camera.size) batch.add(from, towards(way), [width, width, length], colour);
  }
  function fillConnections(when) {
    const { rod, ball, coil } = painter.forms, soft = css("--soft"), accent = css("--accent"), width = 0.006 * camera.size;
    for (const batch of [rod, ball, coil]) batch.count = 0;
    films.forEach((f, number) => {
      const moment = when[number], colour = number ? css("--other") : soft;
      for (const [, kind, first, second, a, b, axis] of f.connections) {
        if ([first, second].some(body => body >= 0 && !(f.there(body, moment) && alphas[number][body] > 0))) continue;
        const from = f.pointOf(first, a, moment), to = f.pointOf(second, b, moment);
        if (kind === "spring") between(coil, from, to, 2.2 * width, number ? colour : accent);
        else if (kind === "column" || kind === "distance") between(rod, from, to, width, colour);
        else if (kind === "contact" || kind === "actuator" || kind === "bushing") between(rod, from, to, 0.5 * width, colour);
        if (["revolute", "cylindrical", "prismatic"].includes(kind)) {
          const along = times(turned(f.poseOf(second, moment).turn, axis), (kind === "revolute" ? 2.5 : 5) * width);
          between(rod, minus(to, along), plus(to, along), 1.3 * width, number ? colour : accent);
        } else if (!["spring", "column", "contact"].includes(kind)) ball.add(to, [1, 0, 0, 0], [1.5 * width, 1.5 * width, 1.5 * width], number ? colour : accent);
      }
      if (f.cells) {
        const edge = [0, 1, 2].map(k => (1 - moment.share) * f.cells[3 * moment.frame + k] + moment.share * f.cells[3 * moment.next + k]);
        for (let k = 0; k < 3; k++) for (const [u, v] of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
          const corner = [0, 0, 0];
          corner[(k + 1) % 3] = u * edge[(k + 1) % 3];
          corner[(k + 2) % 3] = v * edge[(k + 2) % 3];
          const far = [...corner];
          far[k] = edge[k];
          between(rod, corner, far, 0.002 * camera.size, number ? colour : soft);
        }
      }
    });
    for (const batch of [rod, ball, coil]) batch.upload();
  }
  // Forces of the first film: a spike from each contact, its length as the cube root of the force, so that weights show
  // beside impacts. Of grains those contacts that bear more than the mean (Radjai et al., 1998), as bars between centres.
  function fillForces(moment) {
    const { spike, chain } = painter.forces, colour = css("--force");
    spike.count = chain.count = 0;
    if (at("forces").checked && film.contactCount) {
      const [from, to] = film.contactsIn(film.frameAt(now)), strongest = film.contacts.strongest;
      const contacts = Array.from({ length: to - from }, (_, i) => film.contact(from + i)), sizes = contacts.map(c => Math.hypot(...c.force));
      const mean = sizes.reduce((a, b) => a + b, 0) / (sizes.length || 1);
      contacts.forEach(({ place, force, pair }, i) => {
        const size = sizes[i];
        if (!(size > 0)) return;
        if (grains) {
          if (size < mean) return;
          const here = film.poseOf(pair[0], moment).origin, half = minus(place, here), width = 0.35 * Math.min(1, Math.cbrt(size / strongest)) * film.radii[pair[0]];
          between(chain, here, place, width, colour);
          if (pair[1] >= 0) between(chain, place, plus(place, times(unit(half), film.radii[pair[1]])), width, colour);
        } else {
          const length = 0.22 * camera.size * Math.cbrt(size / strongest), wide = 0.004 * camera.size + 0.025 * length;
          spike.add(place, towards(force), [wide, wide, length], colour);
        }
      });
    }
    spike.upload();
    chain.upload();
  }

  const digits = Math.min(Math.max((timed ? 3 : 2) - Math.floor(Math.log10(high - low || 1)), 0), 6);
  function words() { return `${timed ? "" : `${film.clock[0]} `}${now.toFixed(digits)} of ${high.toFixed(digits)} ${film.clock[1]}`.trim(); }
  function draw() {
    asked = false;
    const scale = Math.max(1, Math.min(ratio() * detail, 2)) * Math.min(1, detail), [w, h] = [canvas.clientWidth, canvas.clientHeight].map(x => Math.max(1, Math.round(x * scale)));
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
    const when = films.map(f => f.at(now));
    if (following) {
      const { origin } = films[following.film].poseOf(following.body, when[following.film]);
      camera.target = plus(camera.target, minus(origin, following.at));
      following.at = origin;
    }
    fill(when);
    painter.paint(camera, grains, shadows);
    drawOverlay(overlay, camera, ratio());
    plot.draw(now, ratio());
    at("time").value = now;
    at("clock").textContent = words();
    at("time").setAttribute("aria-valuetext", words());
    if (picked) tell(when[picked.film]);
    if (media) composed(sheet, canvas, overlay, words());
    canvas.dataset.draws = ++draws;
  }
  // While a hand moves the picture it is drawn plainly, and finely when the hand rests.
  let resting = 0;
  function moving() {
    [detail, shadows] = EFFORTS[effort];
    redraw();
    clearTimeout(resting);
    resting = setTimeout(() => { if (!playing) { detail = FINE; shadows = true; redraw(); } }, 250);
  }
  function redraw() { if (!asked) { asked = true; requestAnimationFrame(draw); } }
  // Where drawing takes long, as without a graphics card, the picture gets coarser while it moves.
  function tick(ms) {
    if (!playing) return;
    const passed = stamp ? ms - stamp : 0;
    slow = passed > SLOW_MS ? slow + 1 : 0;
    quick = passed < QUICK_MS ? quick + 1 : 0;
    if (slow >= SLOW_FRAMES && effort < EFFORTS.length - 1) { effort++; slow = 0; }
    if (quick >= QUICK_FRAMES && effort) { effort--; quick = 0; }
    [detail, shadows] = EFFORTS[effort];
    now += Math.min(passed, 250) / 1000 * pace();
    stamp = ms;
    if (now >= high) { now = high; play(false); }
    draw();
    if (playing) requestAnimationFrame(tick);
  }
  function play(on) {
    if (on && now >= high) now = low;
    playing = on;
    stamp = slow = quick = 0;
    [detail, shadows] = on ? EFFORTS[effort] : [FINE, true];
    if (!on) redraw();
    at("play").textContent = on ? "Pause" : "Play";
    at("play").setAttribute("aria-pressed", on);
    if (on) requestAnimationFrame(tick);
    else if (media) setTimeout(() => { media?.finish(); media = null; at("webm").textContent = "WebM"; }, 300);
  }
  function go(time) { play(false); now = Math.min(Math.max(time, low), high); redraw(); }
  function legend() {
    const { strongest } = film.contacts;
    const chains = `Contacts that bear more than the mean; largest force ${toldWith(strongest, "N")}`;
    const spikes = `Contact force; longest ${toldWith(strongest, "N")}, length as its cube root`;
    at("legend").innerHTML = legendOf(at("colour").value, film, at("forces").checked && film.contactCount && strongest > 0 ? (grains ? chains : spikes) : "");
    for (const note of [...film.notes, ...(films[1] ? [`Second run, see-through: ${films[1].title}`] : [])]) {
      const line = document.createElement("p");
      line.textContent = note;
      at("legend").append(line);
    }
    at("legend").hidden = !at("legend").children.length;
  }
  function tell(when) {
    const f = films[picked.film], body = picked.body, { origin } = f.poseOf(body, when), load = f.contactCount ? f.loads(f.frameAt(now))[body] : 0;
    const rows = [["place", origin.map(told).join(", ") + " m"], ["speed", toldWith(f.speed(body, when), "m/s")], ["displacement", toldWith(f.moved(body, when), "m")],
      ["rotation", `${told(f.turnedBy(body, when) * 180 / Math.PI)}°`]];
    if (f.radii[body] !== null) rows.push(["radius", toldWith(f.radii[body], "m")]);
    if (load) rows.push(["contact forces", toldWith(load, "N")]);
    at("picked-name").textContent = f.names[body] + (films.length > 1 ? `, ${f.title}` : "");
    const table = at("picked-values");
    table.replaceChildren();
    for (const [name, value] of rows) { const row = table.insertRow(); row.insertCell().textContent = name; row.insertCell().textContent = f.there(body, when) ? value : "–"; }
  }
  function pick(number, body) {
    picked = body < 0 ? null : { film: number, body };
    at("picked").hidden = !picked;
    if (!picked) following = null;
    pressed();
    redraw();
  }
  function pressed() {
    at("follow").setAttribute("aria-pressed", Boolean(following));
    at("through").setAttribute("aria-pressed", Boolean(picked) && alphas[picked.film][picked.body] === THROUGH);
    at("all").hidden = alphas.every(list => list.every(a => a === 1));
  }
  const onPicked = change => () => { if (picked) { change(alphas[picked.film], picked); pressed(); redraw(); } };
  const acts = {
    follow: onPicked((_, { film: number, body }) => {
      following = following ? null : { film: number, body, at: films[number].poseOf(body, films[number].at(now)).origin };
      if (following) camera.target = [...following.at];
    }),
    through: onPicked((alpha, { body }) => { alpha[body] = alpha[body] === 1 ? THROUGH : 1; }),
    hide: onPicked((alpha, { body }) => { alpha[body] = 0; pick(0, -1); }),
    alike: onPicked((alpha, { film: number, body }) => {
      const batch = painter.looks[number].find(b => b.bodies.includes(body));
      for (const other of batch.bodies) alpha[other] = 0;
      pick(0, -1);
    }),
    unpick: () => pick(0, -1),
    all: () => { for (const list of alphas) list.fill(1); pressed(); redraw(); },
    play: () => play(!playing),
    png: () => { play(false); draw(); composed(sheet, canvas, overlay, words()); sheet.toBlob(blob => download(blob, fileName(film.title, "png"))); },
    webm: () => {
      if (media) return play(false);
      now = low;
      draw();
      composed(sheet, canvas, overlay, "");
      media = recorder(sheet, fileName(film.title, "webm"));
      at("webm").textContent = "Stop";
      play(true);
    },
  };
  for (const [id, act] of Object.entries(acts)) at(id).addEventListener("click", act);
  at("time").addEventListener("input", e => go(Number(e.target.value)));
  for (const id of ["colour", "forces"]) at(id).addEventListener("change", () => { legend(); redraw(); });
  // Chains are inside the packing: it is seen through while they show.
  if (grains) at("forces").addEventListener("change", e => { at("opacity").value = e.target.checked ? 0.15 : 1; });
  at("opacity").addEventListener("input", redraw);
  const see = preset => { camera.see(preset); at("preset").value = preset; following = null; pressed(); redraw(); };
  at("preset").addEventListener("change", e => see(e.target.value));
  window.addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  const held = new Map();
  let pressedAt = null;
  canvas.addEventListener("pointerdown", e => { canvas.setPointerCapture(e.pointerId); held.set(e.pointerId, [e.clientX, e.clientY]); pressedAt = [e.clientX, e.clientY]; });
  canvas.addEventListener("pointerup", e => {
    if (pressedAt && held.size === 1 && Math.hypot(e.clientX - pressedAt[0], e.clientY - pressedAt[1]) < 4) {
      const scale = canvas.width / canvas.clientWidth, id = painter.pick(camera, Math.floor(e.offsetX * scale), Math.floor(e.offsetY * scale));
      const number = id >= 0x800000 ? 1 : 0, body = (id & 0x7fffff) - 1;
      pick(number, body >= 0 && films[number].fixed[body] ? -1 : body);
    }
    held.delete(e.pointerId);
  });
  canvas.addEventListener("pointercancel", e => held.delete(e.pointerId));
  canvas.addEventListener("pointermove", e => {
    const before = held.get(e.pointerId);
    if (!before) return;
    const [dx, dy] = [e.clientX - before[0], e.clientY - before[1]];
    if (held.size === 2) {
      const [other] = [...held.entries()].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
      const far = p => Math.max(Math.hypot(p[0] - other[0], p[1] - other[1]), 1);
      camera.near(far(before) / far([e.clientX, e.clientY]));
    } else if (e.shiftKey || e.buttons & 2) camera.shift(dx / canvas.clientHeight, dy / canvas.clientHeight);
    else camera.orbit(dx * 0.008, dy * 0.008);
    held.set(e.pointerId, [e.clientX, e.clientY]);
    moving();
  });
  canvas.addEventListener("contextmenu", e => e.preventDefault());
  canvas.addEventListener("wheel", e => { e.preventDefault(); camera.near(Math.exp(Math.sign(e.deltaY) * 0.12)); moving(); }, { passive: false });
  const ORBIT = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
  const next = () => {
    const free = film.names.map((_, k) => k).filter(k => !film.fixed[k]);
    if (free.length) pick(0, free[(picked ? free.indexOf(picked.body) + 1 : 0) % free.length]);
  };
  const KEYS = {
    "+": () => camera.near(0.85), "=": () => camera.near(0.85), "-": () => camera.near(1 / 0.85), f: () => at("forces").click(), n: next, g: acts.follow,
    c: () => { at("colour").selectedIndex = (at("colour").selectedIndex + 1) % at("colour").length; legend(); },
    t: acts.through, h: acts.hide, a: acts.all, r: () => see("first"), 1: () => see("front"), 2: () => see("side"), 3: () => see("top"), 4: () => see("corner"),
  };
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.tagName === "SELECT") return;
    const key = e.key.toLowerCase();
    if (e.target === canvas && ORBIT[e.key]) { camera.orbit(...ORBIT[e.key]); redraw(); }
    else if (key === " " && !["BUTTON", "SUMMARY"].includes(e.target.tagName) && e.target.type !== "checkbox") play(!playing);
    else if (key === "," || key === ".") go(film.times[Math.min(Math.max(film.frameAt(now) + (key === "." ? 1 : -1), 0), film.frames - 1)]);
    else if (KEYS[key]) { KEYS[key](); redraw(); }
    else return;
    e.preventDefault();
  });

  films.forEach((f, number) => {
    if (films.length > 1) at("facts").append(Object.assign(document.createElement("h2"), { textContent: f.title }));
    const table = at("facts").appendChild(document.createElement("table"));
    for (const [name, value] of Object.entries(f.facts)) { const row = table.insertRow(); row.insertCell().textContent = name; row.insertCell().textContent = value; }
    if (!table.rows.length && !number) at("facts").append("No parameter varies.");
  });
  // A page opened as run.html#t=0.25&view=top&colour=body starts so.
  const wanted = new URLSearchParams(location.hash.slice(1));
  if (wanted.get("t")) now = Math.min(Math.max(Number(wanted.get("t")), low), high);
  if (wanted.get("view")) see(wanted.get("view"));
  if (COLOURS[wanted.get("colour")]) at("colour").value = wanted.get("colour");
  if (wanted.get("opacity")) at("opacity").value = wanted.get("opacity");
  if (wanted.get("forces")) at("forces").checked = wanted.get("forces") === "1";
  if (wanted.get("body")) pick(0, film.names.indexOf(wanted.get("body")));
  legend();
  draw();
  document.body.dataset.drawn = "true";
}

if (!window.DecompressionStream) say("This browser cannot unpack the film: it has no DecompressionStream.");
else unpacked(at("film").textContent.trim()).then(start).catch(fault => { say(`The film cannot be drawn: ${fault.message}`); throw fault; });
