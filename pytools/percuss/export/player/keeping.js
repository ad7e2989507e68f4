// The picture with its overlay as a file: one frame as PNG, the whole film as WebM.
function composed(sheet, view, overlay, words) {
  sheet.width = view.width;
  sheet.height = view.height;
  const pen = sheet.getContext("2d"), ratio = view.width / view.clientWidth;
  pen.drawImage(view, 0, 0);
  pen.drawImage(overlay, 0, 0, sheet.width, sheet.height);
  pen.scale(ratio, ratio);
  pen.font = "14px system-ui, sans-serif";
  pen.fillStyle = cssText("--ink");
  pen.textAlign = "right";
  pen.fillText(words, view.clientWidth - 14, view.clientHeight - 14);
}
function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const fileName = (title, ending) => `${title.replace(/[^\p{L}\p{N}.-]+/gu, "-").replace(/^-|-$/g, "")}.${ending}`;
// Records what is drawn until it is finished; a slow machine gets the time to encode what a short film has shown.
const ENCODED_BYTES = 1000, TRIES = 40;
function recorder(sheet, name) {
  const stream = sheet.captureStream(30), parts = [];
  let tries = 0;
  const type = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find(t => MediaRecorder.isTypeSupported(t));
  const media = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 8e6 });
  media.ondataavailable = e => parts.push(e.data);
  media.onstop = () => download(new Blob(parts, { type: "video/webm" }), name);
  media.start(250);
  return {
    finish() {
      if (parts.some(part => part.size > ENCODED_BYTES) || tries++ === TRIES) media.stop();
      else setTimeout(this.finish.bind(this), 250);
    },
  };
}
