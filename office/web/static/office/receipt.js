// "What did it see?": the request that made an answer, exactly as it was sent, and the account of it.

import { api } from "./api.js";
import { button, copyFrom, el, icon } from "./dom.js";
import { openDialog } from "./dialog.js";
import { count, has, say, wholeTimeOf } from "./words.js";

/** `find()` gives {calls}, oldest first; the newest is shown, earlier attempts can be chosen. */
export async function openReceipt(find) {
  const body = el("div.receipt", { "aria-busy": "true" }, el("p.receipt-loading", {}, say("receipt.loading")));
  openDialog(say("receipt.title"), body, { wide: true, testid: "receipt-dialog" });
  try {
    const { calls } = await find();
    if (calls.length) await show(body, calls, calls.at(-1));
    else body.replaceChildren(el("p", {}, say("receipt.none")));
  } catch (problem) {
    body.replaceChildren(el("p.form-error", { role: "alert" }, problem.message));
  }
  body.removeAttribute("aria-busy");
}

async function show(body, calls, call) {
  const receipt = await api.get(`calls/${call.id}/receipt/`);
  const parts = [attempts(body, calls, call), summary(receipt), bar(receipt), leftOut(receipt), sent(receipt)];
  body.replaceChildren(...parts.filter(Boolean));
  checkHash(receipt, body.querySelector("[data-hash]"));
}

function attempts(body, calls, call) {
  if (calls.length < 2) return null;
  const choose = el("select", { onchange: () => show(body, calls, calls[choose.selectedIndex]) });
  calls.forEach((one, index) => choose.append(el("option", { selected: one === call }, say("receipt.attempt", { number: index + 1, state: word("state", one.state) }))));
  return el("label.receipt-attempts", {}, say("receipt.attempts"), choose);
}

const word = (area, code) => (has(`receipt.${area}_${code}`) ? say(`receipt.${area}_${code}`) : code);

function summary({ call, messages, tokens, hash }) {
  const rows = [
    [say("receipt.sent_to"), `${call.model} · ${call.provider_name}`],
    [say("receipt.size"), say(tokens.estimated ? "receipt.size_estimated" : "receipt.size_exact", { count: count(messages.length), tokens: count(tokens.total ?? 0) })],
    [say("receipt.usage"), usage(call.usage)],
    [say("receipt.time"), times(call)],
    [say("receipt.cost"), cost(call.cost)],
    [say("receipt.outcome"), outcome(call)],
  ];
  const list = el("dl.receipt-facts", {}, ...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  const print = el("p.receipt-hash", {}, el("code", {}, hash), el("span", { "data-hash": "" }));
  return el("section", {}, list, print);
}

function usage(used) {
  if (!used) return say("receipt.unknown");
  const values = { prompt: count(used.prompt ?? 0), completion: used.completion === null ? "–" : count(used.completion) };
  const extras = [used.cached && say("receipt.cached", { tokens: count(used.cached) }), used.reasoning && say("receipt.reasoning", { tokens: count(used.reasoning) })];
  const source = say(used.source === "reported" ? "receipt.reported" : "receipt.estimated");
  return say("receipt.with_note", { words: say("receipt.usage_words", values), note: [source, ...extras.filter(Boolean)].join(say("receipt.comma")) });
}

function times({ sent_at, first_token_ms, latency_ms }) {
  const seconds = (value) => count(Math.round(value / 100) / 10);
  const parts = [sent_at && wholeTimeOf(sent_at)];
  if (first_token_ms) parts.push(say("receipt.first_token", { seconds: seconds(first_token_ms) }));
  if (latency_ms) parts.push(say("receipt.latency", { seconds: seconds(latency_ms) }));
  return parts.filter(Boolean).join(" · ");
}

function cost(price) {
  if (!price) return say("receipt.no_price");
  const format = new Intl.NumberFormat(document.documentElement.lang, { style: "currency", currency: price.currency, maximumFractionDigits: 6 });
  const note = say(price.source === "reported" ? "receipt.reported" : "receipt.estimated");
  return say("receipt.with_note", { words: format.format(price.amount), note });
}

function outcome({ state, error, finish_reason }) {
  const why = error ? `: ${error.message}` : finish_reason && finish_reason !== "stop" ? ` (${finish_reason})` : "";
  return word("state", state) + why;
}

/** Where the tokens come from, as one bar; the same figures stand in the legend in words. */
function bar({ segments }) {
  const totals = new Map();
  for (const { origin, tokens } of segments) totals.set(origin, (totals.get(origin) || 0) + tokens);
  const strip = el("div.receipt-bar", { "aria-hidden": "true" });
  const legend = el("ul.receipt-legend");
  for (const [origin, tokens] of totals) {
    const piece = el("span", { "data-origin": origin, title: `${word("origin", origin)} ${count(tokens)}` });
    piece.style.flexGrow = String(Math.max(tokens, 1));
    strip.append(piece);
    legend.append(el("li", { "data-origin": origin }, el("i.swatch", { "aria-hidden": "true" }), word("origin", origin), el("b", {}, say("receipt.tokens", { tokens: count(tokens) }))));
  }
  return el("section", {}, el("h3", {}, say("receipt.made_of")), strip, legend);
}

function leftOut({ left_out: gone }) {
  const head = el("h3", {}, say("receipt.left_out"));
  if (!gone.length) return el("section", {}, head, el("p", {}, say("receipt.nothing_left_out")));
  const line = ({ reason, count: many, first, last }) => {
    const range = first === last ? `#${first}` : `#${first}–#${last}`;
    return el("li", {}, say("receipt.left_out_line", { count: count(many), range, reason: word("reason", reason) }));
  };
  return el("section", {}, head, el("ul.receipt-left-out", { "data-testid": "left-out" }, ...gone.map(line)));
}

/** Each message as it went out, with its stretches labelled by where they come from. */
function sent({ messages, segments }) {
  const list = el("ol.receipt-messages");
  messages.forEach((message, index) => {
    const head = el("header", {}, el("span.role", {}, word("role", message.role)), el("span.receipt-index", {}, `${index + 1}/${messages.length}`));
    list.append(el("li.receipt-message", { "data-role": message.role }, head, ...stretches(message.content, segments.filter((one) => one.index === index))));
  });
  const raw = button(say("receipt.copy_json"), () => copyFrom(raw, JSON.stringify(messages, null, 2)), { kind: "button.button-small", icon: "copy", "data-testid": "copy-json" });
  return el("section", {}, el("div.receipt-head", {}, el("h3", {}, say("receipt.exactly")), raw), list);
}

/** Offsets count code points, as everywhere in the API. */
function stretches(content, segments) {
  const marks = Array.from(content);
  return segments.map(({ origin, label, start, end, tokens, source }) => {
    const name = word("origin", origin);
    const from = source && label.startsWith("#") ? label : "";
    const tag = el("span.origin", {}, el("i.swatch", { "aria-hidden": "true" }), [name, from].filter(Boolean).join(" · "), el("b", {}, say("receipt.tokens", { tokens: count(tokens) })));
    return el("div.stretch", { "data-origin": origin }, tag, el("pre", { dir: "auto" }, marks.slice(start, end).join("")));
  });
}

/** Computes the hash of what is shown here again: the reader need not believe the server's word. */
async function checkHash({ messages, hash }, node) {
  if (!globalThis.crypto?.subtle || !node) return;
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(messages)));
  const hex = Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const same = `sha256:${hex}` === hash;
  node.dataset.hash = same ? "same" : "other";
  node.replaceChildren(icon(same ? "check" : "alert"), say(same ? "receipt.hash_same" : "receipt.hash_other"));
}
