// A model server found on this machine: one click adds it and lets everybody who only rehearses answer by it.

import { api } from "./api.js";
import { button, el } from "./dom.js";
import { toast } from "./toast.js";
import { say } from "./words.js";

const MODELS_SHOWN = 40;

/** Name, models to choose from, and the button. `done` is called when coworkers have moved. */
export function connectFound(server, office, done) {
  const models = server.models.slice(0, MODELS_SHOWN);
  const choose = el("select", { "aria-label": say("settings.model") }, ...models.map((name) => el("option", {}, name)));
  const go = button(say("settings.use_found", { name: server.name }), () => connect(server, choose.value || "", office, go, done), {
    kind: "button.button-main.button-small",
    icon: "plug",
    "data-testid": "use-found",
  });
  return el("div.found", { "data-found": server.name }, models.length ? choose : null, go);
}

async function connect(server, model, office, node, done) {
  node.disabled = true;
  try {
    const provider = await api.post("providers/", { name: server.name, base_url: server.base_url, default_model: model, models: server.models });
    const { coworkers } = await api.post(`providers/${provider.id}/give-to-all/`, { model });
    office.tookCoworkers(coworkers);
    toast(say("settings.connected", { name: server.name }));
    done?.();
  } catch (problem) {
    toast(problem.message, { failed: true });
    node.disabled = false;
  }
}
