/**
 * Replays recorded exchanges through the translated lane, both halves of each: the recorded request goes to an upstream of
 * the other format, which judges what reaches it; the recorded answer is what an upstream of its own format gives to a
 * client of the other one, which judges what the SDK makes of it.
 */
import { startGateway, upstreamConfig, type RunningGateway } from "../helpers/gateway.ts";
import { answerHeaders, type Chunking, type Recording } from "../helpers/recordings.ts";
import { json, startUpstream, type Answer } from "../helpers/upstream.ts";
import { callWithSdk, requestBody, type RequestBody } from "./call.ts";
import { answerFaults } from "./answer-faults.ts";
import { OTHER, expectedAnswer, type ExpectedAnswer } from "./expected.ts";
import { arriving, chunkingsOf, eachOf } from "./native.ts";
import { lostPieces } from "./pieces.ts";
import { plainAnswer } from "./plain-answer.ts";
import type { Api } from "./policy.ts";
import { refusalReason } from "./refusals.ts";
import { requestFaults } from "./request-rules.ts";
import { changedSettings } from "./settings.ts";
import { answeringModel, chatVendorsPlugin } from "./vendors.ts";
import { streamedText } from "../helpers/streamed.ts";

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

/** A model of the other format, by API of the client: the catalogues know them under these heads of the name. */
const FOREIGN_MODEL: Record<Api, string> = { chat: "anthropic/claude-opus-4-6", messages: "openai/gpt-4.1" };
export const PATH: Record<Api, string> = { chat: "/v1/chat/completions", messages: "/v1/messages" };

interface Exchange {
  answer(body: RequestBody): Answer;
  /** What reached the upstream. */
  reached?: RequestBody;
}

/** Replays the recordings, several at once, over one gateway and one upstream. */
export async function replayTranslated(list: readonly Recording[]): Promise<Translation> {
  const exchanges = new Map<string, Exchange>();
  const upstream = startUpstream((request) => {
    const body = JSON.parse(request.body.toString("utf8")) as RequestBody;
    const exchange = exchanges.get(/x\d+$/.exec(body.model)?.[0] ?? "");
    if (!exchange) return json({ error: { message: `no exchange has the model ${body.model}` } }, 501);
    exchange.reached = body;
    return exchange.answer(body);
  });
  const gateway = await startGateway({
    config: {
      ...upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
      log: { level: "error", format: "json" },
      // Each recording is given once.
      retries: { attempts: 1 },
    },
    plugins: { "only-chat.ts": chatVendorsPlugin(upstream.url) },
  });
  const lane = new Lane(gateway, exchanges);
  try {
    const asked = list.filter((recording) => recording.request?.body);
    const requests = await eachOf(asked, (recording) => lane.request(recording));
    const answers = await eachOf(list, (recording) => lane.answer(recording));
    return { requests, answers };
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

class Lane {
  readonly #gateway: RunningGateway;
  readonly #exchanges: Map<string, Exchange>;
  #serial = 1;

  constructor(gateway: RunningGateway, exchanges: Map<string, Exchange>) {
    this.#gateway = gateway;
    this.#exchanges = exchanges;
  }

  /** The recorded request to an upstream of the other format. */
  async request(recording: Recording): Promise<RequestReplay> {
    const api = recording.api as Api;
    const upstreamApi = OTHER[api];
    const exchange: Exchange = { answer: ({ stream }) => plainAnswer(upstreamApi, stream === true) };
    const sent = { ...requestBody(recording), model: this.#name(FOREIGN_MODEL[api], exchange) };
    const response = await fetch(`${this.#gateway.url}${PATH[api]}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(sent),
    });
    const text = await streamedText(response);
    this.#exchanges.delete(sent.model);
    if (response.status === 400 && !exchange.reached) return refusal(recording, sent, text);
    if (response.status !== 200 || !exchange.reached)
      return { recording, faults: [`status ${response.status}: ${text.slice(0, 300)}`] };
    const losses = readLosses(response.headers.get("x-weir-warnings") ?? "");
    const faults = [
      ...requestFaults[upstreamApi](exchange.reached),
      ...lostPieces(api, sent, exchange.reached, losses),
      ...changedSettings(api, sent, exchange.reached, losses),
    ];
    return { recording, faults };
  }

  /** The recorded answer to a client of the other format, at every chunking. */
  async answer(recording: Recording): Promise<AnswerReplay> {
    const expected = await expectedAnswer(recording);
    const runs: AnswerReplay["runs"] = [];
    for (const chunking of chunkingsOf(recording)) {
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
    return answerFaults(client, body.stream, expected, outcome);
  }

  /** A model name no other call has; the upstream knows the exchange by it. */
  #name(head: string, exchange: Exchange): string {
    const mark = `x${this.#serial++}`;
    this.#exchanges.set(mark, exchange);
    return `${head}-${mark}`;
  }
}

function refusal(recording: Recording, sent: RequestBody, text: string): RequestReplay {
  const { error } = JSON.parse(text) as { error: { message: string; param?: string | null } };
  const field = error.param ?? /^'?([\w.[\]]+)'?[: ]/.exec(error.message)?.[1] ?? "";
  const reason = refusalReason(recording.api as Api, field, sent);
  if (reason) return { recording, refused: reason, faults: [] };
  return { recording, faults: [`refused, which E.11 does not allow: ${field}: ${error.message}`] };
}

function readLosses(header: string): string[] {
  return header.split(", ").map((entry) => entry.slice(entry.indexOf(":") + 1));
}
