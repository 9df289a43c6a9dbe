// One's own API tokens: shown once, dropped at will.

import { api } from "./api.js";
import { button, el } from "./dom.js";
import { field, form } from "./forms.js";
import { secret } from "./settings-people.js";
import { toast } from "./toast.js";
import { say, wholeTimeOf } from "./words.js";

export async function tokens(office, again) {
  const { tokens: rows } = await api.get("tokens/");
  const made = el("div");
  const submit = async (values, node) => {
    const { token } = await api.post("tokens/", values);
    made.replaceChildren(secret(token, say("settings.token_once"), "token"));
    node.reset();
    list.append(row(await newest(), again));
  };
  const add = form([field({ name: "name", label: say("settings.token_name"), hint: say("settings.token_name_hint") })], { label: say("settings.make_token"), submit, testid: "token-form" });
  const list = el("ul.rows", {}, ...rows.map((one) => row(one, again)));
  return [el("p.settings-lead", {}, say("settings.tokens_lead")), list, made, add];
}

const newest = async () => (await api.get("tokens/")).tokens[0];

function row(token, again) {
  const drop = button(say("settings.delete"), async () => {
    try {
      await api.delete(`tokens/${token.id}/`);
    } catch (problem) {
      toast(problem.message, { failed: true });
    }
    again();
  }, { kind: "button.button-small.button-quiet-danger" });
  const used = token.last_used ? say("settings.token_used", { time: wholeTimeOf(token.last_used) }) : say("settings.token_unused");
  return el("li.row", {}, el("div.row-words", {}, el("b", {}, token.name), el("p", {}, used)), el("div.row-actions", {}, drop));
}
