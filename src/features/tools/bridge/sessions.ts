/** Sessions of legacy clients, and their streams, which a client may read on after its connection broke. */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../../core/json.ts";
import { keyOf } from "../asks.ts";
import type { ClientFacts } from "../servers/connection.ts";
import { eventText } from "../wire/events.ts";
import {
  type Answered,
  answeredIn,
  notificationOf,
  type RequestId,
  requestOf,
  type RpcResponse,
} from "../wire/messages.ts";
import type { Pieces } from "./pieces.ts";

const IDLE_MS = 86_400_000;
const MOST_OF_CALLER = 1_000;
/** What a stream keeps for a client that comes back. */
const KEPT_EVENTS = 256;
const KEPT_CHARACTERS = 1024 * 1024;
const KEPT_MS = 300_000;
/** Ended streams that a session keeps, and their characters in all: a client reads on what broke last. */
const KEPT_STREAMS = 16;
const KEPT_OF_SESSION = 2 * 1024 * 1024;
/** Longest wait for the answer of a client to a request of a server. Milliseconds. */
const ASK_MS = 300_000;

/** @param replaced another reader takes its place */
interface Reader {
  readonly pieces: Pieces;
  replaced(): void;
}

/** Messages in order, with ids, for one reader at a time. */
export class Stream {
  readonly id: string;
  /** The request that it answers is done. */
  isOver = false;
  endedAt = 0;
  #seq = 0;
  #kept: { seq: number; text: string }[] = [];
  #size = 0;
  #reader: Reader | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** Characters that are kept. */
  get size(): number {
    return this.#size;
  }

  /** Gives the reader an id from which it can read on. @param retryMs pause before it does */
  prime(retryMs: number): void {
    this.#reader?.pieces.push({ events: `id: ${this.id}.0\nretry: ${retryMs}\ndata: \n\n` });
  }

  send(message: object): void {
    const seq = ++this.#seq;
    const text = eventText(JSON.stringify(message), `${this.id}.${seq}`);
    this.#kept.push({ seq, text });
    this.#size += text.length;
    while (this.#kept.length > KEPT_EVENTS || (this.#size > KEPT_CHARACTERS && this.#kept.length > 1))
      this.#size -= this.#kept.shift()!.text.length;
    this.#reader?.pieces.push({ events: text });
  }

  /** Reads what comes from now on. */
  follow(reader: Pieces): void {
    this.attach(reader, this.#seq);
  }

  /** A reader replaces the one before. @returns false if events after `seq` are not kept any more */
  attach(pieces: Pieces, after: number, replaced = () => pieces.end()): boolean {
    if (after > this.#seq || (this.#kept[0] && this.#kept[0].seq > after + 1)) return false;
    this.#reader?.replaced();
    this.#reader = { pieces, replaced };
    for (const { seq, text } of this.#kept) if (seq > after) pieces.push({ events: text });
    if (this.isOver) pieces.end();
    return true;
  }

  end(): void {
    this.isOver = true;
    this.endedAt = performance.now();
    this.#reader?.pieces.end();
  }
}

export class Session {
  readonly id = randomBytes(32).toString("base64url");
  readonly caller: string;
  readonly endpoint: string | undefined;
  readonly version: string;
  readonly client: ClientFacts;
  /** Least level of log messages; absent: as the servers send them. */
  logLevel: string | undefined;
  usedAt = performance.now();
  /** Aborts when the session ends. */
  readonly closing = new AbortController();
  /** Requests that run, by {@link keyOf} of their ids. */
  readonly running = new Map<string, AbortController>();
  /** URIs of resources that the client has subscribed to. */
  readonly subscribed = new Set<string>();
  readonly #streams = new Map<string, Stream>();
  readonly #asked = new Map<number, (answered: Answered) => void>();
  /** Messages of servers that belong to no request. */
  readonly general = new Stream("0");
  #streamCount = 0;
  #askCount = 0;

  constructor(of: { caller: string; endpoint: string | undefined; version: string; client: ClientFacts }) {
    this.caller = of.caller;
    this.endpoint = of.endpoint;
    this.version = of.version;
    this.client = of.client;
    this.#streams.set("0", this.general);
  }

  newStream(): Stream {
    this.#prune(performance.now());
    const stream = new Stream(String(++this.#streamCount));
    this.#streams.set(stream.id, stream);
    return stream;
  }

  /** Forgets streams that ended long ago, or before many others. */
  #prune(now: number): void {
    const ended = [...this.#streams.values()].filter(({ isOver }) => isOver);
    ended.sort((a, b) => b.endedAt - a.endedAt);
    let size = 0;
    ended.forEach((stream, at) => {
      size += stream.size;
      const isKept = at < KEPT_STREAMS && size <= KEPT_OF_SESSION && now - stream.endedAt <= KEPT_MS;
      if (!isKept) this.#streams.delete(stream.id);
    });
  }

  sweep(now: number): void {
    if (this.#streams.size > 1) this.#prune(now);
  }

  /** @param eventId id of the last event that the client has read @returns false if the stream cannot be read on */
  resume(eventId: string, reader: Pieces): boolean {
    const [, id, seq] = /^(\d{1,15})\.(\d{1,15})$/.exec(eventId) ?? [];
    const stream = id === undefined ? undefined : this.#streams.get(id);
    return stream?.attach(reader, Number(seq)) ?? false;
  }

  /** Asks the client on the stream of a request. @param stop the request is over */
  ask(stream: Stream, method: string, params: JsonObject, stop: AbortSignal): Promise<Answered> {
    const id = ++this.#askCount;
    const { promise, resolve } = Promise.withResolvers<Answered>();
    const give = (answered: Answered) => {
      this.#asked.delete(id);
      clearTimeout(timer);
      stop.removeEventListener("abort", stopped);
      resolve(answered);
    };
    const late = () => give({ error: { code: -32001, message: "the client did not answer in time" } });
    const stopped = () => give({ error: { code: -32000, message: "the request was cancelled" } });
    const timer = setTimeout(late, ASK_MS);
    stop.addEventListener("abort", stopped, { once: true });
    this.#asked.set(id, give);
    stream.send(requestOf(id, method, params));
    return promise;
  }

  /** An answer of the client. One to an unknown id is ignored. */
  answered(response: RpcResponse): void {
    if (typeof response.id === "number") this.#asked.get(response.id)?.(answeredIn(response));
  }

  notify(method: string, params?: JsonObject): void {
    this.general.send(notificationOf(method, params));
  }

  cancel(id: RequestId, reason: string): void {
    this.running.get(keyOf(id))?.abort(new Error(reason));
  }

  close(): void {
    const ended = new Error("the session has ended");
    this.closing.abort(ended);
    for (const one of this.running.values()) one.abort(ended);
    for (const stream of this.#streams.values()) stream.end();
  }
}

export class Sessions {
  readonly #byId = new Map<string, Session>();
  /** By caller, the session that was used longest ago first. */
  readonly #byCaller = new Map<string, Set<Session>>();

  add(session: Session): void {
    const own = this.#byCaller.get(session.caller) ?? new Set();
    if (own.size >= MOST_OF_CALLER) this.end(own.values().next().value!);
    own.add(session);
    this.#byCaller.set(session.caller, own);
    this.#byId.set(session.id, session);
  }

  /** The session of a caller at an endpoint: those of others are unknown. */
  of(id: string, caller: string, endpoint: string | undefined): Session | undefined {
    const found = this.#byId.get(id);
    if (found?.caller !== caller || found.endpoint !== endpoint) return undefined;
    found.usedAt = performance.now();
    const own = this.#byCaller.get(caller)!;
    own.delete(found);
    own.add(found);
    return found;
  }

  all(): Iterable<Session> {
    return this.#byId.values();
  }

  get size(): number {
    return this.#byId.size;
  }

  end(session: Session): void {
    this.#byId.delete(session.id);
    const own = this.#byCaller.get(session.caller);
    own?.delete(session);
    if (own?.size === 0) this.#byCaller.delete(session.caller);
    session.close();
  }

  sweep(now: number): void {
    for (const session of this.#byId.values())
      if (now - session.usedAt > IDLE_MS && session.running.size === 0) this.end(session);
      else session.sweep(now);
  }
}
