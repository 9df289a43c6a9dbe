// A titled part of a settings page.

import { el } from "./dom.js";

export function card(title, ...children) {
  return el("section.card", {}, el("h3", {}, title), ...children);
}
