// Editing one's own message in its place: a new version is sent, the old one stays beside it.

import { button, el } from "./dom.js";
import { newId } from "./ids.js";
import { watchKeys } from "./keys.js";
import { shelf } from "./shelf.js";
import { say } from "./words.js";

/** The form; `done` puts the message back. What is typed is kept until it is stored or given up. */
export function editor(message, deeds, done) {
  const key = `edit:${message.id}`;
  let tried = null; // one id for all tries of the same words
  const field = el("textarea.edit-field", { value: shelf.get(key) ?? message.text, rows: 3, "aria-label": say("thread.edit_label"), "data-testid": "edit-field", dir: "auto" });
  const wrong = el("p.field-error", { role: "alert", hidden: true });
  const finish = () => {
    shelf.set(key, null);
    done();
  };
  const save = async () => {
    if (!field.value.trim() || send.disabled) return;
    send.disabled = true;
    wrong.hidden = true;
    if (tried?.text !== field.value) tried = { text: field.value, id: newId() };
    try {
      await deeds.edit(message, tried.text, tried.id);
      finish();
    } catch (problem) {
      wrong.textContent = problem.message;
      wrong.hidden = false;
    } finally {
      send.disabled = false;
    }
  };
  const send = button(say("thread.edit_send"), save, { kind: "button.button-small.button-main", "data-testid": "edit-send" });
  const cancel = button(say("page.cancel"), finish, { kind: "button.button-small" });
  field.addEventListener("input", () => shelf.set(key, field.value));
  watchKeys(field, { send: save, cancel: finish });
  const hint = el("p.field-hint", {}, say("thread.edit_hint"));
  return el("div.edit", {}, field, wrong, hint, el("div.edit-actions", {}, send, cancel));
}
