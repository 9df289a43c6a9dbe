// The left side: channels, coworkers with what they are doing, people. Unread is what is there minus what was read.

import { arrange, el, icon, iconButton, monogram } from "./dom.js";
import { pageUrl } from "./api.js";
import { dmOf, unreadOf } from "./lists.js";
import { count, say } from "./words.js";

const PRESENT_MS = 90_000;

export class Sidebar {
  /** `go(place)` opens a channel or a coworker's DM; `add(kind)` opens the form for a new one. */
  constructor(host, { go, add, mayRun }) {
    Object.assign(this, { go, add, mayRun });
    this.rows = new Map();
    const more = { "data-testid": "new-channel" };
    this.channels = this.section("channels", iconButton("plus", say("sidebar.new_channel"), () => add("channel"), more));
    const hire = mayRun ? iconButton("plus", say("sidebar.hire"), () => add("coworker"), { "data-testid": "hire" }) : null;
    this.coworkers = this.section("coworkers", hire);
    this.people = this.section("people", mayRun ? iconButton("plus", say("sidebar.invite"), () => add("person"), { "data-testid": "invite" }) : null);
    host.replaceChildren(this.channels.el, this.coworkers.el, this.people.el);
    host.addEventListener("click", (event) => this.clicked(event));
  }

  section(name, action) {
    const list = el("ul.sidebar-list", { "data-list": name });
    const head = el("div.sidebar-section-head", {}, el("h2", { id: `list-${name}` }, say(`sidebar.${name}`)), action);
    list.setAttribute("aria-labelledby", `list-${name}`);
    return { el: el("section.sidebar-section", {}, head, list), list };
  }

  clicked(event) {
    const link = event.target.closest("a[data-place]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    this.go(link.dataset.place, link.dataset.id);
  }

  draw(lists, here) {
    this.here = here;
    const channels = [...lists.channels.values()].filter((one) => one.kind !== "dm" && !one.archived);
    const staff = [...lists.coworkers.values()].filter((one) => !one.retired || dmOf(lists, one.id)?.message_count);
    arrange(this.channels.list, channels.map((one) => this.channelRow(one)));
    arrange(this.coworkers.list, staff.map((one) => this.coworkerRow(one, dmOf(lists, one.id))));
    arrange(this.people.list, [...lists.people.values()].map((one) => this.personRow(one)));
  }

  row(key, make) {
    if (!this.rows.has(key)) this.rows.set(key, make());
    return this.rows.get(key);
  }

  channelRow(channel) {
    const row = this.row(channel.id, () => link("channel", channel.id, `c/${channel.id}/`, icon("hash")));
    row.set({ name: channel.name, unread: unreadOf(channel), here: this.here === channel.id, channel: channel.id });
    return row.el;
  }

  coworkerRow(coworker, dm) {
    const row = this.row(coworker.id, () => link("coworker", coworker.id, dm ? `c/${dm.id}/` : "", monogram(coworker.name, coworker.hue)));
    const state = coworker.retired ? "retired" : coworker.state || "idle";
    row.set({ name: coworker.name, unread: dm ? unreadOf(dm) : 0, here: Boolean(dm) && this.here === dm.id, state, note: coworker.title, channel: dm?.id });
    return row.el;
  }

  personRow(person) {
    const row = this.row(person.id, () => plain(monogram(person.name, undefined, "person")));
    // The server's word is of the moment the list was read, so a "present" fades.
    const present = person.present !== false && person.last_seen && Date.now() - Date.parse(person.last_seen) < PRESENT_MS;
    row.set({ name: person.name, state: present ? "present" : "away" });
    return row.el;
  }
}

/** A row that leads somewhere: mark, name, state in words, unread. */
function link(place, id, path, mark) {
  const parts = pieces();
  const anchor = el("a.sidebar-row", { href: pageUrl(path), "data-place": place, "data-id": id }, mark, parts.text, parts.badge);
  return { el: el("li", {}, anchor), set: (values) => fill(anchor, parts, values) };
}

function plain(mark) {
  const parts = pieces();
  const row = el("span.sidebar-row.sidebar-person", {}, mark, parts.text);
  return { el: el("li", {}, row), set: (values) => fill(row, parts, values) };
}

function pieces() {
  const name = el("span.row-name");
  const state = el("span.row-state");
  const badge = el("span.badge", { hidden: true });
  return { name, state, badge, text: el("span.row-text", {}, name, state) };
}

function fill(row, parts, { name, unread = 0, here = false, state, note, channel }) {
  write(parts.name, name);
  const busy = state && !["idle", "present", "away"].includes(state);
  write(parts.state, busy ? say(`sidebar.state_${state}`) : note || "");
  if (state) row.dataset.state = state;
  if (channel) {
    row.dataset.channel = channel;
    row.href = pageUrl(`c/${channel}/`);
  }
  row.classList.toggle("row-unread", unread > 0 && !here);
  parts.badge.hidden = unread === 0 || here;
  parts.badge.dataset.unread = String(unread);
  write(parts.badge, unread ? count(Math.min(unread, 999)) : "");
  parts.badge.setAttribute("aria-label", say("sidebar.unread", { count: unread }));
  if (here) row.setAttribute("aria-current", "page");
  else row.removeAttribute("aria-current");
}

function write(node, words) {
  if (node.textContent !== words) node.textContent = words;
}
