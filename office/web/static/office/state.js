// What the screen shows, as plain values: a snapshot, and each event applied to it. No DOM, no network, no clock.
// Every payload is absolute, so an event applied twice changes nothing.

/** A thread from its snapshot: maps by number and id, and the runs with their text so far. */
export function fromSnapshot(snapshot) {
  return {
    ...snapshot.thread,
    messages: byKey(snapshot.messages, "number"),
    runs: byKey(snapshot.runs || [], "id"),
    missions: byKey(snapshot.missions || [], "id"),
    moreBefore: Boolean(snapshot.more_before),
    oldest: oldestOf(snapshot.messages),
    loose: new Map(), // deltas of runs nobody told us of yet
  };
}

const byKey = (rows, key) => new Map(rows.map((row) => [row[key], row]));
const oldestOf = (messages) => messages.reduce((least, message) => Math.min(least, message.number), Infinity);

/** An older page put in front of what is there; what is there is the newer word. */
export function withOlder(thread, page) {
  const messages = new Map([...byKey(page.messages, "number"), ...thread.messages]);
  const oldest = Math.min(thread.oldest, oldestOf(page.messages));
  return { ...thread, messages, oldest, moreBefore: page.more_before };
}

/** The thread after an event; the same object when nothing it shows has changed. */
export function afterEvent(thread, { event, payload }) {
  if (payload.message) return withMessage(thread, payload.message, payload.message_count);
  if (payload.mission) return { ...thread, missions: put(thread.missions, payload.mission.id, payload.mission) };
  if (payload.run) return withRun(thread, payload.run);
  if (event === "thread.renamed") return { ...thread, title: payload.thread?.title ?? payload.title };
  return thread;
}

/** A row that came by an event replaces what is there; one that came as an answer only fills an empty place. */
export function withMessage(thread, message, messageCount, { onlyIfNew = false } = {}) {
  if (onlyIfNew && thread.messages.has(message.number)) return thread;
  const beyond = thread.moreBefore && message.number < thread.oldest;
  const messages = beyond ? thread.messages : put(thread.messages, message.number, message);
  return { ...thread, messages, message_count: Math.max(thread.message_count, messageCount || message.number) };
}

function withRun(thread, run) {
  const before = thread.runs.get(run.id);
  const runs = new Map(thread.runs);
  for (const [id, other] of runs) if (id !== run.id && supersedes(run, other)) runs.delete(id);
  const over = run.state === "done" || (run.message && !LIVE.has(run.state));
  const stale = before && (before.attempt > run.attempt || (!LIVE.has(before.state) && LIVE.has(run.state)));
  if (over) runs.delete(run.id);
  else if (!stale) runs.set(run.id, { ...run, ...textFor(thread, before, run) });
  return { ...thread, runs };
}

const LIVE = new Set(["queued", "running"]);
export const isLive = (run) => LIVE.has(run.state);

/** A coworker's new run for a mission takes the place of one that ended without an answer. */
function supersedes(run, other) {
  return LIVE.has(run.state) && !LIVE.has(other.state) && run.mission === other.mission && run.coworker === other.coworker;
}

function textFor(thread, before, run) {
  if (typeof run.text === "string") return { text: run.text, offset: run.offset };
  if (before && before.attempt === run.attempt) return { text: before.text, offset: before.offset };
  const loose = thread.loose.get(run.id);
  const fits = loose && loose.attempt === run.attempt;
  return fits ? { text: loose.text, offset: loose.offset } : { text: "", offset: 0 };
}

/** Code points, as the server counts; a surrogate pair is one. */
export function lengthOf(text) {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/**
 * A piece of a running answer. {thread, added, lost}: `added` is the new text to draw, `lost` is true when pieces are
 * missing before it and the whole text must be fetched.
 */
export function afterDelta(thread, delta) {
  const run = thread.runs.get(delta.run);
  if (!run) return keepLoose(thread, delta);
  if (delta.attempt < run.attempt || !LIVE.has(run.state)) return { thread, added: "", lost: false };
  const fresh = delta.attempt > run.attempt;
  const have = fresh ? 0 : run.offset;
  const missing = have - delta.offset;
  if (missing < 0) return { thread, added: "", lost: true };
  const added = missing === 0 ? delta.text : [...delta.text].slice(missing).join("");
  if (!added && !fresh) return { thread, added: "", lost: false };
  const text = (fresh ? "" : run.text) + added;
  const next = { ...run, attempt: delta.attempt, state: "running", phase: "writing", text, offset: have + lengthOf(added) };
  return { thread: { ...thread, runs: put(thread.runs, run.id, next) }, added, lost: false, fresh };
}

function keepLoose(thread, delta) {
  const before = thread.loose.get(delta.run);
  const follows = before && before.attempt === delta.attempt && before.offset === delta.offset;
  if (!follows && delta.offset !== 0) return { thread, added: "", lost: false };
  const text = follows ? before.text + delta.text : delta.text;
  thread.loose.set(delta.run, { attempt: delta.attempt, text, offset: lengthOf(text) });
  return { thread, added: "", lost: false };
}

/** The whole text of a run as the server has it; never shorter than what this attempt already shows. */
export function withPartial(thread, partial) {
  const run = thread.runs.get(partial.run);
  if (!run || partial.attempt < run.attempt || !LIVE.has(run.state)) return thread;
  if (partial.attempt === run.attempt && partial.offset <= run.offset) return thread;
  const { attempt, text, offset } = partial;
  const phase = text ? "writing" : run.phase;
  return { ...thread, runs: put(thread.runs, run.id, { ...run, attempt, text, offset, phase }) };
}

function put(map, key, value) {
  return new Map(map).set(key, value);
}

/**
 * What stands in the thread, in display order (anchor, number): {kind: "message"|"run", key, …}. A run that makes a new
 * version stands in the place of its answer; one without a place stands last under its question.
 */
export function itemsOf(thread) {
  const answered = new Set([...thread.messages.values()].map((message) => message.run).filter(Boolean));
  const runs = [...thread.runs.values()].filter((run) => !answered.has(run.id));
  const remade = new Map(runs.filter((run) => run.number && isLive(run)).map((run) => [run.number, run]));
  const items = [];
  for (const message of thread.messages.values()) {
    const run = remade.get(message.number);
    const place = [message.anchor, message.number, 0];
    if (run) items.push({ kind: "run", key: `m${message.number}`, run, message, place });
    else items.push({ kind: "message", key: `m${message.number}`, message, place });
  }
  runs.forEach((run, index) => {
    if (remade.get(run.number) === run && thread.messages.has(run.number)) return;
    if (thread.moreBefore && run.anchor < thread.oldest) return;
    items.push({ kind: "run", key: `r${run.id}`, run, message: null, place: [run.anchor, run.number || Infinity, index + 1] });
  });
  return items.sort(byPlace);
}

function byPlace({ place: a }, { place: b }) {
  if (a[0] !== b[0]) return a[0] - b[0];
  return a[1] === b[1] ? a[2] - b[2] : a[1] < b[1] ? -1 : 1;
}
