// Live delivery, the client's half of the protocol: the database is the truth, the socket is a hint.
// Knows streams, positions, frames and time; knows nothing of messages, of the DOM, or of the shape of payloads.

const SILENCE_MS = 45_000; // two beats and a little: after that the connection is taken for dead
const POLL_MS = 10_000;
const ACK_FRAMES = 40;
const ACK_MS = 4_000;
const SLOWEST_MS = 30_000;
const SUBSCRIBE_BURST = 24; // the rest follows one by one, so that many tabs that come back at once share the database
const SUBSCRIBE_MS = 300;
export const CLOSED = { SIGNED_OUT: 4001, NOT_ALLOWED: 4003, SLOW: 4008, TOO_MANY: 4009, RESTARTING: 4010, BAD: 4400 };
const FINAL = new Set([CLOSED.SIGNED_OUT, CLOSED.NOT_ALLOWED, CLOSED.BAD]);

/** One followed stream: where we are, what came too early, and whether a gap is being filled. */
class Stream {
  constructor(name, cursor) {
    this.name = name;
    this.cursor = cursor; // {epoch, seq}, or null until a snapshot gives one
    this.early = new Map();
    this.filling = false;
    this.known = 0; // the furthest position anybody told us of
    this.joined = false;
  }
}

/**
 * `port` is the world: socketUrl(), events(stream, cursor), apply(stream, event), reload(stream) → cursor,
 * deltas(items), whisper(frame), status(word), dropped(stream), caughtUp(stream), poll(). Times and the socket class can be replaced.
 */
export class Live {
  constructor(port, { Socket = WebSocket, random = Math.random } = {}) {
    this.port = port;
    this.Socket = Socket;
    this.random = random;
    this.streams = new Map();
    this.status = "connecting";
    this.socket = null;
    this.failures = 0;
    this.handled = this.acked = 0;
    this.ended = false;
    this.queue = [];
  }

  start() {
    this.connect();
    this.watch = setInterval(() => this.look(), 2_000);
    this.poller = setInterval(() => this.pollIfDown(), POLL_MS);
    addEventListener("online", () => this.connectNow());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.connectNow());
  }

  /** Follows a stream from a position; asking again moves nothing. */
  follow(name, cursor = null) {
    const known = this.streams.get(name);
    if (known) return known;
    const stream = new Stream(name, cursor);
    this.streams.set(name, stream);
    this.subscribe(name);
    return stream;
  }

  unfollow(name) {
    if (this.streams.delete(name)) this.send({ type: "unsubscribe", stream: name });
  }

  /** A snapshot was read at this position: go on from there, also when it lies behind what was heard since. */
  position(name, epoch, seq) {
    const stream = this.follow(name, { epoch, seq });
    const before = stream.cursor;
    stream.known = Math.max(stream.known, before?.epoch === epoch ? before.seq : 0);
    stream.cursor = { epoch, seq };
    this.drain(stream);
    if (stream.known > stream.cursor.seq) this.fill(stream);
  }

  typing(thread) {
    this.send({ type: "typing", thread });
  }

  // -- the connection ---------------------------------------------------------------------------

  connectNow() {
    if (this.ended) return;
    const quiet = Date.now() - this.heard > SILENCE_MS / 2;
    if (this.socket && this.socket.readyState <= 1 && !(quiet && this.greeted)) return;
    if (this.socket && quiet) this.abandon();
    clearTimeout(this.timer);
    this.timer = null;
    this.connect();
  }

  connect() {
    if (this.ended || (this.socket && this.socket.readyState <= 1)) return;
    this.greeted = false;
    this.heard = Date.now();
    this.handled = this.acked = 0;
    const socket = (this.socket = new this.Socket(this.port.socketUrl()));
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", version: 1, client: "web" }));
    socket.onmessage = (message) => socket === this.socket && this.receive(message.data);
    socket.onclose = (event) => socket === this.socket && this.closed(event.code);
    socket.onerror = () => {};
  }

  /** Lets go of a socket that may be dead without waiting for its close. */
  abandon() {
    const socket = this.socket;
    this.socket = null;
    socket.onmessage = socket.onclose = null;
    socket.close();
    for (const stream of this.streams.values()) stream.joined = false;
  }

  closed(code) {
    this.socket = null;
    this.greeted = false;
    this.downSince ??= Date.now();
    for (const stream of this.streams.values()) stream.joined = false;
    if (FINAL.has(code)) {
      this.ended = true;
      this.say(code === CLOSED.SIGNED_OUT ? "signed_out" : "refused");
      return;
    }
    const ceiling = Math.min(SLOWEST_MS, 500 * 2 ** this.failures++);
    const pause = Math.max(100, this.random() * ceiling) + (this.mercy || 0) * 1000 * this.random();
    this.mercy = 0;
    this.timer = setTimeout(() => this.connect(), pause);
    this.tell();
  }

  look() {
    if (this.socket && Date.now() - this.heard > SILENCE_MS) {
      this.abandon();
      this.closed(0);
    }
    if (this.handled > this.acked && Date.now() - this.lastAck > ACK_MS) this.ack();
    this.tell();
  }

  // -- frames -----------------------------------------------------------------------------------

  receive(text) {
    this.heard = Date.now();
    for (const line of text.split("\n")) {
      if (!line) continue;
      this.handled += 1;
      try {
        this.handle(JSON.parse(line));
      } catch (error) {
        console.error("a frame could not be handled", error);
      }
    }
    if (this.handled - this.acked >= ACK_FRAMES) this.ack();
  }

  handle(frame) {
    if (frame.type === "event") this.event(frame);
    else if (frame.type === "delta") this.port.deltas(frame.items);
    else if (frame.type === "beat") this.beat(frame.heads);
    else if (frame.type === "subscribed") this.subscribed(frame);
    else if (frame.type === "hello") this.greet();
    else if (frame.type === "dropped") this.drop(frame.stream);
    else if (frame.type === "goodbye") this.mercy = frame.retry_after || 0;
    else if (frame.type === "error" && frame.code === "not_found") this.drop(frame.ref);
    else this.port.whisper(frame);
  }

  greet() {
    this.greeted = true;
    this.failures = 0;
    this.downSince = null;
    this.queue = [...this.streams.keys()];
    this.pump(SUBSCRIBE_BURST);
    this.tell();
  }

  subscribe(name) {
    if (!this.greeted) return;
    this.queue.unshift(name);
    this.pump(1);
  }

  /** Sends waiting subscriptions a few at a time. */
  pump(most) {
    for (const name of this.queue.splice(0, most)) this.send({ type: "subscribe", stream: name });
    clearTimeout(this.pumping);
    if (this.queue.length) this.pumping = setTimeout(() => this.pump(1), SUBSCRIBE_MS);
  }

  subscribed({ stream: name, epoch, head }) {
    const stream = this.streams.get(name);
    if (!stream) return;
    stream.joined = true;
    this.headSeen(stream, epoch, head);
    if (!stream.filling) this.port.caughtUp(name);
  }

  beat(heads) {
    this.ack();
    for (const [name, [epoch, seq]] of Object.entries(heads)) {
      const stream = this.streams.get(name);
      if (stream) this.headSeen(stream, epoch, seq);
    }
  }

  headSeen(stream, epoch, head) {
    if (!stream.cursor) return;
    if (epoch !== stream.cursor.epoch) this.reload(stream);
    else if (head > stream.cursor.seq) {
      stream.known = Math.max(stream.known, head);
      this.fill(stream);
    }
  }

  event(frame) {
    const stream = this.streams.get(frame.stream);
    if (!stream) return;
    const next = stream.cursor && frame.seq === stream.cursor.seq + 1;
    if (next && !stream.filling && !frame.fetch) {
      this.take(stream, frame);
      this.drain(stream);
    } else if (!stream.cursor || frame.seq > stream.cursor.seq) {
      if (!frame.fetch) stream.early.set(frame.seq, frame);
      stream.known = Math.max(stream.known, frame.seq);
      if (stream.cursor) this.fill(stream);
    }
  }

  take(stream, event) {
    stream.cursor = { epoch: stream.cursor.epoch, seq: event.seq };
    this.port.apply(stream.name, event);
  }

  /** Applies what was kept and now follows; forgets what we have. */
  drain(stream) {
    if (!stream.cursor) return;
    for (const seq of stream.early.keys()) if (seq <= stream.cursor.seq) stream.early.delete(seq);
    for (let event; (event = stream.early.get(stream.cursor.seq + 1)); ) {
      stream.early.delete(event.seq);
      this.take(stream, event);
    }
  }

  // -- gaps -------------------------------------------------------------------------------------

  async fill(stream) {
    if (stream.filling) return;
    stream.filling = true;
    stream.since = Date.now();
    let failure = null;
    try {
      while (this.streams.get(stream.name) === stream && (await this.fetchOnce(stream)));
      stream.trouble = 0;
    } catch (error) {
      failure = error;
    }
    stream.filling = false;
    this.tell();
    if (!failure) this.port.caughtUp(stream.name);
    if (failure) this.fillFailed(stream, failure);
    else if (stream.known > stream.cursor.seq && this.streams.has(stream.name)) this.fill(stream);
  }

  /** One page of events; true while there is more to fetch. */
  async fetchOnce(stream) {
    const asked = stream.cursor;
    const { events, head, epoch } = await this.port.events(stream.name, asked);
    if (stream.cursor !== asked) return true; // a snapshot moved the position meanwhile
    if (epoch !== asked.epoch) throw { status: 410 };
    for (const event of events) if (event.seq === stream.cursor.seq + 1) this.take(stream, event);
    stream.known = Math.max(head, ...stream.early.keys());
    this.drain(stream);
    if (!events.length) stream.known = stream.cursor.seq;
    return events.length > 0 && stream.cursor.seq < head;
  }

  fillFailed(stream, error) {
    if (error.status === 410) this.reload(stream);
    else if (error.status === 404) this.drop(stream.name);
    else if (error.status !== 401) {
      stream.trouble = Math.min((stream.trouble || 0) + 1, 6);
      this.later(() => this.fill(stream), stream, 500 * 2 ** stream.trouble * this.random());
    }
  }

  later(work, stream, pause) {
    setTimeout(() => this.streams.get(stream.name) === stream && work(), pause);
  }

  /** The log is another one, or too old to go on from: everything is read anew, with its own position. */
  async reload(stream) {
    if (stream.filling) return;
    stream.filling = true;
    stream.since = Date.now();
    try {
      stream.cursor = (await this.port.reload(stream.name)) || stream.cursor;
      stream.early.clear();
      stream.known = stream.cursor.seq;
    } catch (error) {
      if (error.status === 404) this.drop(stream.name);
      else this.later(() => this.reload(stream), stream, 2_000 + 3_000 * this.random());
    }
    stream.filling = false;
    this.tell();
  }

  drop(name) {
    if (this.streams.delete(name)) this.port.dropped(name);
  }

  /** While nothing is live, the log is asked by the clock. */
  pollIfDown() {
    if (this.greeted || this.ended) return;
    for (const stream of this.streams.values()) if (stream.cursor) this.fill(stream);
    this.port.poll();
  }

  // -- words outward ----------------------------------------------------------------------------

  ack() {
    this.acked = this.handled;
    this.lastAck = Date.now();
    this.send({ type: "ack", count: this.handled });
  }

  send(frame) {
    if (this.socket?.readyState === 1) this.socket.send(JSON.stringify(frame));
  }

  tell() {
    if (!this.ended) this.say(this.word());
  }

  word() {
    const slow = [...this.streams.values()].some((stream) => stream.filling && Date.now() - stream.since > 400);
    if (this.greeted) return slow ? "catching_up" : "live";
    return this.downSince && Date.now() - this.downSince > 2_500 ? "paused" : "connecting";
  }

  say(word) {
    if (word === this.status) return;
    this.status = word;
    this.port.status(word);
  }
}
