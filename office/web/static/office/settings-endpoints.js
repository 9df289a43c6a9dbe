// Model endpoints: what is there, what was found on this machine, and a new one by address and key.

import { api } from "./api.js";
import { button, el, icon } from "./dom.js";
import { confirmed, openDialog } from "./dialog.js";
import { field, form } from "./forms.js";
import { connectFound } from "./connect.js";
import { toast } from "./toast.js";
import { say } from "./words.js";

const TEST_MS = 90_000;

export async function endpoints(office, again) {
  const { providers } = await api.get("providers/");
  const found = el("div", { "data-testid": "found" });
  showFound(found, providers, office, again);
  const lead = el("p.settings-lead", {}, say("settings.endpoints_lead"));
  const rows = providers.map((provider) => row(provider, office, again));
  const add = button(say("settings.add_endpoint"), () => edit(null, again), { kind: "button.button-main", icon: "plus", "data-testid": "add-endpoint" });
  return [lead, found, el("ul.rows", {}, ...rows), add];
}

async function showFound(host, providers, office, again) {
  const { found } = await api.get("providers/found/").catch(() => ({ found: [] }));
  const known = new Set(providers.map((provider) => provider.base_url));
  const fresh = found.filter((one) => !known.has(one.base_url));
  if (!fresh.length) return;
  const offers = fresh.map((one) => connectFound(one, office, again));
  host.replaceChildren(el("div.notice-card", {}, el("p", {}, say("settings.found")), ...offers));
}

function row(provider, office, again) {
  const fixed = provider.kind !== "openai";
  const verdict = el("p.verdict", { role: "status", hidden: true, "data-testid": "verdict" });
  const test = button(say("settings.test"), () => tryIt(provider, test, verdict), { kind: "button.button-small", icon: "plug", "data-testid": "test-endpoint" });
  const give = button(say("settings.give_to_all"), () => giveToAll(provider, give, office, again), { kind: "button.button-small" });
  const change = button(say("settings.change"), () => edit(provider, again), { kind: "button.button-small", icon: "pencil" });
  const drop = button(say("settings.delete"), () => remove(provider, again), { kind: "button.button-small.button-quiet-danger" });
  const facts = [provider.base_url, provider.default_model, provider.has_key ? say("settings.key_ends", { last: provider.key_last4 || "····" }) : null];
  const words = el("div.row-words", {}, el("b", {}, provider.name), el("p", {}, fixed && provider.kind === "rehearsal" ? say("settings.rehearsal_words") : facts.filter(Boolean).join(" · ")), verdict);
  const actions = provider.kind === "rehearsal" ? [] : fixed ? [test, give] : [test, give, change, drop];
  return el("li.row", { "data-provider": provider.id, "data-kind": provider.kind }, words, el("div.row-actions", {}, ...actions));
}

async function tryIt(provider, node, verdict) {
  node.disabled = true;
  verdict.hidden = false;
  verdict.dataset.ok = "";
  verdict.textContent = say("settings.testing");
  try {
    const { ok, message, models } = await api.post(`providers/${provider.id}/test/`, {}, TEST_MS);
    verdict.dataset.ok = String(ok);
    const names = ok && models.length ? ` ${models.slice(0, 6).join(say("receipt.comma"))}${models.length > 6 ? " …" : ""}` : "";
    verdict.replaceChildren(icon(ok ? "check" : "alert"), message + names);
  } catch (problem) {
    verdict.dataset.ok = "false";
    verdict.replaceChildren(icon("alert"), problem.message);
  }
  node.disabled = false;
}

async function giveToAll(provider, node, office, again) {
  node.disabled = true;
  try {
    const { coworkers } = await api.post(`providers/${provider.id}/give-to-all/`, { model: provider.default_model || "" });
    office.tookCoworkers(coworkers);
    toast(say("settings.given_to_all", { count: coworkers.length }));
    again();
  } catch (problem) {
    toast(problem.message, { failed: true });
  }
  node.disabled = false;
}

function edit(provider, again) {
  const fields = [
    field({ name: "name", label: say("settings.name"), value: provider?.name, required: true }),
    field({ name: "base_url", label: say("settings.base_url"), hint: say("settings.base_url_hint"), kind: "url", value: provider?.base_url, required: true, placeholder: "https://api.openai.com/v1", spellcheck: "false" }),
    field({ name: "key", label: say("settings.key"), hint: say(provider?.has_key ? "settings.key_kept" : "settings.key_hint"), kind: "password", autocomplete: "new-password", spellcheck: "false" }),
    field({ name: "default_model", label: say("settings.model"), hint: say("settings.model_hint"), value: provider?.default_model, spellcheck: "false" }),
    field({ name: "context_window", label: say("settings.context_window"), hint: say("settings.context_window_hint"), kind: "number", min: 1024, inputmode: "numeric", value: provider?.context_window ?? "" }),
  ];
  const submit = async (values) => {
    if (!values.key) delete values.key;
    values.context_window = values.context_window === "" ? null : Number(values.context_window);
    const saved = provider ? await api.patch(`providers/${provider.id}/`, values) : await api.post("providers/", values);
    opened.close();
    toast(say("settings.saved"));
    if (!provider) await api.post(`providers/${saved.id}/test/`, {}, TEST_MS).catch(() => null);
    again();
  };
  const body = form(fields, { label: say("settings.save"), submit, cancel: () => opened.close(), testid: "endpoint-form" });
  const opened = openDialog(say(provider ? "settings.change_endpoint" : "settings.add_endpoint"), body);
  body.querySelector("input").focus();
}

async function remove(provider, again) {
  if (!(await confirmed(say("settings.delete_endpoint"), say("settings.delete_endpoint_words", { name: provider.name }), say("settings.delete")))) return;
  try {
    await api.delete(`providers/${provider.id}/`);
    again();
  } catch (problem) {
    toast(problem.message, { failed: true });
  }
}
