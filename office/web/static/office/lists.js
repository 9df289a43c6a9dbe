// What stands at the left, as plain values: channels, coworkers, people, and each event applied to them.

/** Counts and read marks only grow, so an answer that was overtaken by events takes nothing back. */
export function fromSidebar(body, before) {
  const grown = (channel) => {
    const known = before?.channels.get(channel.id);
    if (known?.thread !== channel.thread) return channel;
    const most = (name) => Math.max(channel[name] || 0, known[name] || 0);
    return { ...channel, message_count: most("message_count"), last_read_number: most("last_read_number") };
  };
  return {
    channels: new Map(body.channels.map((channel) => [channel.id, grown(channel)])),
    coworkers: new Map(body.coworkers.map((coworker) => [coworker.id, coworker])),
    people: new Map(body.people.map((person) => [person.id, person])),
  };
}

/** The lists after an event of the office's stream or one's own; `again` asks for the sidebar to be read anew. */
export function afterListEvent(lists, { event, payload }) {
  if (payload.coworker?.id) return { lists: withCoworker(lists, payload.coworker) };
  if (event === "membership.changed") return { lists: withMember(lists, payload) };
  if (event === "read.moved") return { lists: withRead(lists, payload.channel, payload.last_read_number) };
  if (event === "channel.dropped") return { lists: without(lists, "channels", payload.channel?.id || payload.channel) };
  if (event.startsWith("channel.")) return { lists: withChannel(lists, payload.channel), again: event === "channel.opened" };
  return { lists };
}

function withCoworker(lists, coworker) {
  const before = lists.coworkers.get(coworker.id);
  return put(lists, "coworkers", coworker.id, { state: "idle", ...before, ...coworker });
}

function withMember(lists, { member, left, people }) {
  if (people) return { ...lists, people: new Map(people.map((person) => [person.id, person])) };
  if (left) return without(lists, "people", member.id);
  return put(lists, "people", member.id, { ...lists.people.get(member.id), ...member });
}

/** Events carry a channel's public face only; what we know besides (thread, counts) stays. */
function withChannel(lists, channel) {
  const before = lists.channels.get(channel.id);
  return before ? put(lists, "channels", channel.id, { ...before, ...channel }) : lists;
}

/** Read marks only move forward. */
export function withRead(lists, channel, number) {
  const before = lists.channels.get(channel);
  if (!before || before.last_read_number >= number) return lists;
  return put(lists, "channels", channel, { ...before, last_read_number: number });
}

/** A thread's count after one of its events. */
export function withCount(lists, thread, messageCount) {
  const channel = [...lists.channels.values()].find((one) => one.thread === thread);
  if (!channel || !messageCount || channel.message_count >= messageCount) return lists;
  return put(lists, "channels", channel.id, { ...channel, message_count: messageCount });
}

export function withState(lists, coworker, state) {
  const before = lists.coworkers.get(coworker);
  if (!before || before.state === state) return lists;
  return put(lists, "coworkers", coworker, { ...before, state });
}

export const withRow = (lists, channel) => put(lists, "channels", channel.id, channel);

/** Never counted up or down: what is there minus what was read. */
export const unreadOf = (channel) => Math.max(0, (channel.message_count || 0) - (channel.last_read_number || 0));

export function dmOf(lists, coworker) {
  return [...lists.channels.values()].find((channel) => channel.kind === "dm" && channel.coworker === coworker);
}

function put(lists, list, key, value) {
  return { ...lists, [list]: new Map(lists[list]).set(key, value) };
}

function without(lists, list, key) {
  const rows = new Map(lists[list]);
  rows.delete(key);
  return { ...lists, [list]: rows };
}
