// Short words at the edge of the screen: seen, heard, and gone by themselves.

import { el } from "./dom.js";
import { alert, announce } from "./announce.js";

const shelfOfToasts = document.querySelector("[data-toasts]");

export function toast(words, { failed = false } = {}) {
  const node = el(`p.toast${failed ? ".toast-failed" : ""}`, { "data-testid": "toast" }, words);
  shelfOfToasts.append(node);
  (failed ? alert : announce)(words);
  setTimeout(() => node.remove(), failed ? 7000 : 3500);
}
