// Where one writes. The text is kept for each channel until it is sent, and comes back when a send is refused.

import { el, icon } from "./dom.js";
import { isTouch, watchKeys } from "./keys.js";
import { Mentions } from "./mentions.js";
import { shelf } from "./shelf.js";
import { say } from "./words.js";

const KEEP_MS = 250;
const TYPING_MS = 3_000;

export class Composer {
  /** `send(text)`, `typing()`, and `mentionable()`: the coworkers who can be called here, none in a DM. */
  constructor(host, { send, typing, mentionable }) {
    Object.assign(this, { sendText: send, typing, mentionable, channel: null, told: 0 });
    this.field = el("textarea.composer-field", { id: "composer-field", rows: 1, dir: "auto", "data-testid": "composer-field", disabled: true, enterkeyhint: isTouch() ? "enter" : "send", "aria-autocomplete": "list" });
    this.sendButton = el("button.send", { type: "submit", "aria-label": say("composer.send"), title: say("composer.send"), "data-testid": "send", disabled: true }, icon("send"));
    this.mention = el("button.icon-button.composer-at", { type: "button", onclick: () => this.startMention(), "aria-label": say("composer.mention"), title: say("composer.mention") }, "@");
    this.hint = el("span.composer-hint");
    this.list = new Mentions(this.field, mentionable);
    const row = el("div.composer-row", {}, this.mention, this.hint, this.sendButton);
    const form = el("form.composer", { "data-testid": "composer", onsubmit: (event) => this.submit(event) }, this.list.el, el("div.composer-box", {}, this.field, row));
    host.replaceChildren(form);
    this.field.addEventListener("input", () => this.changed());
    watchKeys(this.field, { first: (event) => this.list.key(event), send: () => this.submit(), cancel: () => this.list.close() });
    for (const moment of ["pagehide", "blur"]) addEventListener(moment, () => this.keep());
  }

  /** Puts the draft of another channel into the field. */
  show(channel, name) {
    this.keep();
    this.channel = channel;
    this.list.close();
    this.field.value = shelf.get(this.draftKey, "");
    const label = channel.kind === "dm" ? say("composer.to_coworker", { name }) : say("composer.to_channel", { name });
    this.field.placeholder = label;
    this.field.setAttribute("aria-label", label);
    this.mention.hidden = channel.kind === "dm";
    this.openness(channel);
  }

  /** An archived channel is closed for writing, also when that happens while one is in it; the draft stays. */
  openness(channel) {
    this.channel = channel;
    this.closed = this.field.disabled = channel.archived;
    this.changed({ typed: false });
  }

  get draftKey() {
    return `draft:${this.channel?.id}`;
  }

  focus() {
    if (!isTouch()) this.field.focus({ preventScroll: true });
  }

  /** A text that was not stored: in front of what has been written since. */
  giveBack(channel, text) {
    const key = `draft:${channel}`;
    const here = this.channel?.id === channel;
    const since = here ? this.field.value : shelf.get(key, "");
    const whole = since && since !== text ? `${text}\n\n${since}` : text;
    shelf.set(key, whole);
    if (here) {
      this.field.value = whole;
      this.changed({ typed: false });
      this.field.focus();
    }
  }

  changed({ typed = true } = {}) {
    this.fit();
    this.sendButton.disabled = this.closed || !this.field.value.trim();
    this.hint.textContent = this.closed ? say("composer.archived") : this.hintWords();
    this.list.look();
    if (!typed) return;
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), KEEP_MS);
    if (this.field.value && Date.now() - this.told > TYPING_MS) {
      this.told = Date.now();
      this.typing();
    }
  }

  hintWords() {
    if (this.channel?.kind !== "dm" && !/[@＠]/.test(this.field.value)) return say("composer.hint_mention");
    return isTouch() ? "" : say("composer.hint_keys");
  }

  /** Grows with the text, up to the height the style allows. */
  fit() {
    if (CSS.supports("field-sizing", "content")) return;
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight + 2}px`;
  }

  keep() {
    clearTimeout(this.keeping);
    if (this.channel) shelf.set(this.draftKey, this.field.value);
  }

  startMention() {
    const { field } = this;
    const before = field.value.slice(0, field.selectionStart);
    field.focus();
    field.setRangeText(before && !/\s$/.test(before) ? " @" : "@", field.selectionStart, field.selectionEnd, "end");
    this.changed();
  }

  submit(event) {
    event?.preventDefault();
    const text = this.field.value;
    if (!text.trim() || this.closed) return;
    this.field.value = "";
    this.changed({ typed: false });
    this.keep();
    this.sendText(text);
    this.field.focus({ preventScroll: true });
  }
}
