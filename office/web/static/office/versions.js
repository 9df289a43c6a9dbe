// Versions of a message beside each other. Looking at another one changes nothing; only "use this one" does.

import { button, el, icon, iconButton } from "./dom.js";
import { say } from "./words.js";

/** ‹ 2/3 › for a message with versions. */
export function versionPager(view) {
  const { version } = view.shown;
  const all = view.item.message.versions;
  const back = iconButton("left", say("thread.version_before"), () => show(view, version - 1, "before"), { "data-testid": "version-before" });
  const on = iconButton("right", say("thread.version_after"), () => show(view, version + 1, "after"), { "data-testid": "version-after" });
  back.disabled = version <= 1;
  on.disabled = version >= all;
  const label = say("thread.version_of", { version, versions: all });
  const place = el("span.pager-place", { "aria-label": label, title: label, "data-testid": "version" }, `${version}/${all}`);
  return el("span.pager", { role: "group", "aria-label": say("thread.versions") }, back, place, on);
}

/** Says that this is not the version in use, which one is, and offers to use this one. */
export function versionNotice(view) {
  const use = button(say("thread.use_this"), () => view.deeds.select(view.shown, use), { kind: "button.button-small.button-main", "data-testid": "use-version" });
  const words = say("thread.other_version", { version: view.shown.version, current: view.item.message.version });
  return el("p.message-note.message-note-version", { dataset: { note: "version" } }, icon("alert"), el("span", {}, words), use);
}

async function show(view, version, from) {
  const current = view.item.message;
  const versions = await view.deeds.versions(current);
  if (!versions || view.item.message !== current) return;
  const wanted = versions.find((one) => one.version === version);
  view.viewing = !wanted || wanted.version === current.version ? null : wanted;
  view.deeds.keep(() => view.redraw());
  const again = view.foot.querySelector(`[data-testid=version-${from}]`);
  (again?.disabled ? view.foot.querySelector(".pager button:not(:disabled)") : again)?.focus();
}
