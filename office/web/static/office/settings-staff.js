// Coworkers: hiring, changing, retiring.

import { api } from "./api.js";
import { button, el, hueOf, monogram } from "./dom.js";
import { confirmed, openDialog } from "./dialog.js";
import { field, form } from "./forms.js";
import { toast } from "./toast.js";
import { language, say } from "./words.js";

export async function staff(office, again) {
  const { coworkers } = await api.get("coworkers/");
  const rows = coworkers.filter((one) => !one.retired).map((one) => row(one, office, again));
  const hire = button(say("sidebar.hire"), () => editCoworker(null, office, again), { kind: "button.button-main", icon: "plus", "data-testid": "hire-coworker" });
  const gone = coworkers.filter((one) => one.retired).map((one) => one.name);
  const past = gone.length ? el("p.settings-lead", {}, say("settings.retired_names", { names: gone.join(say("receipt.comma")) })) : null;
  return [el("p.settings-lead", {}, say("settings.staff_lead")), el("ul.rows", {}, ...rows), office.mayRun ? hire : null, past].filter(Boolean);
}

function row(coworker, office, again) {
  const model = coworker.rehearsal ? coworker.provider_name : `${coworker.model} · ${coworker.provider_name}`;
  const words = el("div.row-words", {}, el("b", {}, coworker.name), el("span.row-title", {}, coworker.title), el("p", {}, model));
  const change = button(say("settings.change"), () => editCoworker(coworker, office, again), { kind: "button.button-small", icon: "pencil", "data-testid": "change-coworker" });
  const retire = button(say("settings.retire"), () => retireCoworker(coworker, office, again), { kind: "button.button-small.button-quiet-danger" });
  const actions = office.mayRun ? el("div.row-actions", {}, change, coworker.is_lead ? null : retire) : null;
  return el("li.row", { "data-coworker": coworker.id }, monogram(coworker.name, coworker.hue), words, actions);
}

/** The form for a new coworker, or for changing one; `done` after it is stored. */
export async function editCoworker(coworker, office, done) {
  const { providers } = await api.get("providers/");
  const fields = [
    field({ name: "name", label: say("settings.coworker_name"), hint: say("settings.coworker_name_hint"), value: coworker?.name }),
    field({ name: "title", label: say("settings.coworker_title"), value: coworker?.title }),
    field({ name: "persona", label: say("settings.persona"), hint: say("settings.persona_hint"), kind: "area", value: coworker?.persona, rows: 6 }),
    field({ name: "provider", label: say("settings.endpoint"), kind: "select", options: providers.map((one) => [one.id, one.name]), value: coworker?.provider || (providers.find((one) => one.kind !== "rehearsal") || providers[0])?.id }),
    field({ name: "model", label: say("settings.model"), hint: say("settings.coworker_model_hint"), value: coworker?.rehearsal ? "" : coworker?.model, list: "models", spellcheck: "false" }),
    field({ name: "language", label: say("settings.coworker_language"), kind: "select", options: [["ja", "日本語"], ["en", "English"]], value: coworker?.language || language }),
  ];
  const submit = async (values) => {
    if (coworker) values.version = coworker.version;
    else values.hue = hueOf(values.name);
    const saved = coworker ? await api.patch(`coworkers/${coworker.id}/`, values) : await api.post("coworkers/", values);
    office.tookCoworkers([saved]);
    opened.close();
    done?.(saved);
  };
  const body = form(fields, { label: say(coworker ? "settings.save" : "settings.hire_now"), submit, cancel: () => opened.close(), testid: "coworker-form" });
  body.append(suggestions(body, providers));
  const opened = openDialog(coworker ? coworker.name : say("sidebar.hire"), body);
  body.querySelector("input").focus();
}

/** Model names of the chosen endpoint, offered while one types. */
function suggestions(body, providers) {
  const list = el("datalist", { id: "models" });
  const choose = body.querySelector("[name=provider]");
  const fill = () => {
    const models = providers.find((one) => one.id === choose.value)?.models || [];
    list.replaceChildren(...models.map((name) => el("option", { value: name })));
  };
  choose.addEventListener("change", fill);
  fill();
  return list;
}

async function retireCoworker(coworker, office, again) {
  if (!(await confirmed(say("settings.retire_title", { name: coworker.name }), say("settings.retire_words"), say("settings.retire")))) return;
  try {
    office.tookCoworkers([await api.post(`coworkers/${coworker.id}/retire/`)]);
    again();
  } catch (problem) {
    toast(problem.message, { failed: true });
  }
}
