// The one key handler of every text field. Enter must never send what an input method is still converting.

const handlers = new WeakMap();
let composingField = null;
let lastConversionKey = -Infinity;

/** True while an input method owns the key: also Safari's keydown that comes after `compositionend` with 229. */
export function isConversion(event) {
  return event.isComposing || event.keyCode === 229 || composingField === event.target;
}

/** Fingers on glass: Enter makes a new line there, since no Shift is at hand. */
export function isTouch() {
  return matchMedia("(hover: none) and (pointer: coarse)").matches;
}

/**
 * Watches a field: `send` on Enter (or Ctrl/Cmd+Enter, also on touch keyboards), `cancel` on Escape, and `first`,
 * which sees every key before and returns true when it has taken it (lists of suggestions).
 */
export function watchKeys(field, { send, cancel, first, multiline = field.tagName === "TEXTAREA" } = {}) {
  handlers.set(field, { send, cancel, first, multiline });
}

function pressed(event) {
  const handler = handlers.get(event.target);
  if (isConversion(event)) {
    if (event.key === "Enter" || event.keyCode === 229) lastConversionKey = event.timeStamp;
    return;
  }
  if (!handler || handler.first?.(event)) return;
  if (event.key === "Enter" && handler.send && sends(event, handler)) {
    event.preventDefault();
    if (!event.repeat) handler.send(event);
  } else if (event.key === "Escape" && handler.cancel) {
    event.preventDefault();
    handler.cancel(event);
  }
}

function sends(event, { multiline }) {
  if (event.ctrlKey || event.metaKey) return true;
  if (event.shiftKey || event.altKey) return false;
  return !multiline || !isTouch();
}

/** A form must not go off because Enter confirmed a conversion in one of its fields. */
function submitted(event) {
  if (event.timeStamp - lastConversionKey < 40) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

document.addEventListener("compositionstart", (event) => (composingField = event.target), true);
document.addEventListener("compositionend", () => (composingField = null), true);
document.addEventListener("focusout", () => (composingField = null), true);
document.addEventListener("keydown", pressed);
document.addEventListener("submit", submitted, true);
