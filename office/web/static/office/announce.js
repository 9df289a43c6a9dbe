// What a screen reader hears: that an answer begins, and the answer once when it is complete. Never a stream of pieces.

import { say } from "./words.js";

const LONGEST = 600;
const JOIN_MS = 700;

const voice = document.querySelector("[data-voice]");
const alarm = document.querySelector("[data-alarm]");
let waiting = [];
let timer = null;

/** Politely, joined with whatever else comes within a moment. */
export function announce(sentence) {
  if (!sentence || waiting.includes(sentence)) return;
  waiting.push(sentence);
  timer ??= setTimeout(flush, JOIN_MS);
}

function flush() {
  timer = null;
  speak(voice, waiting.join(" "));
  waiting = [];
}

/** At once: something failed. */
export function alert(sentence) {
  speak(alarm, sentence);
}

/** The same sentence twice must be heard twice, so the region is emptied first. */
function speak(region, sentence) {
  region.textContent = "";
  requestAnimationFrame(() => (region.textContent = sentence));
}

export const announceStart = (name) => announce(say("thread.said_writing", { name }));

/** The words of an answer without the marks they were written with. */
export function announceAnswer(name, html) {
  const text = new DOMParser().parseFromString(html, "text/html").body.textContent.trim();
  const letters = [...text];
  const cut = letters.length > LONGEST;
  const words = cut ? letters.slice(0, LONGEST).join("") : text;
  announce(say(cut ? "thread.said_long" : "thread.said", { name, text: words }));
}
