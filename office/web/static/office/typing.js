// Who is writing just now; forgotten after a few seconds or when the message comes.

import { say } from "./words.js";

const FORGET_MS = 6_000;

export class Typing {
  constructor(host) {
    this.host = host;
    this.people = new Map();
  }

  start(id, name) {
    if (!name) return;
    clearTimeout(this.people.get(id)?.timer);
    this.people.set(id, { name, timer: setTimeout(() => this.stop(id), FORGET_MS) });
    this.draw();
  }

  stop(id) {
    clearTimeout(this.people.get(id)?.timer);
    if (this.people.delete(id)) this.draw();
  }

  clear() {
    for (const id of [...this.people.keys()]) this.stop(id);
  }

  draw() {
    const names = [...this.people.values()].map((one) => one.name).join(say("receipt.comma"));
    this.host.textContent = names ? say("thread.typing", { names }) : "";
  }
}
