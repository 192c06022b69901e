/** Answers requests of clients, whichever era they speak. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import { NeedsUser } from "../auth/credential.ts";
import { askUser, withoutAnswer } from "../auth/elicit.ts";
import type { Held, Server } from "../servers/server.ts";
import { type Answered, CODE, McpError } from "../wire/messages.ts";
import { headersFor, mismatch, type ParamHeader, paramHeadersOf } from "../wire/param-headers.ts";
import { OWN_INFO } from "../wire/own-info.ts";
import { type Era, metaOf, META, REVISIONS, withMeta } from "../wire/revisions.ts";
import { TASKS, withoutTasks } from "../wire/tasks.ts";
import { leanAnswer } from "../lean/answers.ts";
import { translated } from "./eras.ts";
import { type Exchange, type Forwarded, ownerOf } from "./exchange.ts";
import type { Forwarder } from "./forward.ts";
import { isList, listed } from "./lists.ts";
import { splitName } from "./names.ts";
import { ResourceHomes } from "./resources.ts";
import type { Seal } from "./seal.ts";
import { answeredOf, isTaskMethod, Tasks, unknownTask } from "./tasks.ts";
import { inTime } from "./timeout.ts";
import type { View } from "./view.ts";

/** What `/mcp` can do, whatever its servers can: their lists are asked when a client wants them. */
const MERGED_CAPABILITIES: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
};
/** What it can do more for clients of one era. */
const OF_ERA: Readonly<Record<Era, JsonObject>> = {
  modern: { extensions: { [TASKS]: {} } },
  legacy: { logging: {} },
};

export class Answers {
  readonly #seal: Seal;
  readonly #forwarder: Forwarder;
  readonly #homes = new ResourceHomes();
  readonly #params = new WeakMap<JsonObject, readonly ParamHeader[]>();
  readonly #isLean: () => boolean;
  readonly tasks: Tasks;

  /** @param isLean whether merged lists of tools are lean */
  constructor(seal: Seal, forwarder: Forwarder, isLean: () => boolean) {
    this.#seal = seal;
    this.#forwarder = forwarder;
    this.#isLean = isLean;
    this.tasks = new Tasks(seal);
  }

  /** @throws McpError */
  async answer(exchange: Exchange, view: View, method: string, params: JsonObject): Promise<Answered> {
    if (method === "server/discover" && exchange.era === "modern")
      return { result: await this.#discovered(exchange, view) };
    const lean = view.isMerged && this.#isLean() && (await this.#lean(exchange, view, method, params));
    if (lean) return this.#stamped(exchange, view, lean);
    if (isList(method)) {
      const result = await listed(exchange, view, this.#seal, method, params);
      if (method === "resources/list" && view.isMerged) this.#homes.note(exchange.caller.id, view);
      return this.#stamped(exchange, view, { result });
    }
    if (isTaskMethod(method) && exchange.era === "modern")
      return this.#stamped(exchange, view, await this.#task(exchange, view, method, params));
    const routed = (asked: JsonObject) => this.#routed(exchange, view, method, asked);
    return this.#stamped(exchange, view, await this.#connected(exchange, method, params, routed));
  }

  #lean(exchange: Exchange, view: View, method: string, given: JsonObject): Promise<Answered | undefined> {
    return leanAnswer(method, given, {
      list: (cursor) =>
        listed(exchange, view, this.#seal, "tools/list", cursor === undefined ? {} : { cursor }),
      // weir makes the call: its client knows no headers for the arguments.
      call: (params) =>
        this.#connected(exchange, method, params, (asked) => this.#call(exchange, view, asked, false)),
    });
  }

  /** A server may want an account of the caller, which its client then asks the user to connect. */
  async #connected(
    exchange: Exchange,
    method: string,
    given: JsonObject,
    routed: (params: JsonObject) => Promise<Answered>,
  ): Promise<Answered> {
    const asked = withoutAnswer(given);
    if ("refused" in asked) return asked.refused;
    try {
      return await routed(asked.params);
    } catch (thrown) {
      if (!(thrown instanceof NeedsUser)) throw thrown;
      return askUser(exchange, method, asked.params, thrown);
    }
  }

  /** Result of `initialize`, but for the version. @throws McpError */
  async described(exchange: Exchange, view: View): Promise<JsonObject> {
    if (view.isMerged)
      return {
        capabilities: { ...MERGED_CAPABILITIES, ...OF_ERA[exchange.era] },
        serverInfo: OWN_INFO,
        ...instructionsOf(view),
      };
    const held = await this.#hold(exchange, view.servers[0]!).catch((thrown: unknown) => {
      if (thrown instanceof NeedsUser) return undefined;
      throw thrown;
    });
    // Clients connect first, and let their users connect accounts when they need them.
    if (!held) return { capabilities: MERGED_CAPABILITIES, serverInfo: OWN_INFO };
    try {
      const { facts, era } = held.connection;
      const isModern = exchange.era === "modern" && era === "modern";
      const { tasks: _, ...capabilities } = isModern ? facts.capabilities : withoutTasks(facts.capabilities);
      // weir itself keeps the level for servers that want it with each request.
      const logging = exchange.era === "legacy" && era === "modern" ? { logging: {} } : {};
      return {
        capabilities: { ...capabilities, ...logging },
        serverInfo: Object.keys(facts.info).length > 0 ? facts.info : OWN_INFO,
        ...(facts.instructions !== undefined && { instructions: facts.instructions }),
      };
    } finally {
      held.release();
    }
  }

  async #discovered(exchange: Exchange, view: View): Promise<JsonObject> {
    const { capabilities, serverInfo, ...more } = await this.described(exchange, view);
    return {
      ...{ supportedVersions: [...REVISIONS], capabilities, ...more },
      ...{ resultType: "complete", ttlMs: 0, cacheScope: "private", _meta: { [META.server]: serverInfo } },
    };
  }

  /** A request that goes to one server. */
  async #routed(exchange: Exchange, view: View, method: string, params: JsonObject): Promise<Answered> {
    if (method === "tools/call") return this.#call(exchange, view, params, true);
    if (method === "prompts/get") {
      const { server, name } = this.#named(view, params["name"]);
      return this.#forwarded(exchange, server, method, { ...params, name });
    }
    const isSubscription = method === "resources/subscribe" || method === "resources/unsubscribe";
    if (method === "resources/read" || (isSubscription && exchange.era === "legacy")) {
      const { server, uri } = await this.#homes.of(exchange, view, params["uri"]);
      return this.#forwarded(exchange, server, method, { ...params, uri });
    }
    if (method === "completion/complete") return this.#complete(exchange, view, params);
    throw new McpError(CODE.method, `Method not found: ${method}`, { status: 404 });
  }

  /** @param hasHeaders whether the client sends arguments as headers where the tool wants it */
  async #call(exchange: Exchange, view: View, params: JsonObject, hasHeaders: boolean): Promise<Answered> {
    const { name } = params;
    if (typeof name !== "string") throw new McpError(CODE.params, "params.name must be the name of a tool");
    const { server, tool, held } = await view.find(exchange, name);
    try {
      const declared = this.#paramsOf(tool);
      const fault =
        hasHeaders && exchange.era === "modern"
          ? mismatch(declared, params["arguments"], exchange.params)
          : undefined;
      if (fault) throw new McpError(CODE.headerMismatch, `HeaderMismatch: ${fault}`, { status: 400 });
      const headers = headersFor(declared, params["arguments"]);
      const asked = {
        server: server.name,
        method: "tools/call",
        params: { ...params, name: tool["name"] },
        ...{ headers, samples: server.config.samples },
      };
      return await this.#asked(exchange, server, held, asked);
    } finally {
      held.release();
    }
  }

  /** Schemas may be large, so each is read once. */
  #paramsOf(tool: JsonObject): readonly ParamHeader[] {
    let known = this.#params.get(tool);
    if (!known) {
      const read = paramHeadersOf(tool["inputSchema"]);
      this.#params.set(tool, (known = typeof read === "string" ? [] : read));
    }
    return known;
  }

  async #complete(exchange: Exchange, view: View, params: JsonObject): Promise<Answered> {
    const { ref } = params;
    if (!isObject(ref)) throw new McpError(CODE.params, "params.ref must be an object");
    if (ref["type"] === "ref/prompt") {
      const { server, name } = this.#named(view, ref["name"]);
      return this.#forwarded(exchange, server, "completion/complete", { ...params, ref: { ...ref, name } });
    }
    const { server, uri } = await this.#homes.of(exchange, view, ref["uri"]);
    return this.#forwarded(exchange, server, "completion/complete", { ...params, ref: { ...ref, uri } });
  }

  async #forwarded(
    exchange: Exchange,
    server: Server,
    method: string,
    params: JsonObject,
  ): Promise<Answered> {
    const held = await this.#hold(exchange, server);
    try {
      return await this.#asked(exchange, server, held, { server: server.name, method, params, samples: 0 });
    } finally {
      held.release();
    }
  }

  /** A request for a task that a call has begun. */
  async #task(exchange: Exchange, view: View, method: string, params: JsonObject): Promise<Answered> {
    const place = this.tasks.open(exchange, view, params["taskId"]);
    const given = String(params["taskId"]);
    const held = await this.#hold(exchange, place.server);
    try {
      if (held.connection.era === "legacy") throw unknownTask(given);
      const task = { ...params, taskId: place.id };
      const asked = { server: place.server.name, method, params: task, samples: 0 };
      return answeredOf(method, given, place, await this.#asked(exchange, place.server, held, asked));
    } finally {
      held.release();
    }
  }

  async #asked(
    exchange: Exchange,
    server: Server,
    { connection }: Held,
    asked: Forwarded,
  ): Promise<Answered> {
    const answered = await inTime(exchange, server.name, server.config.timeoutMs, (limited) =>
      this.#forwarder.forward(limited, connection, asked),
    );
    const checked = this.tasks.created(exchange, connection, asked, answered);
    return translated(exchange, connection.era, asked, checked);
  }

  /** @throws McpError for a name that is of none of the servers */
  #named(view: View, name: unknown): { server: Server; name: string } {
    if (typeof name !== "string") throw new McpError(CODE.params, "the name must be a string");
    if (!view.isMerged) return { server: view.servers[0]!, name };
    const split = splitName(name);
    const server = view.servers.find((one) => one.name === split?.server);
    if (!server || !split) throw new McpError(CODE.params, `Unknown prompt: ${name}`);
    return { server, name: split.rest };
  }

  #hold(exchange: Exchange, server: Server): Promise<Held> {
    return server.hold(ownerOf(exchange), exchange.stop);
  }

  /** Results for modern clients say who answers; those for legacy ones have no members that only modern ones know. */
  #stamped(exchange: Exchange, view: View, answered: Answered): Answered {
    if ("error" in answered) return answered;
    const { result } = answered;
    if (exchange.era === "legacy") {
      const { resultType: _, ttlMs: __, cacheScope: ___, ...own } = result;
      return { result: own };
    }
    const own = view.isMerged ? undefined : (metaOf(result)[META.server] ?? view.servers[0]!.info);
    return { result: { resultType: "complete", ...withMeta(result, { [META.server]: own ?? OWN_INFO }) } };
  }
}

/** Longest instructions of all servers together. Characters. */
const MOST_INSTRUCTIONS = 8_192;

/** Those of the servers that weir has met: a client that connects does not wait for the others. */
function instructionsOf({ servers }: View): { instructions?: string } {
  let text = "";
  for (const { name, instructions } of servers) {
    const part = instructions ? `## ${name}\n\n${instructions.trim()}\n\n` : "";
    if (text.length + part.length <= MOST_INSTRUCTIONS) text += part;
  }
  return text === "" ? {} : { instructions: text.trim() };
}
