/** A server over HTTP that keeps sessions: revisions 2025-03-26 to 2025-11-25. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import {
  type Answered,
  answeredIn,
  CODE,
  isNotification,
  isRequest,
  isResponse,
  McpError,
  notificationOf,
  requestOf,
  responseOf,
  type RpcRequest,
} from "../wire/messages.ts";
import { encodeValue } from "../wire/header-values.ts";
import { LEGACY_NEWEST, NAMED } from "../wire/revisions.ts";
import {
  type ClientFacts,
  type Connection,
  type ConnectionEvents,
  namedInfo,
  type Outgoing,
  type ServerFacts,
} from "./connection.ts";
import { cutAnswer, type HttpReply, type HttpTarget, invalidAnswer, send, unreachable } from "./http.ts";
import { Progress } from "./progress.ts";

/** Wait before weir reads a stream on, if the server names none. Milliseconds. */
const RETRY_MS = 1_000;
/** How often weir reads on one stream that brings nothing. */
const MOST_TRIES = 5;
/** Longest time of a message that needs no answer. Milliseconds. */
const TELL_MS = 10_000;

interface Session {
  /** Absent: the server keeps none. */
  readonly id: string | undefined;
  readonly facts: ServerFacts;
}

/** Where the reading of a stream stands. */
interface Place {
  last?: string;
  retryMs: number;
}

export class LegacyHttp implements Connection {
  readonly era = "legacy";
  readonly #target: HttpTarget;
  readonly #client: ClientFacts;
  readonly #events: ConnectionEvents;
  readonly #closing = new AbortController();
  #session!: Session;
  #renewing: Promise<void> | undefined;
  readonly #running = new Set<Outgoing>();
  #lastId = 0;

  private constructor(target: HttpTarget, client: ClientFacts, events: ConnectionEvents) {
    this.#target = target;
    this.#client = client;
    this.#events = events;
  }

  /** @throws McpError if the server cannot be reached or refuses */
  static async open(
    target: HttpTarget,
    client: ClientFacts,
    events: ConnectionEvents,
    stop: AbortSignal,
  ): Promise<LegacyHttp> {
    const connection = new LegacyHttp(target, client, events);
    await connection.#initialize(stop);
    return connection;
  }

  get facts(): ServerFacts {
    return this.#session.facts;
  }

  async request(outgoing: Outgoing): Promise<Answered> {
    const session = this.#session;
    try {
      return await this.#requestIn(session, outgoing);
    } catch (thrown) {
      // The server did not know the session, so it has not processed the request.
      if (!(thrown instanceof SessionGone)) throw thrown;
      await this.#renew(session, outgoing.stop);
      return await this.#requestIn(this.#session, outgoing).catch((again: unknown) => {
        throw again instanceof SessionGone
          ? unreachable(this.#target.name, "it forgets its sessions")
          : again;
      });
    }
  }

  notify(method: string, params?: JsonObject): void {
    this.#tell(this.#session, JSON.stringify(notificationOf(method, params)));
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("closed"));
    const { id } = this.#session;
    if (id === undefined) return;
    const headers = this.#headers(this.#session);
    await send(this.#target, { method: "DELETE", headers, stop: AbortSignal.timeout(TELL_MS) })
      .then((reply) => reply.drop())
      .catch(() => {});
  }

  async #requestIn(session: Session, outgoing: Outgoing): Promise<Answered> {
    const { method, params, stop } = outgoing;
    const id = ++this.#lastId;
    const progress = new Progress(params, id);
    const text = JSON.stringify(requestOf(id, method, progress.params(params)));
    const cancel = () => {
      const why = stop.reason instanceof Error ? stop.reason.message : "cancelled";
      const told = notificationOf("notifications/cancelled", { requestId: id, reason: why });
      this.#tell(session, JSON.stringify(told));
    };
    stop.addEventListener("abort", cancel, { once: true });
    this.#running.add(outgoing);
    try {
      const headers = { ...this.#headers(session), ...named(method, params) };
      const reply = await send(this.#target, { headers, text, stop });
      if (reply.status === 404 && session.id !== undefined) {
        await reply.drop();
        throw new SessionGone();
      }
      const read = await this.#read(session, reply, { outgoing, id, progress });
      return read ?? (await this.#answerOfStatus(reply));
    } finally {
      this.#running.delete(outgoing);
      stop.removeEventListener("abort", cancel);
    }
  }

  /** Reads until the answer; a stream that ends before is resumed, where the server gives ids. */
  async #read(session: Session, reply: HttpReply, running: Running): Promise<Answered | undefined> {
    const place: Place = { retryMs: RETRY_MS };
    let current = reply;
    for (let tries = 0; ;) {
      const before = place.last;
      const found = await this.#answerIn(session, current, running, place);
      if (found) return found;
      if (current.status >= 300) return undefined;
      running.outgoing.stop.throwIfAborted();
      if (place.last === undefined) throw cutAnswer(this.#target.name);
      tries = place.last === before ? tries + 1 : 0;
      if (tries >= MOST_TRIES) throw cutAnswer(this.#target.name);
      running.outgoing.paused?.();
      await Bun.sleep(place.retryMs);
      const headers = { ...this.#headers(session), accept: "text/event-stream", "last-event-id": place.last };
      current = await send(this.#target, { method: "GET", headers, stop: running.outgoing.stop });
      if (current.status >= 300) {
        await current.drop();
        throw cutAnswer(this.#target.name);
      }
    }
  }

  async #answerIn(
    session: Session,
    reply: HttpReply,
    { outgoing, id, progress }: Running,
    place: Place,
  ): Promise<Answered | undefined> {
    for await (const { message, id: eventId, retry } of reply.messages()) {
      if (eventId !== undefined) place.last = eventId;
      if (retry !== undefined) place.retryMs = Math.min(retry, 60_000);
      if (!message) {
        if (eventId !== undefined) outgoing.primed?.(place.retryMs);
        continue;
      }
      if (isResponse(message) && (message.id === id || message.id === null)) return answeredIn(message);
      if (isRequest(message)) void this.#serve(session, message, outgoing);
      else if (isNotification(message)) told(message.method, message.params ?? {}, outgoing, progress);
      const waiting = outgoing.ready?.();
      if (waiting) await waiting;
    }
    return undefined;
  }

  /** Servers often ask on the stream of the session what belongs to a request: the newest one, for its client. */
  #newest(): Outgoing | undefined {
    if (this.#target.isMixed && this.#running.size > 1) return undefined;
    const calls = [...this.#running].filter(({ method }) => method === "tools/call");
    return calls.at(-1) ?? [...this.#running].at(-1);
  }

  /** A request of the server. */
  async #serve(
    session: Session,
    { id, method, params = {} }: RpcRequest,
    outgoing?: Outgoing,
  ): Promise<void> {
    let answered: Answered;
    if (method === "ping") answered = { result: {} };
    else if (outgoing) answered = await outgoing.ask(method, params);
    else
      answered = {
        error: { code: CODE.method, message: `no request of a client runs that could answer ${method}` },
      };
    this.#tell(session, JSON.stringify(responseOf(id, answered)));
  }

  /** An answer without a message. @throws McpError */
  async #answerOfStatus(reply: HttpReply): Promise<Answered> {
    throw unreachable(this.#target.name, `it answered with status ${reply.status}`);
  }

  #tell(session: Session, text: string): void {
    send(this.#target, { headers: this.#headers(session), text, stop: AbortSignal.timeout(TELL_MS) })
      .then((reply) => reply.drop())
      .catch(() => {});
  }

  #headers({ id, facts: { version } }: Session): Record<string, string> {
    return {
      ...HEADERS,
      // The first revision does not know the header.
      ...(version !== "2025-03-26" && { "mcp-protocol-version": version }),
      ...(id !== undefined && { "mcp-session-id": id }),
    };
  }

  /** One renewal for all requests that found the session gone. */
  #renew(gone: Session, stop: AbortSignal): Promise<void> {
    if (this.#session !== gone) return Promise.resolve();
    return (this.#renewing ??= this.#initialize(stop).finally(() => (this.#renewing = undefined)));
  }

  async #initialize(stop: AbortSignal): Promise<void> {
    const { name } = this.#target;
    const id = ++this.#lastId;
    const { capabilities } = this.#client;
    const clientInfo = namedInfo(this.#client);
    const params = { protocolVersion: LEGACY_NEWEST, capabilities, clientInfo };
    const text = JSON.stringify(requestOf(id, "initialize", params));
    const reply = await send(this.#target, { headers: { ...HEADERS, ...named("initialize") }, text, stop });
    let answered: Answered | undefined;
    for await (const { message } of reply.messages())
      if (message && isResponse(message)) {
        answered = answeredIn(message);
        break;
      }
    if (!answered && (reply.status === 404 || reply.status === 405)) throw new NoEndpoint(name, reply.status);
    if (!answered) throw unreachable(name, `it answered initialize with status ${reply.status}`);
    if ("error" in answered)
      throw unreachable(name, `it refused initialize with ${answered.error.code}: ${answered.error.message}`);
    this.#session = { id: reply.header("mcp-session-id"), facts: factsOf(name, answered.result) };
    await this.#initialized(this.#session, stop);
    void this.#hear(this.#session);
  }

  async #initialized(session: Session, stop: AbortSignal): Promise<void> {
    const text = JSON.stringify(notificationOf("notifications/initialized"));
    const headers = { ...this.#headers(session), ...named("notifications/initialized") };
    const reply = await send(this.#target, { headers, text, stop });
    await reply.drop();
  }

  /** Reads what the server says besides answers, as long as the session lasts. */
  async #hear(session: Session): Promise<void> {
    const place: Place = { retryMs: RETRY_MS };
    const { signal } = this.#closing;
    for (let tries = 0; tries < MOST_TRIES && !signal.aborted && session === this.#session; tries++) {
      try {
        const headers = {
          ...this.#headers(session),
          accept: "text/event-stream",
          ...(place.last !== undefined && { "last-event-id": place.last }),
        };
        const reply = await send(this.#target, { method: "GET", headers, stop: signal });
        // Without such a stream the server answers with 405.
        if (reply.status >= 300) return await reply.drop();
        for await (const { message, id, retry } of reply.messages()) {
          tries = 0;
          if (id !== undefined) place.last = id;
          if (retry !== undefined) place.retryMs = Math.min(retry, 60_000);
          if (!message) continue;
          if (isRequest(message)) void this.#serve(session, message, this.#newest());
          else if (isNotification(message)) this.#events.notified(message.method, message.params ?? {});
        }
      } catch {
        // The next try tells whether the server is there.
      }
      if (!signal.aborted) await Bun.sleep(place.retryMs);
    }
  }
}

interface Running {
  readonly outgoing: Outgoing;
  readonly id: number;
  readonly progress: Progress;
}

/** The URL takes no messages: it may be the stream of an older transport. */
export class NoEndpoint extends McpError {
  constructor(server: string, status: number) {
    super(
      CODE.unreachable,
      `server ${server} cannot be reached: it answered initialize with status ${status}`,
      {
        data: { server },
      },
    );
  }
}

/** The server has forgotten the session. */
class SessionGone extends Error {}

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Servers and proxies that know the newer headers may want them of every request. */
function named(method: string, params: JsonObject = {}): Record<string, string> {
  const name = NAMED[method] === undefined ? undefined : params[NAMED[method]];
  return { "mcp-method": method, ...(typeof name === "string" && { "mcp-name": encodeValue(name) }) };
}

function told(method: string, params: JsonObject, outgoing: Outgoing, progress: Progress): void {
  if (method !== "notifications/progress") return outgoing.notify(method, params);
  const own = progress.isFor(params) ? progress.read(params) : undefined;
  if (own) outgoing.notify(method, own);
}

/** What a server says to `initialize`. @throws McpError 1005 */
export function factsOf(name: string, result: JsonObject): ServerFacts {
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  if (typeof protocolVersion !== "string")
    throw invalidAnswer(name, "answered initialize without protocolVersion");
  return {
    version: protocolVersion,
    capabilities: isObject(capabilities) ? capabilities : {},
    info: isObject(serverInfo) ? serverInfo : {},
    ...(typeof instructions === "string" && { instructions }),
  };
}
