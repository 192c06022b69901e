/** A request of a client at a server, in all four pairs of eras. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Connection } from "../servers/connection.ts";
import { type Answered, CODE, McpError } from "../wire/messages.ts";
import { type Exchange, lacking } from "./exchange.ts";
import type { Leg, ParkedCalls } from "./parked.ts";
import { digestOf, type Seal } from "./seal.ts";

/** Most rounds in which a modern server asks a legacy client. */
const MOST_ROUNDS = 10;
/** How long a client may take for its answer to a modern server. Milliseconds. */
const STATE_MS = 600_000;

export interface Forwarded {
  readonly server: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Forwarder {
  readonly #seal: Seal;
  readonly #parked: ParkedCalls;

  constructor(seal: Seal, parked: ParkedCalls) {
    this.#seal = seal;
    this.#parked = parked;
  }

  /** @throws McpError */
  forward(exchange: Exchange, connection: Connection, asked: Forwarded): Promise<Answered> {
    if (connection.era === "legacy")
      return exchange.era === "legacy"
        ? once(exchange, connection, asked, asked.params)
        : this.#modernAtLegacy(exchange, connection, asked);
    return exchange.era === "legacy"
      ? rounds(exchange, connection, asked)
      : this.#modernAtModern(exchange, connection, asked);
  }

  async #modernAtModern(exchange: Exchange, connection: Connection, asked: Forwarded): Promise<Answered> {
    const state = this.#opened(exchange, asked);
    const params = state ? { ...asked.params, requestState: state["state"] } : asked.params;
    const answered = await once(exchange, connection, asked, params);
    if ("error" in answered) return answered;
    const { requestState } = answered.result;
    if (typeof requestState !== "string") return answered;
    const sealed = this.#sealed(exchange, asked, { state: requestState });
    return { result: { ...answered.result, requestState: sealed } };
  }

  async #modernAtLegacy(exchange: Exchange, connection: Connection, asked: Forwarded): Promise<Answered> {
    const { method, headers } = asked;
    const { requestState: _, inputResponses, ...params } = asked.params;
    const state = this.#opened(exchange, asked);
    const parked = state?.["parked"];
    const leg: Leg =
      typeof parked === "string"
        ? await this.#parked.resume(parked, exchange, isObject(inputResponses) ? inputResponses : {})
        : await this.#parked.begin(exchange, connection, { method, params, ...(headers && { headers }) });
    if (!("parked" in leg)) return leg;
    const requestState = this.#sealed(exchange, asked, { parked: leg.parked });
    return { result: { resultType: "input_required", inputRequests: leg.inputRequests, requestState } };
  }

  #sealed(exchange: Exchange, asked: Forwarded, value: JsonObject): string {
    return this.#seal.close({ ...boundTo(exchange, asked), until: Date.now() + STATE_MS, ...value });
  }

  /** @throws McpError for a state that is not of this caller, request and time */
  #opened(exchange: Exchange, asked: Forwarded): JsonObject | undefined {
    const { requestState } = asked.params;
    if (requestState === undefined) return undefined;
    const opened = typeof requestState === "string" ? this.#seal.open(requestState) : undefined;
    const bound = boundTo(exchange, asked);
    const fits = opened && Object.entries(bound).every(([name, value]) => opened[name] === value);
    if (!fits || !(Number(opened["until"]) > Date.now()))
      throw new McpError(CODE.params, "the requestState is not one of this request, or is too old", {
        status: 400,
      });
    return opened;
  }
}

function boundTo({ caller }: Exchange, { server, method, params }: Forwarded): JsonObject {
  const { name, uri, arguments: args } = params;
  return { server, caller: caller.id, method, name: String(name ?? uri), digest: digestOf(args ?? {}) };
}

function once(
  exchange: Exchange,
  connection: Connection,
  { method, headers }: Forwarded,
  params: JsonObject,
): Promise<Answered> {
  return connection.request({
    ...{ method, params, client: exchange.client, stop: exchange.stop },
    ...(headers && { headers }),
    notify: (name, told) => exchange.notify(name, told),
    ask: (name, wanted) => asking(exchange, name, wanted),
    ready: () => exchange.ready?.(),
    primed: (retryMs) => exchange.primed?.(retryMs),
    paused: () => exchange.paused?.(),
  });
}

function asking(exchange: Exchange, method: string, params: JsonObject): Promise<Answered> {
  const missing = lacking(exchange.client, method);
  if (missing === undefined) return exchange.ask(method, params);
  return Promise.resolve({ error: { code: CODE.method, message: `the client does not support ${missing}` } });
}

/** A legacy client at a modern server: weir asks the client, and repeats the request with its answers. */
async function rounds(exchange: Exchange, connection: Connection, asked: Forwarded): Promise<Answered> {
  let { params } = asked;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const answered = await once(exchange, connection, asked, params);
    if ("error" in answered || answered.result["resultType"] !== "input_required") return answered;
    const { inputRequests, requestState } = answered.result;
    const questions = isObject(inputRequests) ? Object.entries(inputRequests) : [];
    const missing = questions.flatMap(([, wish]) => lackingIn(exchange, wish));
    if (missing.length > 0) return cannot(missing[0]!);
    const answers = await Promise.all(
      questions.map(async ([key, wish]) => [key, await answerOf(exchange, wish)] as const),
    );
    const failed = answers.find(([, answer]) => "error" in answer);
    if (failed)
      return cannot(
        `the client answered with an error: ${(failed[1] as { error: { message: string } }).error.message}`,
      );
    const inputResponses = Object.fromEntries(
      answers.map(([key, answer]) => [key, (answer as { result: JsonObject }).result]),
    );
    params = {
      ...asked.params,
      ...(questions.length > 0 && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    };
  }
  throw new McpError(CODE.invalid, `server ${asked.server} asks the client more than ${MOST_ROUNDS} times`);
}

function lackingIn({ client }: Exchange, wish: unknown): string[] {
  const method = isObject(wish) ? String(wish["method"]) : "";
  const missing = lacking(client, method);
  return missing === undefined
    ? []
    : [`the tool needs the client's capability ${missing}, which it has not declared`];
}

function answerOf(exchange: Exchange, wish: unknown): Promise<Answered> {
  const { method, params } = wish as { method: string; params?: JsonObject };
  return exchange.ask(method, params ?? {});
}

/** A result, because the model may find another way. */
function cannot(why: string): Answered {
  return { result: { content: [{ type: "text", text: why }], isError: true } };
}
