/**
 * Replays recorded exchanges through the translated lane, both halves of each: the recorded request goes to an upstream of
 * the other format, which judges what reaches it; the recorded answer is what an upstream of its own format gives to a
 * client of the other one, which judges what the SDK makes of it.
 */
import { UPSTREAM_KEYS, type RunningGateway } from "../helpers/gateway.ts";
import { startReplayed } from "./plant.ts";
import { answerHeaders, type Chunking, type Recording } from "../helpers/recordings.ts";
import { json, startUpstream, type Answer } from "../helpers/upstream.ts";
import { callWithSdk, requestBody, type Outcome, type RequestBody } from "./call.ts";
import { answerFaults } from "./answer-faults.ts";
import { OTHER, expectedAnswer, type ExpectedAnswer } from "./expected.ts";
import { arriving, chunkingsOf, eachOf } from "./native.ts";
import { lostPieces } from "./lost.ts";
import { noModels, plainAnswer } from "./plain-answer.ts";
import { vendorFaults, type Api } from "./policy.ts";
import { refusalReason } from "./refusals.ts";
import { requestFaults } from "./request-rules.ts";
import { changedSettings } from "./settings.ts";
import { streamedText } from "../helpers/streamed.ts";
import { headerFaults, sentHeaders } from "./headers.ts";
import {
  answeringModel,
  chatModels,
  chatVendorsPlugin,
  CLAUDE_MODELS,
  recordedProviders,
} from "./vendors.ts";

export interface RequestReplay {
  recording: Recording;
  /** Why it was refused, when it may be. */
  refused?: string;
  faults: string[];
}

export interface AnswerReplay {
  recording: Recording;
  expected: ExpectedAnswer;
  runs: { chunking: Chunking; faults: string[] }[];
}

export interface Translation {
  requests: RequestReplay[];
  answers: AnswerReplay[];
}

export const PATH: Record<Api, string> = { chat: "/v1/chat/completions", messages: "/v1/messages" };

interface Exchange {
  answer(body: RequestBody): Answer;
  /** What reached the upstream. */
  reached?: { body: RequestBody; headers: Headers };
}

/** What of the recordings is replayed. */
export interface Halves {
  requests: readonly Recording[];
  answers: readonly Recording[];
  /** Ways in which a stream arrives; all of them when absent. */
  chunkings?: readonly Chunking[];
}

/** Replays both halves of the recordings, several at once, over one gateway and one upstream. */
export function replayTranslated(list: readonly Recording[]): Promise<Translation> {
  return replayHalves({ requests: list, answers: list });
}

/** Replays the requests of some recordings and the answers of others. */
export async function replayHalves(halves: Halves): Promise<Translation> {
  const exchanges = new Map<string, Exchange>();
  const upstream = startUpstream((request) => {
    if (request.method === "GET") return noModels();
    const body = JSON.parse(request.body.toString("utf8")) as RequestBody;
    const exchange = exchanges.get(/x\d+$/.exec(body.model)?.[0] ?? "");
    if (!exchange) return json({ error: { message: `no exchange has the model ${body.model}` } }, 501);
    exchange.reached = { body, headers: request.headers };
    return exchange.answer(body);
  });
  const gateway = await startReplayed({
    config: {
      providers: recordedProviders(upstream.url),
      log: { level: "error", format: "json" },
      // Each recording is given once.
      retries: { attempts: 1 },
    },
    plugins: { "shipped.ts": chatVendorsPlugin(upstream.url) },
  });
  const lane = new Lane(gateway, exchanges);
  try {
    const asked = halves.requests.filter((recording) => recording.request?.body);
    const requests = await eachOf(asked, (recording) => lane.request(recording));
    const answers = await eachOf(halves.answers, (recording) => lane.answer(recording, halves.chunkings));
    return { requests, answers };
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

class Lane {
  readonly #gateway: RunningGateway;
  readonly #exchanges: Map<string, Exchange>;
  /** By the ids that clients saw. */
  readonly #upstreamIds = new Map<string, string>();
  #serial = 1;

  constructor(gateway: RunningGateway, exchanges: Map<string, Exchange>) {
    this.#gateway = gateway;
    this.#exchanges = exchanges;
  }

  /** The recorded request to several models of the other format. */
  async request(recording: Recording): Promise<RequestReplay> {
    const api = recording.api as Api;
    const models = api === "chat" ? CLAUDE_MODELS : chatModels(recording.id);
    const replays: RequestReplay[] = [];
    for (const model of models) replays.push(await this.#requestOnce(recording, model));
    const faults = replays.flatMap((replay, index) =>
      replay.faults.map((fault) => `(${models[index]}) ${fault}`),
    );
    const refused = replays[0]!.refused;
    return { recording, faults, ...(refused !== undefined && { refused }) };
  }

  async #requestOnce(recording: Recording, model: string): Promise<RequestReplay> {
    const api = recording.api as Api;
    const upstreamApi = OTHER[api];
    const exchange: Exchange = { answer: ({ stream }) => plainAnswer(upstreamApi, stream === true) };
    const sent = { ...requestBody(recording), model: this.#name(model, exchange) };
    const headers = sentHeaders(recording, this.#serial);
    const response = await fetch(`${this.#gateway.url}${PATH[api]}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(sent),
    });
    const text = await streamedText(response);
    this.#exchanges.delete(sent.model);
    if (response.status === 400 && !exchange.reached) return refusal(recording, sent, text);
    if (response.status !== 200 || !exchange.reached)
      return { recording, faults: [`status ${response.status}: ${text.slice(0, 300)}`] };
    const losses = readLosses(response.headers.get("x-weir-warnings") ?? "");
    const { body, headers: got } = exchange.reached;
    const call = { client: api, upstream: upstreamApi, stream: sent.stream === true, key: keyOf(model) };
    const faults = [
      ...(`/${model}`.endsWith(`/${body.model.replace(/-x\d+$/, "")}`) ? [] : [`the model is ${body.model}`]),
      ...headerFaults(call, headers, got),
      ...vendorFaults(model.split("/")[0]!, body),
      ...requestFaults[upstreamApi](body, model),
      ...lostPieces(api, sent, body, losses),
      ...changedSettings(api, sent, body, losses),
    ];
    return { recording, faults };
  }

  /** The recorded answer to a client of the other format, at every chunking. */
  async answer(recording: Recording, chunkings = chunkingsOf(recording)): Promise<AnswerReplay> {
    const expected = await expectedAnswer(recording);
    const runs: AnswerReplay["runs"] = [];
    for (const chunking of chunkings) {
      const faults = await this.#answerOnce(recording, expected, chunking);
      runs.push({ chunking, faults });
    }
    return { recording, expected, runs };
  }

  async #answerOnce(recording: Recording, expected: ExpectedAnswer, chunking: Chunking): Promise<string[]> {
    const client = OTHER[recording.api as Api];
    const headers = answerHeaders(recording);
    const { status } = recording.response;
    const answer: Answer = { status, headers, body: arriving(recording, chunking), framing: "chunked" };
    const name = this.#name(answeringModel(recording), { answer: () => answer });
    const body = {
      model: name,
      messages: [{ role: "user", content: `Give answer ${recording.id}.` }],
      stream: recording.framing === "sse",
      ...(client === "chat" ? { stream_options: { include_usage: true } } : { max_tokens: 1024 }),
    };
    const outcome = await callWithSdk(client, this.#gateway.url, body, JSON.stringify(body));
    const faults = answerFaults({ client, stream: body.stream, model: name }, expected, outcome);
    return [...faults, ...this.#idFaults(expected, outcome)];
  }

  /** Answers with different ids reach the client with different ids, and one answer with one id at every chunking. */
  #idFaults(expected: ExpectedAnswer, { items }: Outcome): string[] {
    if (expected.kind !== "answer" || expected.reading.id === "" || !("value" in items)) return [];
    const first = (Array.isArray(items.value) ? items.value[0] : items.value) as Record<string, unknown>;
    const id = ((first["message"] as { id?: string } | undefined)?.id ?? first["id"]) as string;
    const before = this.#upstreamIds.get(id);
    this.#upstreamIds.set(id, expected.reading.id);
    if (before === undefined || before === expected.reading.id) return [];
    return [`the id ${id} stands for ${before} and for ${expected.reading.id}`];
  }

  /** A model name no other call has; the upstream knows the exchange by it. */
  #name(head: string, exchange: Exchange): string {
    const mark = `x${this.#serial++}`;
    this.#exchanges.set(mark, exchange);
    return `${head}-${mark}`;
  }
}

/** The credential of the provider in front of a model name. */
function keyOf(model: string): string | undefined {
  const provider = model.slice(0, model.indexOf("/"));
  return provider === "openai" || provider === "anthropic" ? UPSTREAM_KEYS[provider] : undefined;
}

function refusal(recording: Recording, sent: RequestBody, text: string): RequestReplay {
  const { error } = JSON.parse(text) as { error: { message: string; param?: string | null } };
  const field = error.param ?? /^'?([\w.[\]]+)'?[: ]/.exec(error.message)?.[1] ?? "";
  const reason = refusalReason(recording.api as Api, field, sent);
  if (reason) return { recording, refused: reason, faults: [] };
  return { recording, faults: [`refused without a reason that is allowed: ${field}: ${error.message}`] };
}

/** The paths of the losses that an answer's header lists. */
export function readLosses(header: string): string[] {
  return header.split(", ").map((entry) => entry.slice(entry.indexOf(":") + 1));
}
