// Where one is: the address, the view that shows it, and the drawer of narrow screens.

import { el } from "./dom.js";
import { pageUrl } from "./api.js";

const NARROW = matchMedia("(max-width: 820px)");

export class Places {
  /** `open` holds what draws a channel, the settings, and the first place. */
  constructor(open) {
    this.opens = open;
    this.shell = document.querySelector("[data-shell]");
    this.scrim = document.querySelector("[data-scrim]");
    this.opener = document.querySelector("[data-open-sidebar]");
    this.title = document.querySelector("[data-pane-title]");
    this.here = null;
    addEventListener("popstate", () => this.open());
    document.addEventListener("click", (event) => this.clicked(event));
    this.opener.addEventListener("click", () => this.drawer(true));
    for (const node of [this.scrim, document.querySelector("[data-close-sidebar]")]) node.addEventListener("click", () => this.drawer(false));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.isOpen && this.drawer(false));
    NARROW.addEventListener("change", () => this.drawer(false));
    this.drawer(false);
  }

  /** What the address says, opened. */
  async open() {
    const [kind, id] = location.pathname.slice(pageUrl().length).split("/");
    if (kind === "c" && id) await this.opens.channel(id);
    else if (kind === "settings") await this.opens.settings(id);
    else await this.opens.home();
  }

  async go(kind, id = "") {
    const path = { home: "", channel: `c/${id}/`, settings: id ? `settings/${id}/` : "settings/" }[kind];
    if (location.pathname !== pageUrl(path)) history.pushState(null, "", pageUrl(path));
    this.drawer(false);
    await this.open();
  }

  clicked(event) {
    const link = event.target.closest("a[data-go]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    this.go(link.dataset.go, link.dataset.section);
  }

  /** Switches the view and its title. */
  show(view, name, note = "", here = null) {
    this.here = here;
    for (const node of document.querySelectorAll("[data-view]")) node.hidden = node.dataset.view !== view;
    this.title.replaceChildren(el("h1", { tabindex: "-1" }, name), note ? el("p", {}, note) : "");
    document.title = name;
    document.querySelector("[data-skip]").href = view === "thread" ? "#composer-field" : "#main";
  }

  get isOpen() {
    return "open" in this.shell.dataset;
  }

  /** On a narrow screen the sidebar is a drawer: what it hides cannot be reached, and focus goes in and out with it. */
  drawer(open) {
    const narrow = NARROW.matches;
    const was = this.isOpen;
    if (open && narrow) this.shell.dataset.open = "";
    else delete this.shell.dataset.open;
    this.scrim.hidden = !(open && narrow);
    document.getElementById("sidebar").inert = narrow && !open;
    document.getElementById("main").inert = narrow && open;
    this.opener.setAttribute("aria-expanded", String(open && narrow));
    if (open && narrow) document.querySelector("[data-close-sidebar]").focus();
    else if (was) this.opener.focus();
  }
}
