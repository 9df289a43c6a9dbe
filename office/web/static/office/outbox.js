// What was sent and is not known to be stored. Each text has its id from the first try to the last, over retries and
// reloads, so that it can never be stored twice; texts leave one after another, so they arrive in the order written.

import { newId } from "./ids.js";
import { shelf } from "./shelf.js";

const SLOWEST_MS = 30_000;

export class Outbox {
  /** `post(item)` sends one; `changed()` redraws; `stored(item, answer)`; `returned(item)` gives a text back to its composer. */
  constructor(person, { post, changed, stored, returned }) {
    this.key = `outbox:${person}`;
    Object.assign(this, { post, changed, stored, returned });
    this.items = shelf.get(this.key, []).map((item) => (item.state === "sending" ? { ...item, state: "waiting" } : item));
    this.failures = 0;
    addEventListener("online", () => this.run());
    addEventListener("storage", (event) => event.key === `office:${this.key}` && this.reread());
  }

  /** Another tab of the same person sent or changed something. */
  reread() {
    const sending = this.items.find((item) => item.state === "sending");
    this.items = shelf.get(this.key, []).map((item) => (item.id === sending?.id ? sending : item));
    this.changed();
  }

  add({ thread, channel, text }) {
    const item = { id: newId(), thread, channel, text, state: "waiting", at: new Date().toISOString() };
    this.items.push(item);
    this.keep();
    this.run();
    return item;
  }

  of(thread) {
    return this.items.filter((item) => item.thread === thread);
  }

  /** The stored message was seen, by its echo or by the answer: whatever became of the request, it is sent. */
  settle(id) {
    if (!this.items.some((item) => item.id === id)) return;
    this.items = this.items.filter((item) => item.id !== id);
    this.keep();
  }

  retry(id) {
    const item = this.items.find((one) => one.id === id);
    if (!item) return;
    Object.assign(item, { state: "waiting", error: null });
    this.failures = 0;
    this.keep();
    this.run();
  }

  keep() {
    shelf.set(this.key, this.items.length ? this.items : null);
    this.changed();
  }

  async run() {
    clearTimeout(this.timer);
    if (this.running) return;
    this.running = true;
    try {
      for (let item; (item = this.items.find((one) => one.state === "waiting")); ) if (!(await this.send(item))) break;
    } finally {
      this.running = false;
    }
  }

  /** One try; false when the rest has to wait. */
  async send(item) {
    item.state = "sending";
    this.changed();
    try {
      const answer = await this.post(item);
      this.failures = 0;
      this.stored(item, answer);
      this.settle(item.id);
      return true;
    } catch (problem) {
      return this.failed(item, problem);
    }
  }

  failed(item, problem) {
    if (!this.items.includes(item)) return true; // its echo came while the answer was lost
    if (problem.status === 401) {
      this.items = this.items.filter((one) => one !== item);
      this.returned(item);
      this.keep();
      return false;
    }
    if (!problem.passing) {
      Object.assign(item, { state: "refused", error: problem.message });
      this.keep();
      return true;
    }
    Object.assign(item, { state: "waiting", error: problem.message });
    this.keep();
    const pause = problem.retryAfter * 1000 || Math.min(SLOWEST_MS, 1000 * 2 ** this.failures++);
    this.timer = setTimeout(() => this.run(), pause * (0.5 + Math.random() / 2));
    return false;
  }
}
