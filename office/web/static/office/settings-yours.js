// One's own name and language, and, for those who run it, the office's name.

import { api } from "./api.js";
import { field, form } from "./forms.js";
import { card } from "./card.js";
import { toast } from "./toast.js";
import { say } from "./words.js";

const LANGUAGES = [["ja", "日本語"], ["en", "English"]];

export async function yours(office) {
  const me = [
    field({ name: "name", label: say("settings.your_name"), value: office.me.name, autocomplete: "name" }),
    field({ name: "language", label: say("settings.your_language"), kind: "select", options: LANGUAGES, value: office.me.language }),
  ];
  const saveMe = async (values) => {
    await api.patch("me/", values);
    location.reload(); // every sentence on the page changes
  };
  const parts = [card(say("settings.you"), form(me, { label: say("settings.save"), submit: saveMe, testid: "me-form" }))];
  return office.mayRun ? [...parts, await ofOffice()] : parts;
}

async function ofOffice() {
  const { name, language } = await api.get("office/");
  const fields = [
    field({ name: "name", label: say("settings.office_name"), value: name }),
    field({ name: "language", label: say("settings.office_language"), hint: say("settings.office_language_hint"), kind: "select", options: LANGUAGES, value: language }),
  ];
  const submit = async (values) => {
    const office = await api.patch("office/", values);
    document.querySelector("[data-office-name]").textContent = office.name;
    toast(say("settings.saved"));
  };
  return card(say("settings.the_office"), form(fields, { label: say("settings.save"), submit, testid: "office-form" }));
}
