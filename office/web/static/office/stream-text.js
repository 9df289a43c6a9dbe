// Draws an answer while it grows. Blocks that are complete are drawn once and left alone; only the last one is drawn
// again. Elements are made, never markup, and have the shape of the server's HTML, so that its arrival moves nothing.

import { el } from "./dom.js";

const PLAIN_OVER = 20_000; // an endless paragraph is drawn as plain text rather than parsed again and again

export class StreamText {
  constructor(host) {
    this.host = host;
    this.reset();
  }

  reset() {
    this.host.replaceChildren();
    this.tail = ""; // source of the last, still open block
    this.open = null;
  }

  set(text) {
    this.reset();
    this.add(text);
  }

  add(text) {
    this.tail += text;
    const blocks = parse(this.tail);
    const last = blocks.pop();
    for (const block of blocks) this.close(block);
    if (!last) return;
    this.tail = this.tail.slice(last.from);
    this.draw({ ...last, from: 0 });
  }

  close(block) {
    const node = render(block, false);
    if (this.open) this.open.replaceWith(node);
    else this.host.append(node);
    this.open = null;
  }

  draw(block) {
    if (block.kind === "code" && this.open?.matches?.(".code")) {
      fillCode(this.open, block);
      return;
    }
    const node = render(block, true);
    if (this.open) this.open.replaceWith(node);
    else this.host.append(node);
    this.open = node;
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const TABLE_RULE = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** Blocks of the text, each with its place in the source. The last one may be incomplete. */
export function parse(text) {
  const lines = [];
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf("\n", from);
    lines.push({ text: text.slice(from, end < 0 ? text.length : end), from });
    if (end < 0) break;
    from = end + 1;
  }
  const blocks = [];
  for (let at = 0; at < lines.length; ) {
    if (!lines[at].text.trim()) at += 1;
    else at = readers.reduce((next, read) => next ?? read(lines, at, blocks), null);
  }
  return blocks;
}

const readers = [readCode, readHeading, readRule, readQuote, readTable, readList, readParagraph];

function readCode(lines, at, blocks) {
  const [, marks, language] = FENCE.exec(lines[at].text) || [];
  if (!marks) return null;
  const body = [];
  let end = at + 1;
  const closes = (line) => line.trim().startsWith(marks) && !line.trim().replaceAll(marks[0], "");
  for (; end < lines.length && !closes(lines[end].text); end += 1) body.push(lines[end].text);
  blocks.push({ kind: "code", from: lines[at].from, language, code: body.join("\n") });
  return end + 1;
}

function readHeading(lines, at, blocks) {
  const [, marks, text] = HEADING.exec(lines[at].text) || [];
  if (!marks) return null;
  blocks.push({ kind: "heading", from: lines[at].from, level: marks.length, text });
  return at + 1;
}

function readRule(lines, at, blocks) {
  if (!RULE.test(lines[at].text) || at === lines.length - 1) return null;
  blocks.push({ kind: "rule", from: lines[at].from });
  return at + 1;
}

function readQuote(lines, at, blocks) {
  if (!QUOTE.test(lines[at].text)) return null;
  const body = [];
  let end = at;
  for (; end < lines.length && lines[end].text.trim(); end += 1) {
    body.push(QUOTE.exec(lines[end].text)?.[1] ?? lines[end].text);
  }
  blocks.push({ kind: "quote", from: lines[at].from, text: body.join("\n") });
  return end;
}

function readTable(lines, at, blocks) {
  if (!lines[at].text.includes("|") || !TABLE_RULE.test(lines[at + 1]?.text ?? "") || !lines[at + 1].text.includes("-")) return null;
  if (!lines[at + 1].text.includes("|")) return null;
  const rows = [cells(lines[at].text)];
  let end = at + 2;
  for (; end < lines.length && lines[end].text.trim(); end += 1) rows.push(cells(lines[end].text));
  blocks.push({ kind: "table", from: lines[at].from, rows });
  return end;
}

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim());

function readList(lines, at, blocks) {
  if (!ITEM.test(lines[at].text)) return null;
  const items = [];
  let loose = false;
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end].text;
    const [, indent, mark, text] = ITEM.exec(line) || [];
    if (mark) items.push({ depth: indent.length, ordered: /\d/.test(mark), start: parseInt(mark, 10), text });
    else if (!line.trim()) {
      const next = lines.slice(end).find((one) => one.text.trim());
      if (next && !ITEM.test(next.text) && !/^\s/.test(next.text)) break;
      loose ||= Boolean(next && ITEM.test(next.text));
    } else if (/^\s/.test(line) || lines[end - 1].text.trim()) items.at(-1).text += `\n${line.trim()}`;
    else break;
  }
  blocks.push({ kind: "list", from: lines[at].from, items, loose });
  return end;
}

function readParagraph(lines, at, blocks) {
  let end = at + 1;
  const stops = (line) => !line.trim() || FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line);
  while (end < lines.length && !stops(lines[end].text)) end += 1;
  const text = lines.slice(at, end).map((line) => line.text).join("\n");
  blocks.push({ kind: "paragraph", from: lines[at].from, text });
  return end;
}

/** One block as elements. `open`: more may come, so marks that are not closed yet count as closed. */
export function render(block, open) {
  if (block.kind === "code") return fillCode(codeFrame(), block);
  if (block.kind === "heading") return el(`h${block.level}`, { dir: "auto" }, ...inline(block.text, open));
  if (block.kind === "rule") return el("hr");
  if (block.kind === "quote") return el("blockquote", {}, ...parse(block.text).map((inner) => render(inner, open)));
  if (block.kind === "table") return table(block.rows, open);
  if (block.kind === "list") return list(block, open);
  return el("p", { dir: "auto" }, ...inline(block.text, open));
}

function codeFrame() {
  return el("div.code", {}, el("div.code-head", {}, el("span")), el("pre.highlight", {}, el("code")));
}

function fillCode(frame, { language, code }) {
  const name = frame.querySelector("span");
  const body = frame.querySelector("code");
  if (name.textContent !== language) name.textContent = language;
  const have = body.firstChild?.data ?? "";
  if (have && code.startsWith(have)) body.firstChild.appendData(code.slice(have.length));
  else body.textContent = code;
  return frame;
}

function table([head, ...rows], open) {
  const line = (tag) => (row) => el("tr", {}, ...row.map((cell) => el(tag, { dir: "auto" }, ...inline(cell, open))));
  return el("table", {}, el("thead", {}, line("th")(head)), el("tbody", {}, ...rows.map(line("td"))));
}

function list({ items, loose }, open) {
  const root = listFor(items[0]);
  const levels = [{ depth: items[0].depth, node: root }];
  items.forEach((item, index) => {
    while (levels.length > 1 && item.depth < levels.at(-1).depth) levels.pop();
    if (item.depth >= levels.at(-1).depth + 2 && levels.at(-1).node.lastChild) {
      const inner = listFor(item);
      levels.at(-1).node.lastChild.append(inner);
      levels.push({ depth: item.depth, node: inner });
    }
    const words = inline(item.text, open && index === items.length - 1);
    levels.at(-1).node.append(el("li", { dir: "auto" }, ...(loose ? [el("p", { dir: "auto" }, ...words)] : words)));
  });
  return root;
}

function listFor({ ordered, start }) {
  return ordered ? el("ol", start !== 1 ? { start } : {}) : el("ul");
}

const INLINE = /(`+)([\s\S]+?)\1(?!`)|\*\*(?=\S)([\s\S]+?)\*\*|(?<!\*)\*(?=[^\s*])([^*\n]+?)\*(?!\*)|~~(?=\S)([\s\S]+?)~~|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|\n/g;

/** Bold, code, emphasis, links and line ends of one block. */
function inline(source, open) {
  if (source.length > PLAIN_OVER) return [source];
  const text = open ? closed(source) : source;
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > at) nodes.push(text.slice(at, match.index));
    nodes.push(styled(match));
    at = match.index + match[0].length;
  }
  if (at < text.length) nodes.push(text.slice(at));
  return nodes;
}

function styled([, ticks, code, bold, italic, struck, label, address]) {
  if (ticks) return el("code", {}, code.length > 2 ? code.replace(/^ (.*) $/s, "$1") : code);
  if (bold !== undefined) return el("strong", {}, ...inline(bold, false));
  if (italic !== undefined) return el("em", {}, ...inline(italic, false));
  if (struck !== undefined) return el("s", {}, ...inline(struck, false));
  if (address) return el("a", { href: address, target: "_blank", rel: "noopener noreferrer nofollow" }, label);
  return el("br");
}

/** Closes a mark that is open at the end, and hides one that has nothing after it yet. */
function closed(text) {
  const bare = text.replace(/(\*{1,2}|`+|~~)$/, (mark) => (count(text, mark) % 2 ? "" : mark));
  if (count(bare, "`") % 2) return `${bare}\``;
  if (count(bare, "**") % 2) return `${bare}**`;
  const single = bare.replaceAll("**", "").replace(/`[^`]*`/g, "");
  return count(single, "*") % 2 && /\*(?=[^\s*])[^*]*$/.test(single) ? `${bare}*` : bare;
}

const count = (text, mark) => text.split(mark).length - 1;
