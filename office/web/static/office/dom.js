// Building elements without markup: text always goes in as text.

/** el("p.note", {title: "…", onclick: fn, dataset: {…}}, child, "text", …) */
export function el(kind, attributes = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const node = document.createElement(tag || "div");
  if (classes.length) node.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) set(node, name, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function set(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "dataset") Object.assign(node.dataset, value);
  else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (["value", "checked", "selected", "disabled", "hidden", "textContent"].includes(name)) node[name] = value;
  else node.setAttribute(name, value === true ? "" : value);
}

const SVG = "http://www.w3.org/2000/svg";

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** A button that shows an icon alone and says its name to those who cannot see it. */
export function iconButton(name, label, onclick, more = {}) {
  return el("button.icon-button", { type: "button", "aria-label": label, title: label, onclick, ...more }, icon(name));
}

export function button(label, onclick, more = {}) {
  const { kind = "button", icon: mark, ...rest } = more;
  return el(kind.replace(/^button/, "button.button"), { type: "button", onclick, ...rest }, mark ? icon(mark) : null, el("span", {}, label));
}

/** The first letters of a name on its own colour. Segmented, so that an emoji or a が of two code points is never cut in half. */
export function monogram(name, hue, kind = "coworker") {
  const letters = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(name.trim())];
  const node = el(`span.monogram.monogram-${kind}`, { "aria-hidden": "true" }, letters[0]?.segment.toUpperCase() || "?");
  node.style.setProperty("--hue", String(hue ?? hueOf(name)));
  return node;
}

export function hueOf(text) {
  let sum = 7;
  for (const mark of text) sum = (sum * 31 + mark.codePointAt(0)) % 360;
  return sum;
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyTheOldWay(text); // plain http from another machine has no clipboard object
  }
}

function copyTheOldWay(text) {
  const field = el("textarea", { value: text, readonly: true, class: "aside-voice" });
  const before = document.activeElement;
  (document.querySelector("dialog[open]") || document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  before?.focus?.();
  return done;
}

/** Shows on the button itself that the copy was made, then goes back. */
export async function copyFrom(node, text, done) {
  if (!(await copyText(text))) return;
  const mark = node.querySelector("use");
  const before = mark?.getAttribute("href");
  mark?.setAttribute("href", "#i-check");
  node.dataset.copied = "";
  done?.();
  setTimeout(() => {
    if (before) mark.setAttribute("href", before);
    delete node.dataset.copied;
  }, 1600);
}

/** Makes `parent` hold exactly these nodes in this order, touching only what is out of place. */
export function arrange(parent, nodes) {
  const keep = new Set(nodes);
  for (const node of [...parent.childNodes]) if (!keep.has(node)) node.remove();
  let place = parent.firstChild;
  for (const node of nodes) {
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
}
