// A new project channel: a name, and who is in it.

import { api } from "./api.js";
import { openDialog } from "./dialog.js";
import { field, form, ticks } from "./forms.js";
import { say } from "./words.js";

/** `done(channel)` when it is open. */
export function newChannel(office, done) {
  const staff = [...office.lists.coworkers.values()].filter((one) => !one.retired);
  const people = [...office.lists.people.values()].filter((one) => one.id !== office.me.id);
  const fields = [
    field({ name: "name", label: say("settings.channel_name") }),
    ticks({ name: "coworkers", label: say("sidebar.coworkers"), options: staff.map((one) => [one.id, one.name]) }),
  ];
  if (people.length) fields.push(ticks({ name: "people", label: say("sidebar.people"), options: people.map((one) => [one.id, one.name]) }));
  const submit = async (values) => {
    const channel = await api.post("channels/", { people: [], coworkers: [], ...values });
    opened.close();
    done(channel);
  };
  const body = form(fields, { label: say("settings.open_channel"), submit, cancel: () => opened.close(), testid: "channel-form" });
  const opened = openDialog(say("sidebar.new_channel"), body);
  body.querySelector("input").focus();
}
