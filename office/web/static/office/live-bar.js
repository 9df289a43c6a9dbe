// One line that tells how live the page is. Silence means all is well.

import { alert } from "./announce.js";
import { pageUrl } from "./api.js";
import { button, el } from "./dom.js";
import { say } from "./words.js";

const PATIENCE_MS = 1_500; // a short break is nobody's business

export class LiveBar {
  constructor(host) {
    this.host = host;
  }

  show(word) {
    if (this.word === "signed_out") return; // nothing but a new sign-in changes that
    this.word = this.host.dataset.state = word;
    clearTimeout(this.timer);
    if (word === "live") this.host.hidden = true;
    else if (word === "connecting" || word === "catching_up") this.timer = setTimeout(() => this.draw(word), PATIENCE_MS);
    else this.draw(word);
  }

  draw(word) {
    const parts = [el("span", {}, say(`live.${word}`))];
    if (word === "signed_out") {
      parts.push(el("a.button.button-small", { href: `${pageUrl("signin/")}?next=${encodeURIComponent(location.pathname)}`, "data-testid": "sign-in-again" }, say("live.sign_in_again")));
      alert(say("live.signed_out"));
    }
    if (word === "refused") parts.push(button(say("live.reload"), () => location.reload(), { kind: "button.button-small" }));
    this.host.replaceChildren(...parts);
    this.host.hidden = false;
  }
}
