/** A connection to a program that speaks JSON-RPC over its standard input and output, in either era. */
import { isObject, type JsonObject } from "../../../../core/json.ts";
import { within } from "../../../../core/within.ts";
import {
  type Answered,
  answeredIn,
  CODE,
  isNotification,
  isRequest,
  isResponse,
  McpError,
  notificationOf,
  type RequestId,
  requestOf,
  responseOf,
  type RpcRequest,
} from "../../wire/messages.ts";
import { type Era, META, metaOf, withMeta } from "../../wire/revisions.ts";
import type { ClientFacts, Connection, ConnectionEvents, Outgoing, ServerFacts } from "../connection.ts";
import { invalidAnswer, unreachable } from "../http.ts";
import type { ChildEvents, MessageChannel } from "./child.ts";
import { type Asker, modernMeta, open, type Opening, type OwnRequest } from "./handshake.ts";
import { CLIENT_METHODS, type Purpose, type Running, RunningRequests } from "./running.ts";

const LISTEN = "subscriptions/listen";
/** Requests of a program that wait for the client at once. */
const MOST_ASKS = 16;

export interface Spoken {
  /** Name of the server. */
  readonly server: string;
  /** Calls of several callers share it: what could belong to several of them is refused or dropped. */
  readonly isMixed: boolean;
}

export interface StdioEvents extends ConnectionEvents {
  /** {@link StdioConnection.close} was called. */
  closed?(): void;
}

export class StdioConnection implements Connection, ChildEvents, Asker {
  readonly server: string;
  readonly #child: MessageChannel;
  readonly #events: StdioEvents;
  readonly #running: RunningRequests;
  #client: ClientFacts | undefined;
  #era: Era = "legacy";
  #facts: ServerFacts = { version: "", capabilities: {}, info: {} };
  #asks = 0;
  /** It has ended: a clause that says why. */
  #over: string | undefined;
  /** When it was used last, by the monotonic clock. Milliseconds. */
  lastUse = performance.now();
  listen?: Connection["listen"];

  /** @param start starts the program @throws McpError 1002 if it cannot be started */
  constructor(
    { server, isMixed }: Spoken,
    start: (events: ChildEvents) => MessageChannel,
    events: StdioEvents,
  ) {
    this.server = server;
    this.#running = new RunningRequests(isMixed);
    this.#events = events;
    this.#child = start(this);
  }

  get era(): Era {
    return this.#era;
  }

  get facts(): ServerFacts {
    return this.#facts;
  }

  /** Requests of clients that run. */
  get running(): number {
    return this.#running.ofClients;
  }

  /** Why it has ended; undefined while it can be used. */
  get over(): string | undefined {
    return this.#over;
  }

  /** What the program wrote last to its standard error. */
  get errors(): string {
    return this.#child.errors;
  }

  /** Agrees on a revision. @throws McpError 1002 or 1004 */
  async open(opening: Opening): Promise<void> {
    this.#client = opening.client;
    const { era, facts } = await open(this, opening);
    this.#era = era;
    this.#facts = facts;
    if (era === "modern") this.listen = (...asked) => this.#listen(...asked);
  }

  async request(outgoing: Outgoing): Promise<Answered> {
    const { method, params, stop } = outgoing;
    if (this.#era === "legacy") return this.#request(method, params, { outgoing }, stop);
    const asked = withMeta(params, modernMeta(outgoing.client));
    return this.#request(method, asked, { outgoing }, stop);
  }

  /** The modern era has no notification of a client but cancellation. */
  notify(method: string, params?: JsonObject): void {
    if (this.#era === "legacy") this.#try(notificationOf(method, params));
  }

  /** @param why a clause for the requests that run */
  async close(why = "weir stopped it"): Promise<void> {
    if (this.#end(why)) this.#events.closed?.();
    await this.#child.stop();
  }

  /** Part of the handshake: without its answer it is left alone, since `initialize` must not be cancelled. */
  async ask({ method, params, ms, hear }: OwnRequest): Promise<Answered | undefined> {
    const late = new McpError(CODE.timeout, "");
    const answer = this.#request(method, params, {}).then((answered) => {
      hear?.(answered);
      return answered;
    });
    // Who waits for it may have gone.
    answer.catch(() => {});
    try {
      return await within(answer, ms, () => late);
    } catch (cause) {
      if (cause === late) return undefined;
      throw cause;
    }
  }

  async #listen(wanted: JsonObject, stop: AbortSignal, opened: () => void): Promise<void> {
    if (stop.aborted) return;
    const params = { _meta: modernMeta(this.#client!), notifications: wanted };
    const listening = this.#request(LISTEN, params, { opened }, stop);
    const answered = await listening.catch((cause: unknown) => {
      if (!stop.aborted) throw cause;
    });
    if (!answered || !("error" in answered)) return;
    const { code, message, data } = answered.error;
    throw new McpError(code, message, data === undefined ? {} : { data });
  }

  async #request(
    method: string,
    params: JsonObject,
    purpose: Purpose,
    stop?: AbortSignal,
  ): Promise<Answered> {
    if (this.#over !== undefined) throw unreachable(this.server, this.#over);
    if (stop?.aborted) throw this.#stopped(stop);
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    const running = this.#running.add(method, purpose, (outcome) =>
      outcome instanceof McpError ? reject(outcome) : resolve(outcome),
    );
    const cancel = () => this.#cancel(running, stop!);
    stop?.addEventListener("abort", cancel);
    this.lastUse = performance.now();
    try {
      this.#child.send(requestOf(running.id, method, running.progress.params(params)));
      return await promise;
    } finally {
      this.#running.end(running.id);
      stop?.removeEventListener("abort", cancel);
      this.lastUse = performance.now();
    }
  }

  #cancel(running: Running, stop: AbortSignal): void {
    if (!this.#running.end(running.id)) return;
    this.#try(notificationOf("notifications/cancelled", { requestId: running.id }));
    running.settle(this.#stopped(stop));
  }

  #stopped({ reason }: AbortSignal): McpError {
    if (reason instanceof McpError) return reason;
    return new McpError(CODE.timeout, `the request to server ${this.server} was stopped`);
  }

  #cut(why: string): McpError {
    const message = `server ${this.server} ended before it had answered: ${why}`;
    return new McpError(CODE.cut, message, { data: { server: this.server } });
  }

  #invalid({ method }: Running, what: string): McpError {
    return invalidAnswer(this.server, `answered ${method} with ${what}`);
  }

  /** Sends what may get lost if the program ends. */
  #try(message: object): void {
    try {
      this.#child.send(message);
    } catch {
      // The end of the program is told to all who wait.
    }
  }

  message(message: JsonObject): boolean {
    if ("method" in message) {
      if (isRequest(message)) void this.#answer(message);
      else if (isNotification(message)) this.#notified(message.method, message.params ?? {});
      return false;
    }
    const running = this.#running.end(message["id"]);
    if (!running) return false;
    running.settle(
      isResponse(message) ? answeredIn(message) : this.#invalid(running, "neither a result nor an error"),
    );
    return true;
  }

  unreadable(id: RequestId | undefined, why: string): void {
    const running = this.#running.end(id);
    running?.settle(this.#invalid(running, `a message that ${why}`));
  }

  ended(why: string): void {
    if (this.#end(why)) this.#events.ended(why);
  }

  /** @returns false if it was over before */
  #end(why: string): boolean {
    if (this.#over !== undefined) return false;
    this.#over = why;
    for (const running of this.#running.endAll()) running.settle(this.#cut(why));
    return true;
  }

  #notified(method: string, params: JsonObject): void {
    if (method === "notifications/progress") return this.#running.tellProgress(params);
    if (method === "notifications/message") return this.#running.tellLog(params);
    if (method === "notifications/cancelled") return this.#serverCancelled(params);
    if (method === "notifications/subscriptions/acknowledged")
      return this.#running.get(metaOf(params)[META.subscription])?.opened?.();
    const isOfListen = META.subscription in metaOf(params);
    this.#events.notified(method, isOfListen ? withMeta(params, { [META.subscription]: undefined }) : params);
  }

  /** A server ends `subscriptions/listen` so; its requests to the client are answered all the same. */
  #serverCancelled({ requestId }: JsonObject): void {
    if (this.#running.get(requestId)?.method !== LISTEN) return;
    this.#running.end(requestId)?.settle({ result: {} });
  }

  /** Answers a request of the program. */
  async #answer({ id, method, params = {} }: RpcRequest): Promise<void> {
    this.#try(responseOf(id, await this.#answerTo(method, params)));
  }

  async #answerTo(method: string, params: JsonObject): Promise<Answered> {
    if (method === "ping") return { result: {} };
    const capability = CLIENT_METHODS[method];
    if (capability === undefined || this.#era === "modern")
      return failed(CODE.method, `the client has no method ${method}`);
    const outgoing = this.#running.inNeedOf(capability);
    if (!outgoing) return failed(CODE.request, "no request runs that this can belong to");
    if (this.#asks >= MOST_ASKS) return failed(CODE.internal, `${MOST_ASKS} requests wait for the client`);
    this.#asks++;
    try {
      return await outgoing.ask(method, params);
    } catch (cause) {
      return cause instanceof McpError
        ? { error: cause.rpc }
        : failed(CODE.internal, "the client could not be asked");
    } finally {
      this.#asks--;
    }
  }
}

function failed(code: number, message: string): Answered {
  return { error: { code, message } };
}
