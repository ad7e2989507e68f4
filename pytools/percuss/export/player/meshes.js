// Forms that every page has: ball, rod and cone of unit size from z = 0 to 1, and a coil.
function formed(places, normals, triangles) {
  return { places: new Float32Array(places.flat()), normals: new Int8Array(normals.flat().map(x => Math.round(127 * x))),
    triangles: new Uint16Array(triangles.flat()), edges: new Uint16Array(0), closed: true };
}
// The look of bodies that have one form at any distance.
const single = mesh => ({ levels: [mesh], round: 0, unbounded: false });
function ballMesh(levels) {
  const g = (1 + Math.sqrt(5)) / 2;
  const places = [[-1, g, 0], [1, g, 0], [-1, -g, 0], [1, -g, 0], [0, -1, g], [0, 1, g], [0, -1, -g], [0, 1, -g],
    [g, 0, -1], [g, 0, 1], [-g, 0, -1], [-g, 0, 1]].map(unit);
  let faces = [[0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11], [1, 5, 9], [5, 11, 4], [11, 10, 2], [10, 7, 6],
    [7, 1, 8], [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9], [4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1]];
  for (let level = 0; level < levels; level++) {
    const middles = new Map();
    const middle = (a, b) => {
      const key = Math.min(a, b) * 65536 + Math.max(a, b);
      if (!middles.has(key)) { middles.set(key, places.length); places.push(unit(plus(places[a], places[b]))); }
      return middles.get(key);
    };
    faces = faces.flatMap(([a, b, c]) => {
      const [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
      return [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]];
    });
  }
  return formed(places, places, faces);
}
function rodMesh(sides, top, capped = true) {
  const places = [], normals = [], faces = [];
  for (let k = 0; k < sides; k++) {
    const [x, y] = [Math.cos(2 * Math.PI * k / sides), Math.sin(2 * Math.PI * k / sides)];
    places.push([x, y, 0], [top * x, top * y, 1]);
    normals.push([x, y, 0], [x, y, 0]);
    const a = 2 * k, b = 2 * ((k + 1) % sides);
    faces.push([a, b, b + 1], [a, b + 1, a + 1]);
  }
  for (const [z, radius, way] of capped ? [[0, 1, -1], [1, top, 1]] : []) {
    const centre = places.length;
    places.push([0, 0, z]);
    normals.push([0, 0, way]);
    for (let k = 0; k < sides; k++) {
      places.push([radius * Math.cos(2 * Math.PI * k / sides), radius * Math.sin(2 * Math.PI * k / sides), z]);
      normals.push([0, 0, way]);
      const [a, b] = [centre + 1 + k, centre + 1 + (k + 1) % sides];
      faces.push(way > 0 ? [centre, a, b] : [centre, b, a]);
    }
  }
  return formed(places, normals, faces);
}
function coilMesh(windings, steps, sides) {
  const places = [], normals = [], faces = [], count = windings * steps;
  for (let i = 0; i <= count; i++) {
    const angle = 2 * Math.PI * i / steps, z = i / count, out = [Math.cos(angle), Math.sin(angle), 0];
    for (let k = 0; k < sides; k++) {
      const [c, s] = [Math.cos(2 * Math.PI * k / sides), Math.sin(2 * Math.PI * k / sides)];
      places.push([out[0] * (1 + 0.16 * c), out[1] * (1 + 0.16 * c), z + 0.022 * s]);
      normals.push([out[0] * c, out[1] * c, s]);
      if (i < count) {
        const [a, b] = [i * sides + k, i * sides + (k + 1) % sides];
        faces.push([a, a + sides, b], [b, a + sides, b + sides]);
      }
    }
  }
  return { ...formed(places, normals, faces), closed: false };
}
