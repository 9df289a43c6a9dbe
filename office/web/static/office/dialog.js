// Modal windows on the browser's own <dialog>: it keeps the focus inside, closes on Escape and gives the focus back.

import { button, el, iconButton } from "./dom.js";
import { say } from "./words.js";

let number = 0;

/** Opens a window; returns {dialog, close}. `wide` for reading, `onclose` when it is gone. */
export function openDialog(title, content, { wide = false, actions = [], onclose, testid } = {}) {
  const id = `dialog-${++number}`;
  const close = () => dialog.close();
  const head = el("header.dialog-head", {}, el("h2", { id }, title), iconButton("close", say("page.close"), close));
  const foot = actions.length ? el("footer.dialog-foot", {}, ...actions) : null;
  const dialog = el(`dialog.dialog${wide ? ".dialog-wide" : ""}`, { "aria-labelledby": id, "data-testid": testid }, head, el("div.dialog-body", {}, content), foot);
  dialog.addEventListener("click", (event) => event.target === dialog && !dialog.querySelector("form") && close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    onclose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, close };
}

/** Asks before something that cannot be taken back. */
export function confirmed(title, words, label) {
  return new Promise((resolve) => {
    let answer = false;
    const yes = button(label, () => {
      answer = true;
      opened.close();
    }, { kind: "button.button-danger", "data-testid": "confirm" });
    const no = button(say("page.cancel"), () => opened.close(), { autofocus: true });
    const opened = openDialog(title, el("p", {}, words), { actions: [no, yes], onclose: () => resolve(answer) });
  });
}
