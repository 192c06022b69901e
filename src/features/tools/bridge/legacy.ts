/** Messages of legacy clients, which keep sessions. */
import { parseExact } from "../../../core/exact-json.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { type Caller, type EndAsk, keyOf, type PostAsk, type StreamAsk } from "../asks.ts";
import {
  type Answered,
  CODE,
  isNotification,
  isRequest,
  isResponse,
  McpError,
  responseOf,
  type RpcRequest,
} from "../wire/messages.ts";
import { OWN_INFO } from "../wire/own-info.ts";
import { inTrace } from "../wire/trace.ts";
import { isLevel, LEGACY, LEGACY_NEWEST, META, withMeta } from "../wire/revisions.ts";
import { withoutTasks } from "../wire/tasks.ts";
import { aborted, type Context, plainExchange } from "./context.ts";
import { ownerOf } from "./exchange.ts";
import { LegacyExchange } from "./legacy-client.ts";
import { JSON_HEADERS, STREAM_HEADERS } from "./modern-client.ts";
import { Pieces } from "./pieces.ts";
import { outcomeOf, refused, sessionGone } from "./refusals.ts";
import { Session, Sessions } from "./sessions.ts";
import type { View } from "./view.ts";

/** Pause before a client reads on, if no server has named one. Milliseconds. */
const RETRY_MS = 1_000;

export class LegacyDoor {
  readonly #context: Context;
  readonly #sessions = new Sessions();

  constructor(context: Context) {
    this.#context = context;
  }

  sweep(now: number): void {
    this.#sessions.sweep(now);
  }

  close(): void {
    for (const session of [...this.#sessions.all()]) this.#sessions.end(session);
  }

  async post(ask: PostAsk, pieces: Pieces, stop: AbortSignal): Promise<void> {
    const message = parseExact(ask.text);
    if (isRequest(message) && message.method === "initialize")
      return this.#initialize(ask, message, pieces, stop);
    const id = isRequest(message) ? message.id : undefined;
    const session =
      ask.session === undefined ? undefined : this.#sessions.of(ask.session, ask.caller.id, ask.server);
    if (!session) {
      const error = sessionGone();
      pieces.push(refused(id, error));
      return pieces.end();
    }
    if (isRequest(message)) return this.#request(ask, session, message, pieces);
    if (isResponse(message)) session.answered(message);
    else if (isNotification(message)) this.#told(session, message.method, message.params ?? {});
    pieces.push({ status: 202 });
    pieces.end();
  }

  async #initialize(
    ask: PostAsk,
    { id, params = {} }: RpcRequest,
    pieces: Pieces,
    stop: AbortSignal,
  ): Promise<void> {
    const { caller, server } = ask;
    const { protocolVersion, capabilities, clientInfo } = params;
    const client = {
      capabilities: isObject(capabilities) ? withoutTasks(capabilities) : {},
      info: isObject(clientInfo) ? clientInfo : OWN_INFO,
    };
    const version = (LEGACY as readonly unknown[]).includes(protocolVersion)
      ? String(protocolVersion)
      : LEGACY_NEWEST;
    const exchange = plainExchange(caller, stop, client);
    try {
      const described = await this.#context.answers.described(exchange, this.#context.view(caller, server));
      const session = new Session({ caller: caller.id, endpoint: server, version, client });
      this.#sessions.add(session);
      const body = JSON.stringify(responseOf(id, { result: { protocolVersion: version, ...described } }));
      pieces.push({ status: 200, headers: { ...JSON_HEADERS, "mcp-session-id": session.id }, body });
    } catch (thrown) {
      pieces.push(refused(id, this.#context.errorOf(thrown)));
    }
    pieces.end();
  }

  async #request(
    ask: PostAsk,
    session: Session,
    { id, method, params = {} }: RpcRequest,
    pieces: Pieces,
  ): Promise<void> {
    const stopping = new AbortController();
    const key = keyOf(id);
    session.running.set(key, stopping);
    pieces.full = (error) => stopping.abort(error);
    // A client that has cancelled wants no answer.
    const isCancelled = () => stopping.signal.aborted && !(stopping.signal.reason instanceof McpError);
    const sample = this.#context.samples.of(ask, pieces);
    const exchange = new LegacyExchange(pieces, session, ask.caller, stopping.signal, sample);
    if (ask.prefersStream) exchange.primed(RETRY_MS);
    let answered: Answered;
    try {
      answered = await this.#legacyAnswer(ask, session, exchange, method, inTrace(params, ask.trace));
    } catch (thrown) {
      if (isCancelled()) return exchange.cancelled();
      answered = { error: this.#context.errorOf(thrown).rpc };
    } finally {
      session.running.delete(key);
    }
    if (isCancelled()) return exchange.cancelled();
    exchange.finish(id, answered, outcomeOf(answered));
  }

  async #legacyAnswer(
    ask: PostAsk,
    session: Session,
    exchange: LegacyExchange,
    method: string,
    params: JsonObject,
  ): Promise<Answered> {
    if (method === "ping") return { result: {} };
    const view = this.#context.view(ask.caller, ask.server);
    if (method === "logging/setLevel") return this.#setLevel(session, exchange, view, params);
    const isSubscription = method === "resources/subscribe" || method === "resources/unsubscribe";
    if (isSubscription && typeof params["uri"] === "string") {
      if (method === "resources/subscribe") session.subscribed.add(params["uri"]);
      else session.subscribed.delete(params["uri"]);
      const held = view.isMerged ? undefined : await view.servers[0]!.hold(ownerOf(exchange), exchange.stop);
      held?.release();
      // Modern servers tell who listens, and have no such request.
      if (!held || held.connection.era === "modern") return { result: {} };
    }
    return this.#context.answers.answer(exchange, view, method, params);
  }

  async #setLevel(
    session: Session,
    exchange: LegacyExchange,
    view: View,
    params: JsonObject,
  ): Promise<Answered> {
    const { level } = params;
    if (!isLevel(level)) throw new McpError(CODE.params, "params.level must be a level of log messages");
    session.logLevel = level;
    await Promise.allSettled(
      view.servers.map(async (server) => {
        const held = await server.hold(ownerOf(exchange), exchange.stop);
        try {
          const { era, facts } = held.connection;
          if (era === "legacy" && facts.capabilities["logging"] !== undefined)
            await held.connection.request({
              ...{
                method: "logging/setLevel",
                params: { level },
                client: exchange.client,
                stop: exchange.stop,
              },
              notify: () => {},
              ask: (name, wanted) => exchange.ask(name, wanted),
            });
        } finally {
          held.release();
        }
      }),
    );
    return { result: {} };
  }

  /** A notification of a legacy client. */
  #told(session: Session, method: string, params: JsonObject): void {
    const { requestId, reason } = params;
    if (
      method === "notifications/cancelled" &&
      (typeof requestId === "string" || typeof requestId === "number")
    )
      session.cancel(requestId, typeof reason === "string" ? reason : "the client has cancelled");
  }

  async stream(ask: StreamAsk, pieces: Pieces, stop: AbortSignal): Promise<void> {
    const { caller, server, lastEventId } = ask;
    const session = this.#sessions.of(ask.session, caller.id, server);
    if (!session) {
      pieces.push(refused(undefined, sessionGone()));
      return pieces.end();
    }
    const head = { status: 200, headers: STREAM_HEADERS, isStream: true as const };
    if (lastEventId !== undefined) {
      const reader = new Pieces();
      const found = session.resume(lastEventId, reader);
      if (!found) {
        pieces.push(refused(undefined, sessionGone("The stream is not kept any more")));
        return pieces.end();
      }
      pieces.push(head);
      stop.addEventListener("abort", () => reader.leave(), { once: true });
      for await (const piece of reader.read()) pieces.push(piece);
      return pieces.end();
    }
    pieces.push(head);
    session.general.follow(pieces);
    await this.#hearFor(session, caller, stop);
    pieces.end();
  }

  /** The stream of a session tells what changes, as long as it is open. */
  async #hearFor(session: Session, caller: Caller, stop: AbortSignal): Promise<void> {
    const view = () => this.#context.view(caller, session.endpoint);
    const either = AbortSignal.any([stop, session.closing.signal]);
    const exchange = new LegacyExchange(new Pieces(), session, caller, either);
    const wanted = {
      ...{ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
      get resourceSubscriptions() {
        return [...session.subscribed];
      },
    };
    const tell = (method: string, params: JsonObject) =>
      session.notify(method, withMeta(params, { [META.subscription]: undefined }));
    void this.#context.listeners.add({ caller: caller.id, view, wanted, tell }, exchange, either);
    await aborted(either);
  }

  end({ session: id, caller, server }: EndAsk, pieces: Pieces): Promise<void> {
    const session = this.#sessions.of(id, caller.id, server);
    if (session) this.#sessions.end(session);
    const gone = sessionGone();
    pieces.push(session ? { status: 204 } : refused(undefined, gone));
    pieces.end();
    return Promise.resolve();
  }
}
