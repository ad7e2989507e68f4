// Search from file://. Browsers refuse workers there; this runs the search script in a hidden frame instead, behind the
// same interface. Elsewhere workers are left as they are.
if (location.protocol === "file:") {
  // The search script looks for this name to find its parts.
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.ready = new Promise((resolve) => {
        const inside = frame.contentWindow;
        // What the script inside posts comes to whoever holds the worker.
        inside.postMessage = (data) => {
          const event = new MessageEvent("message", { data });
          this.dispatchEvent(event);
          if (this.onmessage) this.onmessage(event);
        };
        // It loads its parts by script elements: one after the other, each awaited.
        inside.importScripts = (...urls) =>
          urls.reduce((before, part) => before.then(() => load(inside, part)), Promise.resolve());
        load(inside, url).then(() => resolve(inside));
      });
      this.frame = frame;
    }
    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };

  function load(inside, url) {
    return new Promise((resolve, reject) => {
      const script = inside.document.createElement("script");
      script.src = new URL(url, location.href);
      script.onload = resolve;
      script.onerror = reject;
      inside.document.body.append(script);
    });
  }
}
