// Forms of the settings: labelled fields, a refusal beside the field it concerns, and nothing typed is lost by one.

import { button, el } from "./dom.js";
import { watchKeys } from "./keys.js";
import { say } from "./words.js";

let number = 0;

/** {name, label, kind, value, hint, options, rows, …} → the field with its label and a place for its refusal. */
export function field({ name, label, kind = "text", value = "", hint, options, ...rest }) {
  const id = `field-${++number}`;
  const common = { id, name, "aria-describedby": `${id}-wrong${hint ? ` ${id}-hint` : ""}`, ...rest };
  let input;
  if (kind === "area") input = el("textarea", { rows: 5, dir: "auto", ...common, value });
  else if (kind === "select") input = select(common, options, value);
  else input = el("input", { type: kind, autocomplete: "off", ...common, value });
  const parts = [el("label", { for: id }, label), hint ? el("p.field-hint", { id: `${id}-hint` }, hint) : null, input];
  return el("div.field", { "data-field": name }, ...parts, el("p.field-error", { id: `${id}-wrong`, hidden: true }));
}

function select(attributes, options, value) {
  return el("select", attributes, ...options.map(([key, words]) => el("option", { value: key, selected: key === value }, words)));
}

/** Several of a list: [[id, words], …] as boxes to tick. */
export function ticks({ name, label, options }) {
  const boxes = options.map(([id, words]) => el("label.tick", {}, el("input", { type: "checkbox", name, value: id }), el("span", {}, words)));
  return el("fieldset.field", { "data-field": name }, el("legend", {}, label), el("div.ticks", {}, ...boxes));
}

/** A form that calls `submit(values)` and shows what it throws; `label` is on its button. */
export function form(fields, { label, submit, cancel, testid }) {
  const wrong = el("p.form-error", { role: "alert", hidden: true });
  const send = el("button.button.button-main", { type: "submit", "data-testid": "submit" }, label);
  const back = cancel ? button(say("page.cancel"), cancel) : null;
  const node = el("form.form", { novalidate: true, "data-testid": testid }, ...fields, wrong, el("div.form-actions", {}, send, back));
  node.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (send.disabled) return;
    send.disabled = true;
    clear(node, wrong);
    try {
      await submit(valuesOf(node), node);
    } catch (problem) {
      refuse(node, wrong, problem);
    } finally {
      send.disabled = false;
    }
  });
  for (const input of node.querySelectorAll("input, textarea")) watchKeys(input, {});
  return node;
}

function valuesOf(node) {
  const values = {};
  for (const input of node.querySelectorAll("input[name], textarea[name], select[name]")) {
    if (input.type === "checkbox") (values[input.name] ??= []).push(...(input.checked ? [input.value] : []));
    else values[input.name] = input.value;
  }
  return values;
}

function clear(node, wrong) {
  wrong.hidden = true;
  for (const place of node.querySelectorAll(".field")) {
    place.classList.remove("field-wrong");
    const words = place.querySelector(".field-error");
    if (words) words.hidden = true;
  }
}

function refuse(node, wrong, problem) {
  const place = problem.field && node.querySelector(`[data-field="${CSS.escape(problem.field)}"]`);
  const words = place?.querySelector(".field-error") || wrong;
  words.textContent = problem.message;
  words.hidden = false;
  place?.classList.add("field-wrong");
  place?.querySelector("input, textarea, select")?.focus();
}
