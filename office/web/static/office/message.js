// One place in the thread: a message, an answer that is being written, or one that failed. The same element goes from
// the first to the last, so that nothing moves when an answer is complete.

import { copyFrom, el, icon, iconButton, button, monogram } from "./dom.js";
import { StreamText } from "./stream-text.js";
import { versionPager, versionNotice } from "./versions.js";
import { editor } from "./edit.js";
import { count, say, timeOf, wholeTimeOf } from "./words.js";

const FOLD_OVER = 3_000;
const EXCERPT_OVER = 20_000; // laying out 200,000 characters in a row takes a browser a second
const EXCERPT = 2_000;

export class ItemView {
  /** `deeds` does what the buttons ask for; `people` finds names and colours. */
  constructor(deeds, people) {
    this.deeds = deeds;
    this.people = people;
    this.avatar = el("span.message-avatar");
    this.head = el("header.message-head");
    this.body = el("div.message-body.prose");
    this.notes = el("div.message-notes");
    this.foot = el("footer.message-foot");
    const main = el("div.message-main", {}, this.head, this.body, this.notes, this.foot);
    this.el = el("article.message", { dataset: { item: "" }, tabindex: "-1" }, this.avatar, main);
    this.viewing = null; // another version, looked at here only
    this.editing = null;
  }

  /** Draws an item of `itemsOf`; `open` says that its mission is still being worked on. */
  update(item, { open = false } = {}) {
    if (this.item?.run === item.run && this.item?.message === item.message && this.open === open) return;
    const before = this.item;
    this.item = item;
    this.open = open;
    if (item.kind === "run") this.drawRun(item.run, before);
    else this.drawMessage(before);
  }

  // -- an answer on its way ---------------------------------------------------------------------

  drawRun(run, before) {
    const coworker = this.people.coworker(run.coworker);
    this.viewing = null;
    this.mark({ run: run.id, state: run.state, phase: run.phase, author: "coworker", number: run.number });
    this.el.className = "message message-coworker";
    this.who(coworker.name, coworker.hue, "coworker");
    this.title(coworker.name, coworker.title, run.started);
    if (before?.kind !== "run" || before.run.id !== run.id) this.stream = new StreamText(this.body);
    if (this.drawn !== run.text) this.stream.set((this.drawn = run.text || ""));
    this.el.setAttribute("aria-busy", String(run.state === "running"));
    if (run.state === "failed" || run.state === "stopped") this.ended(run);
    else this.going(run);
  }

  /** More of the answer; `text` is all of it, `added` what is new. */
  append(run, added) {
    if (this.drawn + added !== run.text) this.stream.set(run.text);
    else this.stream.add(added);
    this.drawn = run.text;
    this.item = { ...this.item, run };
    if (this.el.dataset.phase !== run.phase) {
      this.mark({ run: run.id, state: run.state, phase: run.phase, author: "coworker", number: run.number });
      this.going(run);
    }
  }

  going(run) {
    const phase = run.state === "queued" ? "queued" : run.phase;
    const words = el("span.phase", { dataset: { phase } }, el("span.phase-dots", { "aria-hidden": "true" }, el("i"), el("i"), el("i")), phaseWord(phase));
    const stop = button(say("thread.stop"), () => this.deeds.stop(run, stop), { kind: "button.button-small", icon: "stop", "data-testid": "stop" });
    const remade = run.number ? el("p.message-note", {}, say("thread.remaking")) : null;
    this.notes.replaceChildren(...[remade].filter(Boolean));
    this.foot.replaceChildren(words, stop);
  }

  /** A run that left no message: what happened, in words, and the way on. */
  ended(run) {
    const failed = run.state === "failed";
    const reason = failed ? run.error?.message || say("thread.failed") : say("thread.stopped_early");
    const wait = run.error?.retry_after ? ` ${say("thread.retry_after", { seconds: count(Math.ceil(run.error.retry_after)) })}` : "";
    this.notes.replaceChildren(note(failed ? "failed" : "stopped", reason + wait));
    const again = button(say("thread.retry"), () => this.deeds.retry(run, again), { kind: "button.button-small", icon: "again", "data-testid": "retry" });
    this.foot.replaceChildren(again, this.receiptButton(() => this.deeds.receiptOfRun(run)));
  }

  // -- a message --------------------------------------------------------------------------------

  get shown() {
    return this.viewing || this.item.message;
  }

  drawMessage(before) {
    const current = this.item.message;
    if (before?.message?.id !== current.id || before.message.version !== current.version) this.viewing = null;
    this.drawn = null;
    this.stream = null;
    this.el.removeAttribute("aria-busy");
    this.redraw();
  }

  redraw() {
    const message = this.shown;
    const { kind, name, title, id } = message.author;
    const own = kind === "person" && id === this.people.me.id;
    this.mark({ number: message.number, state: message.state, run: message.run, author: kind, version: message.version });
    this.el.className = `message message-${message.kind === "notice" ? "notice" : own ? "own" : kind}`;
    this.el.dataset.current = String(message === this.item.message);
    this.who(name, kind === "coworker" ? this.people.coworker(id).hue : undefined, kind);
    this.title(name, title, message.created, message.state);
    if (this.editing && !own) this.editing = null;
    if (this.editing) return;
    this.words(message);
    this.notes.replaceChildren(...this.remarks(message));
    this.foot.replaceChildren(...this.actions(message, own));
  }

  words(message) {
    if (message.state === "retracted") {
      this.body.replaceChildren(el("p.message-gone", {}, say("thread.retracted")));
      return;
    }
    const long = message.author.kind === "person" && message.text.length > FOLD_OVER && !this.unfolded;
    this.body.classList.toggle("folded", long);
    if (long && message.text.length > EXCERPT_OVER) {
      this.body.replaceChildren(el("p", { dir: "auto" }, Array.from(message.text.slice(0, EXCERPT)).slice(0, -1).join("")));
    } else {
      this.body.innerHTML = message.html; // rendered and cleaned by the server
      decorateCode(this.body);
    }
    if (long) this.offerWhole();
  }

  /** A very long text of a person shows its beginning; a button shows the rest. */
  offerWhole() {
    const show = () => {
      this.unfolded = true;
      this.deeds.keep(() => this.redraw());
      this.el.focus({ preventScroll: true });
    };
    this.body.append(button(say("thread.show_all"), show, { kind: "button.button-small.unfold", "data-testid": "show-all" }));
  }

  remarks(message) {
    const remarks = [];
    if (message !== this.item.message) remarks.push(versionNotice(this));
    if (message.state === "stopped") remarks.push(note("stopped", say("thread.stopped")));
    if (message.state === "cut") remarks.push(note("cut", message.error?.message || say("thread.cut")));
    if (message.state === "failed") remarks.push(note("failed", message.error?.message || say("thread.failed")));
    return remarks;
  }

  actions(message, own) {
    if (message.kind === "notice") return [];
    const parts = message.versions > 1 ? [versionPager(this)] : [];
    if (message.state === "retracted") return parts;
    if (message.author.kind === "coworker") parts.push(this.receiptButton(() => this.deeds.receipt(message)));
    const copy = iconButton("copy", say("thread.copy"), () => copyFrom(copy, message.text, () => this.deeds.copied()), { "data-testid": "copy" });
    parts.push(copy);
    if (message !== this.item.message) return parts;
    if (message.author.kind === "coworker") parts.push(this.again(message));
    else if (own && !this.open) parts.push(...this.ownActions(message));
    return parts;
  }

  again(message) {
    const broken = message.state === "failed" || message.state === "stopped" || message.state === "cut";
    const does = () => this.deeds.regenerate(message, node);
    const node = broken
      ? button(say("thread.retry"), does, { kind: "button.button-small", icon: "again", "data-testid": "retry" })
      : iconButton("again", say("thread.regenerate"), does, { "data-testid": "regenerate" });
    return node;
  }

  ownActions(message) {
    const edit = iconButton("pencil", say("thread.edit"), () => this.edit(), { "data-testid": "edit" });
    const retract = iconButton("retract", say("thread.retract"), () => this.deeds.retract(message), { "data-testid": "retract" });
    return [edit, retract];
  }

  receiptButton(onclick) {
    return button(say("receipt.ask"), onclick, { kind: "button.button-small.button-receipt", icon: "receipt", "data-testid": "receipt" });
  }

  edit() {
    const message = this.item.message;
    this.editing = editor(message, this.deeds, () => {
      this.editing = null;
      this.redraw();
      this.el.focus();
    });
    this.body.replaceChildren(this.editing);
    this.notes.replaceChildren();
    this.foot.replaceChildren();
    this.editing.querySelector("textarea").focus();
  }

  // -- shared -----------------------------------------------------------------------------------

  mark({ run, state, phase, author, number, version }) {
    const marks = { run, state, phase, author, messageNumber: number, version };
    for (const [name, value] of Object.entries(marks)) {
      if (value === null || value === undefined || value === "") delete this.el.dataset[name];
      else this.el.dataset[name] = String(value);
    }
  }

  who(name, hue, kind) {
    const key = `${name}|${hue}|${kind}`;
    if (this.face === key) return;
    this.face = key;
    this.avatar.replaceChildren(kind === "system" ? icon("alert") : monogram(name, hue, kind));
  }

  title(name, title, time, state = "done") {
    this.el.setAttribute("aria-label", [name, time && timeOf(time), state !== "done" && say(`thread.state_${state}`)].filter(Boolean).join(", "));
    const parts = [el("span.message-author", {}, name || say("thread.office"))];
    if (title) parts.push(el("span.message-title", {}, title));
    if (time) parts.push(el("time.message-time", { datetime: time, title: wholeTimeOf(time) }, timeOf(time)));
    this.head.replaceChildren(...parts);
  }
}

const phaseWord = (phase) => el("span", {}, say(`thread.phase_${phase}`));

export function note(kind, words) {
  return el(`p.message-note.message-note-${kind}`, { dataset: { note: kind } }, icon(kind === "stopped" ? "stop" : "alert"), el("span", {}, words));
}

/** A copy button in the head of every code block. */
export function decorateCode(body) {
  for (const head of body.querySelectorAll(".code-head")) {
    const code = head.parentElement.querySelector("code");
    const copy = iconButton("copy", say("thread.copy_code"), () => copyFrom(copy, code.textContent), { "data-testid": "copy-code" });
    head.append(copy);
  }
}
