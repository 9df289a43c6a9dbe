// Puts the office together: what is known, where one is, and who is told what.

import { api, onSignedOut, pageUrl, socketUrl } from "./api.js";
import { Banner } from "./banner.js";
import { Composer } from "./composer.js";
import { el, monogram } from "./dom.js";
import "./keys.js";
import * as lists from "./lists.js";
import { Live } from "./live.js";
import { LiveBar } from "./live-bar.js";
import { newChannel } from "./new-channel.js";
import { Outbox } from "./outbox.js";
import { Places } from "./places.js";
import { editCoworker } from "./settings-staff.js";
import { invitePerson } from "./settings-people.js";
import { Settings } from "./settings.js";
import { shelf } from "./shelf.js";
import { Sidebar } from "./sidebar.js";
import { ThreadView } from "./thread.js";
import { toast } from "./toast.js";
import { Typing } from "./typing.js";
import { say } from "./words.js";

const REFRESH_MS = 60_000;
const boot = JSON.parse(document.getElementById("boot").textContent);
const find = (name) => document.querySelector(`[data-${name}]`);

class Office {
  constructor() {
    this.me = boot.me;
    this.mayRun = boot.me.role === "owner" || boot.me.role === "admin";
    this.lists = { channels: new Map(), coworkers: new Map(), people: new Map() };
    this.members = new Map();
    this.bar = new LiveBar(find("live-bar"));
    this.live = new Live(this.port());
    this.outbox = new Outbox(this.me.id, this.outboxPort());
    this.thread = new ThreadView(this, this.outbox);
    this.typing = new Typing(find("typing"));
    this.composer = new Composer(find("composer"), this.composerPort());
    const bannerHost = el("div");
    find("composer").prepend(bannerHost);
    this.banner = new Banner(bannerHost, this);
    const add = (kind) => this.add(kind);
    this.sidebar = new Sidebar(find("sidebar"), { go: (place, id) => this.go(place, id), add, mayRun: this.mayRun });
    this.settings = new Settings(document.querySelector("[data-view=settings]"), this);
    this.places = new Places({ channel: (id) => this.openChannel(id), settings: (section) => this.openSettings(section), home: () => this.openHome() });
    find("me").replaceChildren(monogram(this.me.name, undefined, "person"), el("span", {}, this.me.name));
    onSignedOut(() => this.bar.show("signed_out"));
  }

  async start() {
    await this.readSidebar();
    this.live.start();
    await this.places.open();
    this.outbox.run();
    setInterval(() => document.visibilityState === "visible" && this.readSidebar().catch(() => {}), REFRESH_MS);
  }

  // -- what the parts ask of the world ------------------------------------------------------------

  port() {
    return {
      socketUrl,
      events: (stream, cursor) => api.events(stream, cursor),
      apply: (stream, event) => this.apply(stream, event),
      reload: (stream) => this.reload(stream),
      deltas: (items) => this.thread.deltas(items),
      whisper: (frame) => this.whisper(frame),
      status: (word) => this.bar.show(word),
      dropped: (stream) => this.dropped(stream),
      // Pieces of running answers are in no log: what was written before one listened is asked for.
      caughtUp: (stream) => stream === this.thread.stream && this.thread.poll(),
      poll: () => this.thread.poll(),
    };
  }

  outboxPort() {
    return {
      post: ({ id, thread, text }) => api.post(`threads/${thread}/messages/`, { client_msg_id: id, text }),
      changed: () => this.thread?.draw(),
      stored: (item, answer) => this.thread.stored(item.thread, answer),
      returned: (item) => this.giveBack(item),
    };
  }

  composerPort() {
    return {
      send: (text) => {
        this.outbox.add({ thread: this.channel.thread, channel: this.channel.id, text });
        this.thread.scroll.toBottom();
      },
      typing: () => this.channel?.kind !== "dm" && this.live.typing(this.channel.thread),
      mentionable: () => this.mentionable(),
    };
  }

  // -- events -----------------------------------------------------------------------------------

  apply(stream, event) {
    const thread = stream.startsWith("thread:") && stream.slice(7);
    if (thread) this.applyToThread(thread, event);
    else {
      const { lists: next, again } = lists.afterListEvent(this.lists, event);
      this.lists = next;
      if (again) this.readSidebarSoon();
      if (event.event === "channel.changed" && event.payload.channel.id === this.channel?.id) this.channelChanged();
      if (event.event === "channel.dropped" && !this.lists.channels.has(this.channel?.id)) this.places.go("home");
    }
    this.drawLists();
  }

  channelChanged() {
    this.channel = this.lists.channels.get(this.channel.id) || this.channel;
    this.composer.openness(this.channel);
  }

  applyToThread(thread, event) {
    const { message, message_count: count } = event.payload;
    if (message?.client_msg_id) this.outbox.settle(message.client_msg_id);
    this.lists = lists.withCount(this.lists, thread, count);
    if (this.thread.state?.id === thread) this.thread.apply(event);
    if (message?.author.kind === "person") this.typing.stop(message.author.id);
  }

  whisper(frame) {
    if (frame.type === "presence" && frame.coworker) this.lists = lists.withState(this.lists, frame.coworker, frame.state);
    if (frame.type === "typing" && frame.stream === this.thread.stream && frame.person !== this.me.id) {
      this.typing.start(frame.person, frame.name || this.lists.people.get(frame.person)?.name);
    }
    this.drawLists();
  }

  async reload(stream) {
    if (stream === this.thread.stream) return this.thread.load();
    const body = await this.readSidebar();
    const channel = body.channels.find((one) => one.stream === stream);
    return [...positionsOf(body), channel].find((one) => one && (one.name === stream || one.stream === stream));
  }

  dropped(stream) {
    if (stream !== this.thread.stream) return;
    toast(say("live.dropped"), { failed: true });
    this.places.go("home");
  }

  // -- lists ------------------------------------------------------------------------------------

  async readSidebar() {
    const body = await api.get("sidebar/");
    this.lists = lists.fromSidebar(body, this.lists);
    for (const { name, epoch, seq } of positionsOf(body)) this.live.position(name, epoch, seq);
    for (const { stream, epoch, seq } of body.channels.slice(0, 110)) this.live.follow(stream, { epoch, seq });
    this.drawLists();
    return body;
  }

  readSidebarSoon() {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.readSidebar().catch(() => {}), 150);
  }

  tookCoworkers(coworkers) {
    for (const coworker of coworkers) this.lists = lists.afterListEvent(this.lists, { event: "coworker.changed", payload: { coworker } }).lists;
    this.drawLists();
  }

  drawLists() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = null;
      this.sidebar.draw(this.lists, this.places.here);
      const elsewhere = [...this.lists.channels.values()].some((one) => one.id !== this.channel?.id && lists.unreadOf(one));
      find("unread-elsewhere").hidden = !elsewhere;
      if (this.channel) this.banner.show(this.whoAnswers());
    });
  }

  coworker(id) {
    return this.lists.coworkers.get(id) || { id, name: say("thread.coworker"), title: "", hue: 210 };
  }

  membersOf(channel) {
    return this.members.get(channel) || { coworkers: [], people: [] };
  }

  mentionable() {
    if (!this.channel || this.channel.kind === "dm") return [];
    return this.membersOf(this.channel.id).coworkers.map((id) => this.coworker(id)).filter((one) => !one.retired);
  }

  whoAnswers() {
    return this.channel.kind === "dm" ? [this.coworker(this.channel.coworker)] : this.mentionable();
  }

  position(stream, epoch, seq) {
    this.live.position(stream, epoch, seq);
  }

  async read(channel, number) {
    const row = this.lists.channels.get(channel);
    if (!row || row.last_read_number >= number) return;
    this.lists = lists.withRead(this.lists, channel, number);
    this.drawLists();
    await api.post(`channels/${channel}/read/`, { number }).catch(() => {});
  }

  giveBack({ channel, text }) {
    this.composer.giveBack(channel, text);
  }

  // -- places -----------------------------------------------------------------------------------

  async go(place, id) {
    const wish = (this.wish = {}); // a place that takes its time must not come after one chosen later
    if (place === "channel") return this.places.go("channel", id);
    const known = lists.dmOf(this.lists, id);
    const channel = known || (await this.openDm(id));
    return channel && this.wish === wish && this.places.go("channel", channel.id);
  }

  async openDm(coworker) {
    try {
      const channel = await api.post(`coworkers/${coworker}/dm/`);
      this.lists = lists.withRow(this.lists, channel);
      this.live.follow(channel.stream, { epoch: channel.epoch, seq: channel.seq });
      return channel;
    } catch (problem) {
      toast(problem.message, { failed: true });
      return null;
    }
  }

  /** Where one was last, else the lead's DM. */
  async openHome() {
    const last = this.lists.channels.get(shelf.get(`last:${this.me.id}`));
    const staff = [...this.lists.coworkers.values()].filter((one) => !one.retired);
    const lead = staff.find((one) => one.is_lead) || staff[0];
    if (last) await this.openChannel(last.id);
    else if (lead && boot.me.role !== "guest") await this.go("coworker", lead.id);
    else if (this.lists.channels.size) await this.openChannel(this.lists.channels.keys().next().value);
  }

  async openChannel(id) {
    const channel = this.lists.channels.get(id);
    if (!channel) {
      toast(say("live.no_channel"), { failed: true });
      return this.places.go("home");
    }
    this.channel = channel;
    shelf.set(`last:${this.me.id}`, id);
    const coworker = channel.coworker && this.coworker(channel.coworker);
    this.places.show("thread", channel.name, coworker?.title, id);
    this.composer.show(channel, channel.name);
    this.typing.clear();
    this.drawLists();
    this.composer.focus();
    await Promise.all([this.openThread(channel), this.readMembers(channel)]);
  }

  async openThread(channel) {
    try {
      await this.thread.open(channel);
    } catch (problem) {
      if (this.channel === channel) this.thread.failed(problem, () => this.openThread(channel));
    }
    api.post(`channels/${channel.id}/enter/`).catch(() => {});
  }

  async readMembers(channel) {
    if (channel.kind === "dm") return;
    const { coworkers, people } = await api.get(`channels/${channel.id}/members/`).catch(() => ({ coworkers: [], people: [] }));
    this.members.set(channel.id, { coworkers: coworkers.map((one) => one.id), people: people.map((one) => one.id) });
    this.thread.draw();
    this.drawLists();
  }

  async openSettings(section) {
    this.wish = null;
    this.places.show("settings", say("settings.title"));
    this.drawLists();
    await this.settings.open(section);
  }

  add(kind) {
    if (kind === "person") return invitePerson();
    if (kind === "coworker") return editCoworker(null, this, (made) => this.go("coworker", made.id));
    return newChannel(this, (channel) => {
      this.lists = lists.withRow(this.lists, channel);
      this.live.follow(channel.stream, { epoch: channel.epoch, seq: channel.seq });
      this.places.go("channel", channel.id);
    });
  }
}

/** A guest has no stream of the whole office. */
const positionsOf = (sidebar) => [sidebar.stream, sidebar.me_stream].filter(Boolean);

const office = new Office();
office.start().catch((problem) => {
  if (problem.status === 401) location.assign(pageUrl("signin/"));
  else office.bar.show("unreachable");
  if (problem.status !== 401) setTimeout(() => location.reload(), 8_000);
});
