// Served from this machine: look every few seconds whether the ledger has grown, and show it again.
"use strict";
(() => {
  let known = null;
  const look = async () => {
    try {
      const said = await (await fetch("/head", { cache: "no-store" })).text();
      if (known !== null && said !== known) location.reload();
      known = said;
    } catch (fault) { /* the server has ended: the page stays as it is */ }
  };
  setInterval(look, 2000);
  look();
})();
