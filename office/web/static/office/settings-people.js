// Members of the office, and the links that let one more person in.

import { api } from "./api.js";
import { button, copyFrom, el, monogram } from "./dom.js";
import { confirmed, openDialog } from "./dialog.js";
import { field, form } from "./forms.js";
import { toast } from "./toast.js";
import { say, wholeTimeOf } from "./words.js";

const ROLES = ["admin", "member", "guest"];
const roleWord = (role) => say(`settings.role_${role}`);

export async function people(office, again) {
  const { members } = await api.get("members/");
  const rows = el("ul.rows", {}, ...members.map((member) => row(member, office, again)));
  if (!office.mayRun) return [rows];
  const { invites } = await api.get("invites/");
  const open = invites.filter((one) => !one.used && Date.parse(one.expires) > Date.now());
  const add = button(say("sidebar.invite"), () => invitePerson(again), { kind: "button.button-main", icon: "plus", "data-testid": "invite-person" });
  const list = open.length ? [el("h3", {}, say("settings.open_invites")), el("ul.rows", {}, ...open.map((one) => inviteRow(one, again)))] : [];
  return [el("p.settings-lead", {}, say("settings.people_lead")), rows, add, ...list];
}

function row(member, office, again) {
  const fixed = !office.mayRun || member.role === "owner" || member.id === office.me.id;
  const role = el("select", { "aria-label": say("settings.role_of", { name: member.name }) }, ...ROLES.map((one) => el("option", { value: one, selected: one === member.role }, roleWord(one))));
  role.addEventListener("change", () => attempt(() => api.patch(`members/${member.id}/`, { role: role.value }), again));
  const remove = button(say("settings.remove"), () => removeMember(member, again), { kind: "button.button-small.button-quiet-danger" });
  const words = el("div.row-words", {}, el("b", {}, member.name), fixed ? el("p", {}, roleWord(member.role)) : null);
  return el("li.row", { "data-person": member.id }, monogram(member.name, undefined, "person"), words, fixed ? null : el("div.row-actions", {}, role, remove));
}

function inviteRow(invite, again) {
  const drop = button(say("settings.withdraw"), () => attempt(() => api.delete(`invites/${invite.id}/`), again), { kind: "button.button-small.button-quiet-danger" });
  const words = el("div.row-words", {}, el("b", {}, roleWord(invite.role)), el("p", {}, say("settings.valid_until", { time: wholeTimeOf(invite.expires) })));
  return el("li.row", {}, words, el("div.row-actions", {}, drop));
}

async function attempt(work, again) {
  try {
    await work();
    toast(say("settings.saved"));
  } catch (problem) {
    toast(problem.message, { failed: true });
  }
  again();
}

async function removeMember(member, again) {
  const sure = await confirmed(say("settings.remove_title", { name: member.name }), say("settings.remove_words"), say("settings.remove"));
  if (sure) await attempt(() => api.delete(`members/${member.id}/`), again);
}

/** Makes a link for one person; it is shown this once. */
export function invitePerson(done) {
  const fields = [field({ name: "role", label: say("settings.role"), kind: "select", value: "member", options: ROLES.map((role) => [role, roleWord(role)]), hint: say("settings.role_hint") })];
  const submit = async (values, node) => {
    const { url } = await api.post("invites/", values);
    node.replaceWith(secret(url, say("settings.invite_once"), "invite-url"));
    done?.();
  };
  const body = form(fields, { label: say("settings.make_link"), submit, cancel: () => opened.close(), testid: "invite-form" });
  const opened = openDialog(say("sidebar.invite"), el("div", {}, body));
}

/** Something shown once, with a button that copies it. */
export function secret(text, words, testid) {
  const copy = button(say("thread.copy"), () => copyFrom(copy, text), { kind: "button.button-main", icon: "copy" });
  const field = el("input.secret", { value: text, readonly: true, "aria-label": words, "data-testid": testid, onfocus: (event) => event.target.select() });
  return el("div.secret-box", {}, el("p", {}, words), el("div.secret-row", {}, field, copy));
}
