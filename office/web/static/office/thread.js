// The thread on screen: draws what the state says, follows the socket, and asks for what is missing.

import { announce, announceAnswer, announceStart, alert } from "./announce.js";
import { api } from "./api.js";
import { deedsFor } from "./deeds.js";
import { arrange, button, el } from "./dom.js";
import { ItemView } from "./message.js";
import { PendingView } from "./pending.js";
import { Scroll } from "./scroll.js";
import { afterDelta, afterEvent, fromSnapshot, isLive, itemsOf, withMessage, withOlder, withPartial } from "./state.js";
import { introduction } from "./introduction.js";
import { dayKey, dayOf, say } from "./words.js";

const OLDER = 50;
const READ_MS = 400;
const FRESH_MS = 120_000; // what is older was not said just now and is not read aloud

export class ThreadView {
  /** `office` gives lists and people, follows positions and keeps read marks; `outbox` holds what is not sent yet. */
  constructor(office, outbox) {
    this.office = office;
    this.outbox = outbox;
    this.host = document.querySelector("[data-thread]");
    this.top = document.querySelector("[data-thread-top]");
    const scroller = document.querySelector("[data-scroller]");
    const column = scroller.querySelector(".column");
    const reach = { older: () => this.loadOlder(), bottom: () => this.markRead() };
    this.scroll = new Scroll(scroller, column, document.querySelector("[data-newest]"), reach);
    this.deeds = deedsFor({ keep: (change) => this.scroll.keep(change), took: (body) => this.took(body) });
    this.clear();
    document.addEventListener("visibilitychange", () => this.markRead());
  }

  clear() {
    this.state = null;
    this.views = new Map();
    this.extras = new Map();
    this.pending = new Map();
    this.fetching = new Set();
    this.unreadFrom = null;
    this.host.replaceChildren();
    this.top.replaceChildren();
  }

  /** Shows a channel's thread from its snapshot; the position it was read at is where the socket goes on. */
  async open(channel) {
    this.channel = channel;
    this.clear();
    this.host.replaceChildren(el("p.thread-loading", {}, say("thread.loading")));
    await this.load();
  }

  async load() {
    const channel = this.channel;
    const early = (this.early = []); // pieces that come while the snapshot is on its way, and may be newer than it
    const snapshot = await api.get(`threads/${channel.thread}/`);
    if (this.channel !== channel) return null;
    this.state = fromSnapshot(snapshot);
    if (this.early === early) this.early = null;
    this.deltas(early);
    this.unreadFrom ??= this.firstUnread();
    this.office.tookCoworkers(snapshot.coworkers || []);
    this.draw();
    this.scroll.toBottom();
    this.office.position(channel.stream, snapshot.epoch, snapshot.seq);
    return { epoch: snapshot.epoch, seq: snapshot.seq };
  }

  /** The thread could not be read: said in its place, with a way to try again. */
  failed(problem, again) {
    const retry = button(say("thread.retry"), again, { icon: "again" });
    this.host.replaceChildren(el("div.thread-loading", { role: "alert" }, el("p", {}, problem.message), retry));
  }

  get stream() {
    return this.channel?.stream;
  }

  // -- what comes in ----------------------------------------------------------------------------

  apply(event) {
    if (!this.state) return;
    const before = this.state;
    this.state = afterEvent(before, event);
    this.draw();
    this.tell(event, before);
    this.markRead();
  }

  /** The answer to one of our own requests, drawn before its event comes; the event then says the same. */
  took({ message, mission, run }) {
    if (!this.state) return;
    if (message) this.state = withMessage(this.state, message);
    if (mission) this.state = afterEvent(this.state, { event: "mission.changed", payload: { mission } });
    if (run && !this.state.runs.has(run.id)) this.state = afterEvent(this.state, { event: "run.queued", payload: { run } });
    this.draw();
  }

  /** A post was stored; its event may have come first, and would be the newer word. */
  stored(thread, { message, mission }) {
    if (this.state?.id !== thread) return;
    this.state = withMessage(this.state, message, 0, { onlyIfNew: true });
    if (mission && !this.state.missions.has(mission.id)) this.took({ mission });
    this.draw();
  }

  deltas(items) {
    this.early?.push(...items);
    if (!this.state) return;
    for (const item of items) {
      if (item.stream !== this.stream) continue;
      const { thread, added, lost, fresh } = afterDelta(this.state, item);
      this.state = thread;
      if (lost) this.fetchPartial(item.run);
      else if (fresh) this.draw();
      else if (added) this.viewOfRun(item.run)?.append(thread.runs.get(item.run), added);
    }
  }

  viewOfRun(id) {
    return [...this.views.values()].find((view) => view.item?.run?.id === id);
  }

  async fetchPartial(id) {
    if (this.fetching.has(id)) return;
    this.fetching.add(id);
    const thread = this.state?.id;
    try {
      const partial = await api.get(`runs/${id}/partial/`);
      if (this.state?.id !== thread) return;
      this.state = withPartial(this.state, partial);
      this.draw();
    } catch {
      // the next piece, or the finished message, brings it
    } finally {
      this.fetching.delete(id);
    }
  }

  /** While the socket is down: the texts that grow meanwhile. */
  poll() {
    for (const run of this.state?.runs.values() || []) if (isLive(run)) this.fetchPartial(run.id);
  }

  tell({ event, payload, at }, before) {
    if (Date.now() - Date.parse(at) > FRESH_MS) return;
    const { message, run } = payload;
    if (event === "run.started") announceStart(this.office.coworker(run.coworker).name);
    if (event === "run.failed") alert(run.error?.message || say("thread.failed"));
    if (event !== "message.posted" && event !== "message.edited") return;
    const own = message.author.id === this.office.me.id;
    if (message.author.kind === "coworker") announceAnswer(message.author.name, message.html);
    else if (!own && !before.messages.has(message.number)) announce(say("thread.said", { name: message.author.name, text: message.text.slice(0, 300) }));
    if (!before.messages.has(message.number)) own ? this.scroll.toBottom() : this.scroll.noticed();
  }

  // -- drawing ----------------------------------------------------------------------------------

  draw() {
    if (!this.state) return;
    this.scroll.keep(() => {
      const nodes = this.itemNodes();
      for (const item of this.outbox.of(this.state.id)) nodes.push(this.pendingNode(item));
      arrange(this.host, nodes);
      this.top.replaceChildren(...introduction(this.channel, this.state, this.office));
    });
  }

  itemNodes() {
    const nodes = [];
    const used = new Set();
    let day = null;
    let divided = false;
    for (const item of itemsOf(this.state)) {
      const time = item.message?.created || item.run?.started;
      if (time && dayKey(time) !== day && item.place[0] === (item.message?.number ?? item.place[0])) {
        day = dayKey(time);
        nodes.push(this.extra(`day:${day}`, () => el("p.day", {}, el("span", {}, dayOf(time)))));
      }
      if (!divided && item.message && item.message.number === this.unreadFrom) {
        divided = true;
        nodes.push(this.extra("unread", () => el("p.day.day-unread", {}, el("span", {}, say("thread.unread_from_here")))));
      }
      nodes.push(this.itemNode(item, used));
    }
    for (const key of this.views.keys()) if (!used.has(key)) this.views.delete(key);
    return nodes;
  }

  /** The message above which the line is drawn: found once, when the thread is opened; 0 when all was read. */
  firstUnread() {
    const read = this.channel.last_read_number;
    const fresh = [...this.state.messages.values()].filter((one) => one.number > read && one.author.id !== this.office.me.id);
    return read && fresh.length ? Math.min(...fresh.map((one) => one.number)) : 0;
  }

  extra(key, make) {
    if (!this.extras.has(key)) this.extras.set(key, make());
    return this.extras.get(key);
  }

  itemNode(item, used) {
    const view = this.viewFor(item);
    used.add(item.key);
    const mission = this.state.missions.get(item.message?.mission);
    view.update(item, { open: mission ? mission.state === "queued" || mission.state === "running" : false });
    return view.el;
  }

  /** The view of an item; a finished answer takes over the element in which it was written. */
  viewFor(item) {
    const written = item.message?.run && `r${item.message.run}`;
    if (!this.views.has(item.key) && this.views.has(written)) {
      this.views.set(item.key, this.views.get(written));
      this.views.delete(written);
    }
    if (!this.views.has(item.key)) this.views.set(item.key, new ItemView(this.deeds, this.office));
    return this.views.get(item.key);
  }

  pendingNode(item) {
    if (!this.pending.has(item.id)) this.pending.set(item.id, new PendingView(item, this.outbox, this.office));
    const view = this.pending.get(item.id);
    view.update(item);
    return view.el;
  }

  // -- reading ----------------------------------------------------------------------------------

  async loadOlder() {
    if (!this.state?.moreBefore || this.loadingOlder) return;
    this.loadingOlder = true;
    const thread = this.state.id;
    try {
      const page = await api.get(`threads/${thread}/messages/?before=${this.state.oldest}&limit=${OLDER}`);
      if (this.state?.id !== thread) return;
      this.state = withOlder(this.state, page);
      this.draw();
    } catch {
      // asked again at the next movement
    } finally {
      this.loadingOlder = false;
    }
  }

  /** What is on screen at the bottom of a visible page has been read. */
  markRead() {
    clearTimeout(this.reading);
    this.reading = setTimeout(() => {
      const seen = this.state && document.visibilityState === "visible" && this.scroll.following && !this.host.closest("[hidden]");
      if (seen) this.office.read(this.channel.id, this.state.message_count);
    }, READ_MS);
  }
}
