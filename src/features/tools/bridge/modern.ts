/** Requests of modern clients: each stands alone. */
import { parseExact } from "../../../core/exact-json.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { PostAsk } from "../asks.ts";
import type { ClientFacts } from "../servers/connection.ts";
import { type Answered, type RequestId, type RpcNotification, type RpcRequest } from "../wire/messages.ts";
import { OWN_INFO } from "../wire/own-info.ts";
import { isLevel, META, metaOf, withMeta } from "../wire/revisions.ts";
import { inTrace } from "../wire/trace.ts";
import { aborted, type Context } from "./context.ts";
import { ModernExchange } from "./modern-client.ts";
import type { Pieces } from "./pieces.ts";
import { outcomeOf, statusOf } from "./refusals.ts";
import type { HeardTasks } from "./tasks.ts";
import type { View } from "./view.ts";

export class ModernDoor {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async post(ask: PostAsk, pieces: Pieces, stop: AbortSignal): Promise<void> {
    const { caller, server, params: headers = {} } = ask;
    const request = parseExact(ask.text) as unknown as RpcRequest | RpcNotification;
    // A modern client cancels by closing its request; its notifications say nothing more.
    if (!("id" in request)) {
      pieces.push({ status: 202 });
      return pieces.end();
    }
    const { id, method, params = {} } = request;
    const stopping = new AbortController();
    pieces.full = (error) => stopping.abort(error);
    stop.addEventListener("abort", () => stopping.abort(stop.reason), { once: true });
    const sample = this.#context.samples.of(ask, pieces);
    const of = { caller, client: factsOf(params), stop: stopping.signal, params: headers, sample };
    const exchange = new ModernExchange(pieces, of);
    let status = 200;
    let answered: Answered;
    try {
      const view = this.#context.view(caller, server);
      if (method === "subscriptions/listen")
        return await this.#listen(exchange, () => this.#context.view(caller, server), id, params, pieces);
      const own = withMeta(params, { [META.version]: undefined, [META.client]: undefined });
      const plain = withMeta(own, { [META.capabilities]: undefined, [META.logLevel]: undefined });
      const asked = inTrace(plain, ask.trace);
      answered = await this.#context.answers.answer(exchange, view, method, asked);
    } catch (thrown) {
      if (stop.aborted) return pieces.end();
      const error = this.#context.errorOf(thrown);
      status = error.status;
      answered = { error: error.rpc };
    }
    exchange.finish(
      id,
      answered,
      "error" in answered ? statusOf(answered.error.code, status) : 200,
      outcomeOf(answered),
    );
  }

  /** `subscriptions/listen`: lasts until the client leaves. */
  async #listen(
    exchange: ModernExchange,
    view: () => View,
    id: RequestId,
    params: JsonObject,
    pieces: Pieces,
  ): Promise<void> {
    const wanted = isObject(params["notifications"]) ? params["notifications"] : {};
    const tagged = (told: JsonObject) => withMeta(told, { [META.subscription]: id });
    const send = (method: string, told: JsonObject) =>
      exchange.send({ jsonrpc: "2.0", method, params: tagged(told) });
    const { stop } = exchange;
    const waiting: (() => void)[] = [];
    let isOpen = false;
    const tell = (method: string, told: JsonObject) =>
      isOpen ? send(method, told) : void waiting.push(() => send(method, told));
    const tasks = this.#context.answers.tasks.heard(exchange, view(), wanted);
    const listener = { caller: exchange.caller.id, view, wanted, tasks, tell };
    await this.#context.listeners.add(listener, exchange, stop);
    send("notifications/subscriptions/acknowledged", { notifications: honoured(wanted, tasks) });
    isOpen = true;
    for (const one of waiting) one();
    await aborted(stop);
    pieces.end();
  }
}

function factsOf(params: JsonObject): ClientFacts {
  const meta = metaOf(params);
  const { [META.capabilities]: capabilities, [META.client]: info, [META.logLevel]: logLevel } = meta;
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    info: isObject(info) ? info : OWN_INFO,
    ...(isLevel(logLevel) && { logLevel }),
  };
}

function honoured(wanted: JsonObject, tasks: HeardTasks): JsonObject {
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions, taskIds } =
    wanted;
  return {
    ...(toolsListChanged === true && { toolsListChanged }),
    ...(promptsListChanged === true && { promptsListChanged }),
    ...(resourcesListChanged === true && { resourcesListChanged }),
    ...(Array.isArray(resourceSubscriptions) && { resourceSubscriptions }),
    ...(Array.isArray(taskIds) && { taskIds: Array.from(tasks.values(), (ids) => [...ids.values()]).flat() }),
  };
}
