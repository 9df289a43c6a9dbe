// Short words at the edge of the screen: seen, heard, and gone by themselves.

import { el } from "./dom.js";
import { alert, announce } from "./announce.js";

const shelfOfToasts = document.querySelector("[data-toasts]");

/** Above an open window too: what was shown last lies on top. */
function raise() {
  if (!shelfOfToasts.showPopover) return;
  if (shelfOfToasts.matches(":popover-open")) shelfOfToasts.hidePopover();
  shelfOfToasts.showPopover();
}

export function toast(words, { failed = false } = {}) {
  if ([...shelfOfToasts.children].some((one) => one.textContent === words)) return;
  const node = el(`p.toast${failed ? ".toast-failed" : ""}`, { "data-testid": "toast" }, words);
  shelfOfToasts.append(node);
  raise();
  (failed ? alert : announce)(words);
  setTimeout(() => node.remove(), failed ? 7000 : 3500);
}
