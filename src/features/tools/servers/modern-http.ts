/** A server over HTTP that speaks revision 2026-07-28: each request stands alone. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import { encodeValue } from "../wire/header-values.ts";
import { type Answered, answeredIn, isResponse, requestOf, type RpcResponse } from "../wire/messages.ts";
import { OWN_INFO } from "../wire/own-info.ts";
import { META, metaOf, MODERN, NAMED, withMeta } from "../wire/revisions.ts";
import { TASKS } from "../wire/tasks.ts";
import type { ClientFacts, Connection, ConnectionEvents, Outgoing, ServerFacts } from "./connection.ts";
import { cutAnswer, type HttpReply, type HttpTarget, send, unreachable } from "./http.ts";
import { Progress } from "./progress.ts";

let lastId = 0;

export class ModernHttp implements Connection {
  readonly era = "modern";
  readonly facts: ServerFacts;
  readonly #target: HttpTarget;
  readonly #events: ConnectionEvents;

  constructor(target: HttpTarget, facts: ServerFacts, events: ConnectionEvents) {
    this.#target = target;
    this.facts = facts;
    this.#events = events;
  }

  async request(outgoing: Outgoing): Promise<Answered> {
    const { method, params, client, stop, headers } = outgoing;
    const id = ++lastId;
    const progress = new Progress(params, id);
    const asked = requestFor(id, method, progress.params(params), client);
    const reply = await send(this.#target, { ...asked, headers: { ...asked.headers, ...headers }, stop });
    const ready = () => outgoing.ready?.();
    const response = await this.#read(reply, id, ready, (name, told) => {
      if (name !== "notifications/progress") return outgoing.notify(name, told);
      const own = progress.isFor(told) ? progress.read(told) : undefined;
      if (own) outgoing.notify(name, own);
    });
    return answeredIn(response);
  }

  /** No notification of a client has a place in this revision but cancellation, which closes the request instead. */
  notify(): void {}

  async listen(wanted: JsonObject, stop: AbortSignal, opened: () => void): Promise<void> {
    const id = ++lastId;
    const client = "taskIds" in wanted ? TASKS_CLIENT : NO_CLIENT;
    const asked = requestFor(id, "subscriptions/listen", { notifications: wanted }, client);
    const reply = await send(this.#target, { ...asked, stop });
    const ready = () => undefined;
    await this.#read(reply, id, ready, (method, params) => {
      if (method === "notifications/subscriptions/acknowledged") opened();
      else this.#events.notified(method, params);
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #read(
    reply: HttpReply,
    id: number,
    ready: () => Promise<void> | undefined,
    notify: (method: string, params: JsonObject) => void,
  ): Promise<RpcResponse> {
    const { name } = this.#target;
    for await (const { message } of reply.messages()) {
      if (!message) continue;
      const { method, params } = message;
      if (isResponse(message) && (message.id === id || (message.id ?? null) === null)) return message;
      if (typeof method === "string" && !("id" in message)) notify(method, isObject(params) ? params : {});
      const waiting = ready();
      if (waiting) await waiting;
    }
    if (reply.status >= 200 && reply.status < 300) throw cutAnswer(name);
    throw unreachable(name, `it answered with status ${reply.status}`);
  }
}

const NO_CLIENT: ClientFacts = { capabilities: {}, info: OWN_INFO };
const TASKS_CLIENT: ClientFacts = { ...NO_CLIENT, capabilities: { extensions: { [TASKS]: {} } } };

/** The text and headers of a request. */
export function requestFor(id: number, method: string, params: JsonObject, client: ClientFacts) {
  const { capabilities, info, logLevel } = client;
  const meta: JsonObject = {
    [META.version]: MODERN,
    ...(Object.keys(info).length > 0 && { [META.client]: info }),
    [META.capabilities]: capabilities,
    [META.logLevel]: logLevel,
  };
  const name = NAMED[method] === undefined ? undefined : params[NAMED[method]];
  return {
    text: JSON.stringify(requestOf(id, method, withMeta(params, meta))),
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": MODERN,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": encodeValue(name) }),
    },
  };
}

/** What a server says to `server/discover`. */
export function factsIn(result: JsonObject): ServerFacts | undefined {
  const { supportedVersions, capabilities, instructions } = result;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN)) return undefined;
  const info = metaOf(result)[META.server];
  return {
    version: MODERN,
    capabilities: isObject(capabilities) ? capabilities : {},
    info: isObject(info) ? info : {},
    ...(typeof instructions === "string" && { instructions }),
  };
}
