// Suggestions of coworkers after an at sign, also the full-width one of Japanese input.

import { announce } from "./announce.js";
import { el, monogram } from "./dom.js";
import { say } from "./words.js";

// The query may hold what stands in names; a letter or digit before the sign makes it an address.
const ASKING = /(?:^|[^\p{Script=Latin}\p{N}_@＠])[@＠]([^\s@＠]{0,40})$/u;

export class Mentions {
  constructor(field, mentionable) {
    this.field = field;
    this.mentionable = mentionable;
    this.el = el("ul.mentions", { id: "mentions", role: "listbox", "aria-label": say("composer.coworkers"), hidden: true, "data-testid": "mentions" });
    this.found = [];
    this.at = 0;
    field.setAttribute("aria-controls", "mentions");
    field.addEventListener("click", () => this.look());
    field.addEventListener("blur", () => setTimeout(() => document.activeElement !== field && this.close(), 150));
  }

  get isOpen() {
    return !this.el.hidden;
  }

  /** Opens, narrows or closes by what stands before the caret. */
  look() {
    const { value, selectionStart } = this.field;
    const query = document.activeElement === this.field ? ASKING.exec(value.slice(Math.max(0, selectionStart - 60), selectionStart))?.[1] : undefined;
    if (query === undefined) return this.close();
    const wanted = fold(query);
    const found = this.mentionable().filter((one) => fold(one.name).startsWith(wanted) || fold(one.title).includes(wanted));
    if (!found.length || found.some((one) => wanted && fold(one.name) === wanted)) return this.close();
    const before = this.isOpen;
    this.query = query;
    this.found = found.slice(0, 8);
    this.at = 0;
    this.draw();
    if (!before) announce(say("composer.suggestions", { count: this.found.length }));
  }

  draw() {
    this.el.hidden = false;
    this.el.replaceChildren(...this.found.map((one, index) => this.option(one, index)));
    this.field.setAttribute("aria-activedescendant", `mention-${this.at}`);
    this.el.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  option(one, index) {
    const choose = (event) => {
      event.preventDefault(); // the caret stays in the field
      this.choose(index);
    };
    const parts = [monogram(one.name, one.hue), el("span.mention-name", {}, one.name), el("span.mention-title", {}, one.title)];
    return el("li.mention", { id: `mention-${index}`, role: "option", "aria-selected": String(index === this.at), onpointerdown: choose }, ...parts);
  }

  close() {
    this.el.hidden = true;
    this.found = [];
    this.field.removeAttribute("aria-activedescendant");
  }

  /** True when the key was for the list. */
  key(event) {
    if (!this.isOpen || event.ctrlKey || event.metaKey) return false;
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) {
      this.at = (this.at + moves[event.key] + this.found.length) % this.found.length;
      this.draw();
    } else if (event.key === "Enter" || event.key === "Tab") this.choose(this.at);
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    return true;
  }

  choose(index) {
    const one = this.found[index];
    const end = this.field.selectionStart;
    this.field.setRangeText(say("composer.called", { name: one.name }), end - this.query.length - 1, end, "end");
    this.close();
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

const fold = (text) => (text || "").normalize("NFKC").toLowerCase();
