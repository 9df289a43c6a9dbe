// Above the composer: says calmly that nobody is connected to a model, and how to change that.

import { api, pageUrl } from "./api.js";
import { connectFound } from "./connect.js";
import { el, icon } from "./dom.js";
import { say } from "./words.js";

export class Banner {
  constructor(host, office) {
    this.host = host;
    this.office = office;
  }

  /** Shown while somebody who may answer here only rehearses. */
  show(coworkers) {
    const rehearsing = coworkers.filter((one) => one && one.rehearsal && !one.retired);
    const key = rehearsing.map((one) => one.id).join();
    if (key === this.key) return;
    this.key = key;
    this.host.replaceChildren(...(rehearsing.length ? [this.draw(rehearsing)] : []));
  }

  draw([one, ...others]) {
    const words = others.length ? say("thread.rehearsal_all") : say("thread.rehearsal_one", { name: one.name });
    const link = el("a", { href: pageUrl("settings/endpoints/"), "data-go": "settings", "data-section": "endpoints" }, say("thread.rehearsal_connect"));
    const found = el("div.banner-found");
    const way = this.office.mayRun ? link : el("span", {}, say("thread.rehearsal_ask"));
    if (this.office.mayRun) this.offer(found);
    return el("aside.banner", { "data-testid": "rehearsal" }, icon("plug"), el("div", {}, el("p", {}, words, " ", way), found));
  }

  async offer(host) {
    this.found ??= api.get("providers/found/").catch(() => ({ found: [] }));
    const { found } = await this.found;
    host.replaceChildren(...found.slice(0, 3).map((server) => connectFound(server, this.office)));
  }
}
