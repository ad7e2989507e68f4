// Axes and a scale bar over the picture.
const NAMES = ["x", "y", "z"], TINTS = ["#d1512d", "#2f8f4e", "#3b76c4"];
function drawOverlay(canvas, camera, ratio) {
  const width = canvas.clientWidth, height = canvas.clientHeight, pen = canvas.getContext("2d");
  const state = [width, height, ratio, camera.yaw, camera.pitch, camera.distance, cssText("--ink")].join();
  if (canvas.dataset.state === state) return;
  canvas.dataset.state = state;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  pen.scale(ratio, ratio);
  const { right, up, back } = camera.axes(), ink = cssText("--ink"), centre = [44, height - 40], length = 26;
  pen.font = "600 12px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineWidth = 2;
  for (const k of [0, 1, 2].sort((a, b) => back[a] - back[b])) {
    const [x, y] = [centre[0] + length * right[k], centre[1] - length * up[k]];
    pen.strokeStyle = pen.fillStyle = TINTS[k];
    pen.beginPath();
    pen.moveTo(...centre);
    pen.lineTo(x, y);
    pen.stroke();
    pen.fillText(NAMES[k], centre[0] + 1.35 * length * right[k] + (Math.hypot(right[k], up[k]) < 0.2 ? 8 : 0), centre[1] - 1.35 * length * up[k]);
  }
  // How long a metre is where the camera looks.
  const pixels = 0.5 * height * camera.zoom(width / height) / camera.distance, wanted = 110 / pixels;
  const decade = 10 ** Math.floor(Math.log10(wanted)), metres = decade * [5, 2, 1].find(n => n * decade <= wanted);
  const [left, base] = [96, height - 18], bar = metres * pixels;
  pen.strokeStyle = pen.fillStyle = ink;
  pen.beginPath();
  pen.moveTo(left, base - 5); pen.lineTo(left, base); pen.lineTo(left + bar, base); pen.lineTo(left + bar, base - 5);
  pen.stroke();
  pen.font = "12px system-ui, sans-serif";
  pen.fillText(toldWith(metres, "m"), left + bar / 2, base - 12);
}
