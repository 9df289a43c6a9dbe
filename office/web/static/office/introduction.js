// The head of a thread: where one is and with whom, shown above the first message.

import { el, icon, monogram } from "./dom.js";
import { say } from "./words.js";

export function introduction(channel, state, office) {
  if (state.moreBefore) return [el("p.thread-more", {}, say("thread.loading_older"))];
  if (channel.kind === "dm") return [ofCoworker(office.coworker(channel.coworker))];
  return [ofChannel(channel, office)];
}

function ofCoworker(coworker) {
  const words = say("thread.intro_dm", { name: coworker.name });
  const title = el("p.intro-title", {}, coworker.title);
  return el("header.intro", {}, monogram(coworker.name, coworker.hue), el("h2", {}, coworker.name), title, el("p", {}, words));
}

function ofChannel(channel, office) {
  const members = office.membersOf(channel.id);
  const faces = members.coworkers.map((id) => office.coworker(id)).slice(0, 8);
  const row = el("span.intro-faces", { "aria-hidden": "true" }, ...faces.map((one) => monogram(one.name, one.hue)));
  return el("header.intro", {}, faces.length ? row : el("span.intro-hash", {}, icon("hash")), el("h2", {}, channel.name), el("p", {}, say("thread.intro_channel")));
}
