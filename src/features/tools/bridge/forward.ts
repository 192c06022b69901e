/** A request of a client at a server, in all four pairs of eras. */
import { hostname } from "node:os";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Connection } from "../servers/connection.ts";
import { Sampling } from "../sampling/process.ts";
import { type Answered, CODE, McpError } from "../wire/messages.ts";
import { type Exchange, type Forwarded, lacking } from "./exchange.ts";
import type { Leg, ParkedCalls } from "./parked.ts";
import { digestOf, type Seal } from "./seal.ts";

/** Most rounds in which a modern server asks a legacy client, or a model. */
const MOST_ROUNDS = 10;
/** How long a client may take for its answer to a modern server. Milliseconds. */
const STATE_MS = 600_000;
/** Most of what waits for models in a state, which the client sends back. Characters. */
const MOST_WANTS = 1_048_576;

export class Forwarder {
  readonly #seal: Seal;
  readonly #parked: ParkedCalls;
  /** Calls wait in this process; another gateway of the same store, or this one after a restart, is another home. */
  readonly #home = crypto.randomUUID();

  constructor(seal: Seal, parked: ParkedCalls) {
    this.#seal = seal;
    this.#parked = parked;
  }

  /** @throws McpError */
  forward(exchange: Exchange, connection: Connection, asked: Forwarded): Promise<Answered> {
    if (exchange.era === "modern")
      return connection.era === "legacy"
        ? this.#modernAtLegacy(exchange, connection, asked)
        : this.#modernAtModern(exchange, connection, asked);
    const sampling = new Sampling(asked.samples);
    return connection.era === "legacy"
      ? once({ exchange, connection, asked, sampling }, asked.params)
      : rounds({ exchange, connection, asked, sampling });
  }

  /** What the server wants of a model, weir answers; the rest goes to the client, and what waits for it is in the state. */
  async #modernAtModern(exchange: Exchange, connection: Connection, asked: Forwarded): Promise<Answered> {
    const { requestState: _, ...own } = asked.params;
    const { state, sampled, wants } = this.#opened(exchange, asked) ?? {};
    const sampling = new Sampling(asked.samples, Number(sampled ?? 0));
    const leg = { exchange, connection, asked, sampling };
    const of = (answers: JsonObject, requestState: Json | undefined): JsonObject => ({
      ...{ ...own, ...answers },
      ...(requestState !== undefined && { requestState }),
    });
    let params = of({}, state);
    if (isObject(wants)) {
      const given = await modelsAnswer(leg, wants);
      if ("why" in given) return cannot(given.why);
      const { inputResponses } = own;
      const all = { ...(isObject(inputResponses) ? inputResponses : {}), ...given.answers };
      params = of({ inputResponses: all }, state);
    }
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const answered = await once(leg, params);
      const { models, others } = wantsIn(leg, answered);
      if (isEmpty(models) || !isEmpty(others)) return this.#passed(leg, answered, { models, others });
      const given = await modelsAnswer(leg, models);
      if ("why" in given) return cannot(given.why);
      const { result } = answered as { result: JsonObject };
      params = of({ inputResponses: given.answers }, result["requestState"]);
    }
    throw tooManyRounds(asked);
  }

  /** What the client gets of a modern server. */
  #passed({ exchange, asked, sampling }: Round, answered: Answered, { models, others }: Wants): Answered {
    if ("error" in answered) return answered;
    const { requestState } = answered.result;
    const { given: sampled } = sampling;
    const isState = typeof requestState === "string";
    const keeps = isInput(answered) && (sampled > 0 || !isEmpty(models));
    if (!isState && !keeps) return answered;
    if (JSON.stringify(models).length > MOST_WANTS)
      return cannot("the server asks a model and the client at once, and its request is too large");
    const sealed = this.#sealed(exchange, asked, {
      ...(isState && { state: requestState }),
      ...(keeps && { sampled, ...(!isEmpty(models) && { wants: models }) }),
    });
    const rest = isEmpty(models) ? {} : { inputRequests: others };
    return { result: { ...answered.result, ...rest, requestState: sealed } };
  }

  async #modernAtLegacy(exchange: Exchange, connection: Connection, asked: Forwarded): Promise<Answered> {
    const { method, headers, samples } = asked;
    const { requestState: _, inputResponses, ...params } = asked.params;
    const state = this.#opened(exchange, asked);
    const parked = state?.["parked"];
    if (typeof parked === "string" && state?.["home"] !== this.#home) throw elsewhere(state!);
    const leg: Leg =
      typeof parked === "string"
        ? await this.#parked.resume(parked, exchange, isObject(inputResponses) ? inputResponses : {})
        : await this.#parked.begin(exchange, connection, {
            method,
            params,
            samples,
            ...(headers && { headers }),
          });
    if (!("parked" in leg)) return leg;
    const requestState = this.#sealed(exchange, asked, {
      parked: leg.parked,
      home: this.#home,
      at: hostname(),
    });
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

function elsewhere({ at }: JsonObject): McpError {
  return new McpError(
    CODE.internal,
    `the waiting call is at the gateway on ${String(at)}, or has ended with it: send the answers there, or call the tool again`,
    { data: { node: String(at) } },
  );
}

function boundTo({ caller }: Exchange, { server, method, params }: Forwarded): JsonObject {
  const { name, uri, arguments: args } = params;
  return { server, caller: caller.id, method, name: String(name ?? uri), digest: digestOf(args ?? {}) };
}

/** A request at a server, on behalf of a client. */
interface Round {
  readonly exchange: Exchange;
  readonly connection: Connection;
  readonly asked: Forwarded;
  readonly sampling: Sampling;
}

function once({ exchange, connection, asked, sampling }: Round, params: JsonObject): Promise<Answered> {
  const { method, headers } = asked;
  return connection.request({
    ...{ method, params, client: sampling.client(exchange), stop: exchange.stop },
    ...(headers && { headers }),
    notify: (name, told) => exchange.notify(name, told),
    ask: (name, wanted) => asking(exchange, sampling, name, wanted),
    ready: () => exchange.ready?.(),
    primed: (retryMs) => exchange.primed?.(retryMs),
    paused: () => exchange.paused?.(),
  });
}

function asking(
  exchange: Exchange,
  sampling: Sampling,
  method: string,
  params: JsonObject,
): Promise<Answered> {
  if (sampling.serves(exchange, method)) return sampling.answer(exchange, params);
  const missing = lacking(exchange.client, method);
  if (missing === undefined) return exchange.ask(method, params);
  return Promise.resolve({ error: { code: CODE.method, message: `the client does not support ${missing}` } });
}

/** A legacy client at a modern server: weir asks the client, and repeats the request with its answers. */
async function rounds(leg: Round): Promise<Answered> {
  const { exchange, asked } = leg;
  let { params } = asked;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const answered = await once(leg, params);
    if (!isInput(answered)) return answered;
    const { requestState } = answered.result;
    const { models, others } = wantsIn(leg, answered);
    const missing = Object.values(others).flatMap((want) => lackingIn(exchange, want));
    if (missing.length > 0) return cannot(missing[0]!);
    const [own, clients] = await Promise.all([modelsAnswer(leg, models), clientAnswers(exchange, others)]);
    if ("why" in own) return cannot(own.why);
    if ("why" in clients) return cannot(`the client answered with an error: ${clients.why}`);
    const inputResponses = { ...clients.answers, ...own.answers };
    params = {
      ...asked.params,
      ...(!isEmpty(inputResponses) && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    };
  }
  throw tooManyRounds(asked);
}

function tooManyRounds({ server }: Forwarded): McpError {
  return new McpError(CODE.invalid, `server ${server} asks more than ${MOST_ROUNDS} times`);
}

/** What a server wants before it answers, by its keys: of weir's models, and of the client. */
interface Wants {
  readonly models: JsonObject;
  readonly others: JsonObject;
}

function isInput(answered: Answered): answered is { result: JsonObject } {
  return "result" in answered && answered.result["resultType"] === "input_required";
}

function wantsIn({ exchange, sampling }: Round, answered: Answered): Wants {
  const { inputRequests } = isInput(answered) ? answered.result : {};
  const all = isObject(inputRequests) ? Object.entries(inputRequests) : [];
  const isOwn = (want: Json | undefined) => sampling.serves(exchange, methodOf(want));
  return {
    models: Object.fromEntries(all.filter(([, want]) => isOwn(want))),
    others: Object.fromEntries(all.filter(([, want]) => !isOwn(want))),
  };
}

type Given = { readonly answers: JsonObject } | { readonly why: string };

function modelsAnswer({ exchange, sampling }: Round, wants: JsonObject): Promise<Given> {
  return answersTo(wants, (_, params) => sampling.answer(exchange, params));
}

function clientAnswers(exchange: Exchange, wants: JsonObject): Promise<Given> {
  return answersTo(wants, (method, params) => exchange.ask(method, params));
}

async function answersTo(
  wants: JsonObject,
  answer: (method: string, params: JsonObject) => Promise<Answered>,
): Promise<Given> {
  const given = await Promise.all(
    Object.entries(wants).map(async ([key, want]) => {
      const params = isObject(want) && isObject(want["params"]) ? want["params"] : {};
      return [key, await answer(methodOf(want), params)] as const;
    }),
  );
  const answers: JsonObject = {};
  for (const [key, answered] of given) {
    if ("error" in answered) return { why: answered.error.message };
    answers[key] = answered.result;
  }
  return { answers };
}

function methodOf(want: Json | undefined): string {
  return isObject(want) ? String(want["method"]) : "";
}

function isEmpty(object: JsonObject): boolean {
  return Object.keys(object).length === 0;
}

function lackingIn({ client }: Exchange, want: Json | undefined): string[] {
  const missing = lacking(client, methodOf(want));
  return missing === undefined
    ? []
    : [`the tool needs the client's capability ${missing}, which it has not declared`];
}

/** A result, because the model may find another way. */
function cannot(why: string): Answered {
  return { result: { content: [{ type: "text", text: why }], isError: true } };
}
