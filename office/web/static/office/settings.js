// Settings: one page with sections; those that run the office see all of them.

import { el } from "./dom.js";
import { pageUrl } from "./api.js";
import { endpoints } from "./settings-endpoints.js";
import { people } from "./settings-people.js";
import { staff } from "./settings-staff.js";
import { tokens } from "./settings-tokens.js";
import { yours } from "./settings-yours.js";
import { say } from "./words.js";

const SECTIONS = { endpoints, staff, people, tokens, yours };
const FOR_RUNNERS = new Set(["endpoints"]);

export class Settings {
  constructor(host, office) {
    this.host = host;
    this.office = office;
    this.names = Object.keys(SECTIONS).filter((name) => office.mayRun || !FOR_RUNNERS.has(name));
  }

  /** Draws a section; an unknown or hidden one is the first that may be seen. */
  async open(wanted) {
    const name = this.names.includes(wanted) ? wanted : this.names[0];
    const links = this.names.map((one) => this.link(one, one === name));
    const body = el("section.settings-body", { "data-section": name, "aria-busy": "true" }, el("p.settings-loading", {}, say("page.loading")));
    const tabs = el("nav.settings-nav", { "aria-label": say("settings.title") }, ...links);
    this.host.replaceChildren(el("div.settings", {}, tabs, body));
    await this.fill(body, name);
  }

  link(name, here) {
    return el("a", { href: pageUrl(`settings/${name}/`), "data-go": "settings", "data-section": name, "aria-current": here ? "page" : null }, say(`settings.${name}`));
  }

  async fill(body, name) {
    const again = () => this.fill(body, name);
    try {
      const parts = await SECTIONS[name](this.office, again);
      body.replaceChildren(el("h2", {}, say(`settings.${name}`)), ...parts);
    } catch (problem) {
      body.replaceChildren(el("h2", {}, say(`settings.${name}`)), el("p.form-error", { role: "alert" }, problem.message));
    }
    body.removeAttribute("aria-busy");
  }
}
