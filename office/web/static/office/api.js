// REST: paths under this office's own base, the CSRF cookie, and errors with a code and a sentence.

import { say } from "./words.js";

const BASE = document.documentElement.dataset.base || "/";
const PATIENCE = 30_000;

/** What the server refused (status ≥ 400), or `status` 0 when it could not be reached. */
export class Problem extends Error {
  constructor(status, error = {}) {
    super(error.message || say(status ? "live.server_fault" : "live.unreachable"));
    this.status = status;
    this.code = error.code || (status ? "server_fault" : "unreachable");
    this.field = error.field || null;
    this.detail = error.detail || {};
    this.retryAfter = error.retryAfter || 0;
  }

  /** Nobody knows whether it was done: the same request with the same id may be sent again. */
  get passing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export const pageUrl = (path = "") => BASE + path;

export function socketUrl() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  return `${scheme}//${location.host}${BASE}ws/v1/`;
}

const listeners = new Set();
export const onSignedOut = (listener) => listeners.add(listener);

function csrf() {
  return document.cookie.match(/(?:^|;\s*)csrftoken=([^;]+)/)?.[1] || "";
}

async function ask(method, path, body, patience = PATIENCE) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRFToken"] = csrf();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = { method, headers, credentials: "same-origin", cache: "no-store", body: body && JSON.stringify(body) };
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), patience);
  try {
    const response = await fetch(`${BASE}api/v1/${path}`, { ...options, signal: stop.signal });
    return await read(response);
  } catch (error) {
    throw error instanceof Problem ? error : new Problem(0);
  } finally {
    clearTimeout(timer);
  }
}

async function read(response) {
  if (response.status === 204) return null;
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  const problem = new Problem(response.status, {
    ...(body.error || {}),
    retryAfter: Number(response.headers.get("Retry-After")) || 0,
  });
  if (response.status === 401) listeners.forEach((listener) => listener(problem));
  throw problem;
}

export const api = {
  get: (path) => ask("GET", path),
  post: (path, body = {}, patience) => ask("POST", path, body, patience),
  patch: (path, body) => ask("PATCH", path, body),
  delete: (path) => ask("DELETE", path),
  events: (stream, { seq, epoch }) =>
    ask("GET", `streams/${encodeURIComponent(stream)}/events/?after=${seq}&epoch=${encodeURIComponent(epoch)}&limit=200`),
};
