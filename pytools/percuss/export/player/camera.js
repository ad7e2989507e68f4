// From where the picture is seen.
class Camera {
  constructor(film) {
    const [low, high] = film.bounds;
    this.middle = low.map((x, k) => 0.5 * (x + high[k]));
    this.extent = minus(high, low);
    this.size = Math.max(Math.hypot(...this.extent), 1e-9);
    this.see("first");
  }
  // First the longer side, a bit from the end and from above.
  see(preset) {
    const [x, y] = this.extent;
    const ways = { first: y < 0.75 * x ? [-1.35, 0.2] : x < 0.75 * y ? [-2.7, 0.3] : [-2.2, 0.35], front: [-Math.PI / 2, 0], side: [0, 0], top: [-Math.PI / 2, 1.5707], corner: [-0.9, 0.45] };
    [this.yaw, this.pitch] = ways[preset];
    this.target = [...this.middle];
    this.distance = this.fitting();
  }
  // From how far all corners of the box are in the picture.
  fitting() {
    this.distance = this.size;
    const { right, up, back } = this.axes(), seen = 0.9 * Math.tan(0.35);
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const p = this.extent.map((e, k) => (corner >> k & 1 ? 0.5 : -0.5) * e);
      distance = Math.max(distance, dot(p, back) + Math.max(Math.abs(dot(p, up)), Math.abs(dot(p, right)) / 1.6) / seen);
    }
    return distance;
  }
  eye() {
    const { target, distance, yaw, pitch } = this;
    return [target[0] + distance * Math.cos(pitch) * Math.cos(yaw), target[1] + distance * Math.cos(pitch) * Math.sin(yaw),
      target[2] + distance * Math.sin(pitch)];
  }
  axes() {
    const back = unit(minus(this.eye(), this.target)), right = [-Math.sin(this.yaw), Math.cos(this.yaw), 0];
    return { right, up: cross(back, right), back };
  }
  // A narrow picture sees as much across as one of 16 to 10.
  zoom(aspect) { return 1 / Math.tan(0.35) * Math.min(1, aspect / 1.6); }
  matrix(aspect) {
    const from = this.eye(), { right, up, back } = this.axes();
    const view = [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right, from), -dot(up, from), -dot(back, from), 1];
    const near = this.distance / 200, far = this.distance + 40 * this.size, f = this.zoom(aspect);
    return product4([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0], view);
  }
  orbit(x, y) { this.yaw -= x; this.pitch = Math.min(Math.max(this.pitch + y, -1.5707), 1.5707); }
  near(factor) { this.distance = Math.min(Math.max(this.distance * factor, 0.01 * this.size), 20 * this.size); }
  shift(x, y) {
    const { right, up } = this.axes();
    this.target = this.target.map((t, k) => t + this.distance * (-x * right[k] + y * up[k]));
  }
}
