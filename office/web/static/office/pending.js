// A text on its way to the office, at the end of the thread: being sent, waiting for the network, or refused.

import { button, el, icon, monogram } from "./dom.js";
import { say } from "./words.js";

const SHOWN = 1_500; // the whole text is in the outbox; here its beginning is enough

export class PendingView {
  constructor(item, outbox, office) {
    this.outbox = outbox;
    this.office = office;
    const { name } = office.me;
    this.status = el("span.pending-status");
    this.actions = el("span.pending-actions");
    const foot = el("footer.message-foot", {}, this.status, this.actions);
    const long = item.text.length > SHOWN;
    const words = long ? `${Array.from(item.text.slice(0, SHOWN)).slice(0, -1).join("")}…` : item.text;
    const body = el("div.message-body.prose.message-plain", { dir: "auto" }, words);
    const head = el("header.message-head", {}, el("span.message-author", {}, name));
    const avatar = el("span.message-avatar", {}, monogram(name, undefined, "person"));
    this.el = el("article.message.message-own.message-pending", { dataset: { pending: item.id }, "aria-label": name }, avatar, el("div.message-main", {}, head, body, foot));
  }

  update(item) {
    this.el.dataset.state = item.state;
    const refused = item.state === "refused";
    const words = refused ? say("composer.not_sent", { reason: item.error }) : item.error ? say("composer.waiting") : say("composer.sending");
    this.status.replaceChildren(...(refused ? [icon("alert")] : []), words);
    this.status.setAttribute("role", refused ? "alert" : "status");
    this.actions.replaceChildren(...(refused || item.error ? this.ways(item, refused) : []));
  }

  ways(item) {
    const retry = button(say("composer.retry"), () => this.outbox.retry(item.id), { kind: "button.button-small", icon: "again", "data-testid": "resend" });
    const edit = button(say("composer.edit_again"), () => this.takeBack(item), { kind: "button.button-small", icon: "pencil", "data-testid": "take-back" });
    return [retry, edit];
  }

  /** Back into the composer, with whatever stands there already kept below it. */
  takeBack(item) {
    this.outbox.settle(item.id);
    this.office.giveBack(item);
  }
}
