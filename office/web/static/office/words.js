// Every sentence on screen comes from here; the page embeds those of its language.

const TABLE = JSON.parse(document.getElementById("words")?.textContent || "{}");
export const language = document.documentElement.lang || "en";

/** The sentence for a key, with {name} placeholders filled. A key nobody wrote shows itself. */
export function say(key, values = {}) {
  const sentence = TABLE[key];
  if (sentence === undefined) return key;
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export const has = (key) => key in TABLE;

const numbers = new Intl.NumberFormat(language);
export const count = (number) => numbers.format(number);

const clock = new Intl.DateTimeFormat(language, { timeStyle: "short" });
const day = new Intl.DateTimeFormat(language, { month: "short", day: "numeric", weekday: "short" });
const dayOfYear = new Intl.DateTimeFormat(language, { year: "numeric", month: "short", day: "numeric" });
const whole = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short" });

export const timeOf = (iso) => clock.format(new Date(iso));
export const wholeTimeOf = (iso) => whole.format(new Date(iso));
export const dayKey = (iso) => new Date(iso).toDateString();

/** The heading above a day's messages. */
export function dayOf(iso) {
  const then = new Date(iso);
  const today = new Date();
  const before = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  if (then.toDateString() === today.toDateString()) return say("thread.today");
  if (then.toDateString() === before.toDateString()) return say("thread.yesterday");
  return (then.getFullYear() === today.getFullYear() ? day : dayOfYear).format(then);
}
