// What the buttons of a message do. Every failure is told in words; nothing a person wrote is lost by one.

import { api } from "./api.js";
import { confirmed } from "./dialog.js";
import { newId } from "./ids.js";
import { openReceipt } from "./receipt.js";
import { toast } from "./toast.js";
import { announce } from "./announce.js";
import { say } from "./words.js";

/** `keep(change)` draws without moving what the reader looks at; `took(body)` applies an answer ahead of its event. */
export function deedsFor({ keep, took }) {
  const attempt = async (node, work) => {
    if (node?.disabled) return null;
    if (node) node.disabled = true;
    try {
      return await work();
    } catch (problem) {
      toast(problem.message, { failed: true });
      if (node) node.disabled = false;
      return null;
    }
  };
  const kept = new Map(); // client ids of regenerations whose answer never came
  return {
    keep,
    copied: () => announce(say("thread.copied")),
    stop: (run, node) => attempt(node, async () => took(await api.post(`missions/${run.mission}/stop/`))),
    retry: (run, node) => attempt(node, async () => took(await api.post(`missions/${run.mission}/retry/`))),
    regenerate: (message, node) =>
      attempt(node, async () => {
        const client_id = kept.get(message.id) || newId();
        kept.set(message.id, client_id);
        took(await api.post(`messages/${message.id}/regenerate/`, { client_id }));
        kept.delete(message.id);
      }),
    edit: async (message, text, client_msg_id) =>
      took(await api.patch(`messages/${message.id}/`, { text, client_msg_id, version: message.versions })),
    retract: async (message) => {
      const sure = await confirmed(say("thread.retract_title"), say("thread.retract_words"), say("thread.retract"));
      if (sure) await attempt(null, async () => took(await api.delete(`messages/${message.id}/`)));
    },
    select: (message, node) => attempt(node, async () => took(await api.post(`messages/${message.id}/select/`))),
    versions: async (message) => (await attempt(null, () => api.get(`messages/${message.id}/versions/`)))?.versions,
    receipt: (message) => openReceipt(() => api.get(`messages/${message.id}/calls/`)),
    receiptOfRun: (run) =>
      openReceipt(async () => {
        const { calls } = await api.get(`threads/${run.thread}/calls/`);
        return { calls: calls.filter((call) => call.run === run.id).reverse() };
      }),
  };
}
