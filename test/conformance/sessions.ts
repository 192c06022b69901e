/**
 * Replays sessions through the translated lane: a client of the other format holds the conversation, putting every answer
 * back into its history as its SDK gave it, and the upstream must find in each request what it had answered before: texts,
 * calls with their arguments, and its signed reasoning byte for byte.
 */
import { noModels } from "./plain-answer.ts";
import { startReplayed } from "./plant.ts";
import { answerBytes, answerHeaders, type Recording } from "../helpers/recordings.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { callWithSdk, type RequestBody } from "./call.ts";
import { OTHER, expectedAnswer, parseInput } from "./expected.ts";
import { lostPieces } from "./lost.ts";
import { eachOf } from "./native.ts";
import { canonical, piecesOf } from "./pieces.ts";
import type { Api } from "./policy.ts";
import type { Reading } from "./reading.ts";
import { requestFaults } from "./request-rules.ts";
import { readLosses } from "./translated.ts";
import { answeringModel, chatVendorsPlugin, recordedProviders } from "./vendors.ts";

export interface SessionReplay {
  /** The first recording of the session. */
  recording: Recording;
  turns: number;
  faults: string[];
}

interface Turn {
  recording: Recording;
  reading: Reading;
}

type Message = Record<string, unknown>;

/** Replays every session that has at least two whole answers, several at once. */
export async function replaySessions(list: readonly Recording[]): Promise<SessionReplay[]> {
  const talks = new Map<string, Talk>();
  const upstream: Upstream = startUpstream((request) => {
    if (request.method === "GET") return noModels();
    const body = JSON.parse(request.body.toString("utf8")) as RequestBody;
    const talk = talks.get(/s\d+$/.exec(body.model)?.[0] ?? "");
    return talk ? talk.answer(body) : json({ error: { message: "no session has this model" } }, 501);
  });
  const gateway = await startReplayed({
    config: {
      providers: recordedProviders(upstream.url),
      log: { level: "error", format: "json" },
    },
    plugins: { "shipped.ts": chatVendorsPlugin(upstream.url) },
  });
  try {
    const sessions = await wholeSessions(list);
    return await eachOf([...sessions.entries()], async ([serial, turns]) => {
      const talk = new Talk(turns, `s${serial}`);
      talks.set(`s${serial}`, talk);
      return talk.hold(gateway.url);
    });
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

async function wholeSessions(list: readonly Recording[]): Promise<Turn[][]> {
  const sessions = new Map<string, Turn[]>();
  const inOrder = list
    .filter(({ source }) => source.of > 1)
    .sort((left, right) => left.source.index - right.source.index);
  for (const recorded of inOrder) {
    const recording = withOwnIds(recorded);
    const expected = await expectedAnswer(recording);
    if (expected.kind !== "answer" || !isWhole(expected.reading)) continue;
    const key = `${recording.vendor} ${recording.api} ${recording.source.repo} ${recording.source.path}`;
    sessions.set(key, [...(sessions.get(key) ?? []), { recording, reading: expected.reading }]);
  }
  return [...sessions.values()].filter((turns) => turns.length > 1);
}

/** Many ids were made equal when they were published; in life no two answers share one. */
export function withOwnIds(recording: Recording): Recording {
  const { response } = recording;
  const body = response.body?.replaceAll("REDACTED", `R${recording.id}`);
  return { ...recording, response: { ...response, body } };
}

/** It says something, and none of its calls was cut off. */
function isWhole({ text, calls }: Reading): boolean {
  const areWhole = calls.every((call) => call.name !== "" && parseInput(call.input) !== undefined);
  return areWhole && (text.trim() !== "" || calls.length > 0);
}

/** One conversation: the client's history on this side, the recorded answers on the other. */
class Talk {
  readonly #turns: readonly Turn[];
  readonly #client: Api;
  readonly #model: string;
  readonly #faults: string[] = [];
  readonly #history: Message[] = [{ role: "user", content: "Begin." }];
  #at = 0;
  #before: string[] = [];
  #reached: RequestBody | undefined;

  constructor(turns: readonly Turn[], mark: string) {
    const { recording } = turns[0]!;
    this.#turns = turns;
    this.#client = OTHER[recording.api as Api];
    this.#model = `${answeringModel(recording)}-${mark}`;
  }

  /** What the upstream does: looks for all it has said, then gives the next recorded answer. */
  answer(body: RequestBody) {
    const { recording } = this.#turns[this.#at]!;
    const api = recording.api as Api;
    this.#say(requestFaults[api](body, this.#model).filter((fault) => !/^OpenAI's document/.test(fault)));
    for (const turn of this.#turns.slice(0, this.#at)) this.#say(forgotten(api, body, turn.reading));
    this.#say(this.#movedPrefix(body));
    this.#reached = body;
    return { headers: answerHeaders(recording), body: answerBytes(recording) };
  }

  async hold(url: string): Promise<SessionReplay> {
    for (; this.#at < this.#turns.length; this.#at++) {
      const { recording } = this.#turns[this.#at]!;
      const body = this.#request(recording.framing === "sse");
      const { message, wire } = await callWithSdk(this.#client, url, body, JSON.stringify(body));
      const losses = readLosses(wire?.headers.get("x-weir-warnings") ?? "");
      if (this.#reached) this.#say(lostPieces(this.#client, body, this.#reached, losses));
      if ("error" in message) {
        this.#say([`the SDK threw ${message.error.message}`]);
        break;
      }
      this.#history.push(...NEXT[this.#client](message.value as Message));
    }
    return { recording: this.#turns[0]!.recording, turns: this.#turns.length, faults: this.#faults };
  }

  #request(stream: boolean): RequestBody {
    const names = [...new Set(this.#turns.flatMap(({ reading }) => reading.calls.map((call) => call.name)))];
    const tools = names.map((name) =>
      this.#client === "chat"
        ? { type: "function", function: { name, parameters: { type: "object" } } }
        : { name, input_schema: { type: "object" } },
    );
    const limit = this.#client === "messages" && { max_tokens: 2048 };
    const messages = this.#history;
    return { model: this.#model, stream, ...limit, ...(tools.length > 0 && { tools }), messages };
  }

  /** The same history gives the same bytes on every turn; cache marks move with the end. */
  #movedPrefix(body: RequestBody): string[] {
    const written = (body["messages"] as Message[]).map((message) =>
      JSON.stringify(message, (name, value: unknown) => (name === "cache_control" ? undefined : value)),
    );
    const place = this.#before.findIndex((message, index) => message !== written[index]);
    this.#before = written;
    return place === -1 ? [] : [`messages[${place}] is written in another way than a turn before`];
  }

  #say(faults: readonly string[]): void {
    this.#faults.push(...faults.map((fault) => `turn ${this.#at}: ${fault}`));
  }
}

/** The answer as the next request's history, with a result for each call. */
export const NEXT: Record<Api, (message: Message) => Message[]> = {
  chat(completion) {
    const answer = (completion["choices"] as { message: Message }[])[0]!.message;
    const calls = (answer["tool_calls"] ?? []) as { id: string }[];
    const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: `Result of ${id}.` }));
    return [answer, ...results, { role: "user", content: "Go on." }];
  },
  messages({ content }) {
    const calls = (content as { type: string; id: string }[]).filter(({ type }) => type === "tool_use");
    const results = calls.map(({ id }, place) => ({
      type: "tool_result",
      tool_use_id: id,
      content: `Result of ${id}.`,
      ...(place % 2 === 1 && { is_error: true }),
    }));
    return [
      { role: "assistant", content },
      { role: "user", content: [...results, { type: "text", text: "Go on." }] },
    ];
  },
};

/** What of an earlier answer is not in the request. */
function forgotten(api: Api, body: RequestBody, reading: Reading): string[] {
  const pieces = piecesOf[api](body);
  const texts = pieces.filter(({ kind }) => kind === "text").map(({ value }) => squeeze(value));
  const faults: string[] = [];
  if (!texts.join("").includes(squeeze(reading.text)))
    faults.push(`text forgotten: ${reading.text.slice(0, 80)}`);
  for (const { name, input } of reading.calls) {
    const call = `${name} ${canonical(parseInput(input))}`;
    if (!pieces.some((piece) => piece.kind === "call" && piece.value === call))
      faults.push(`call forgotten: ${call}`);
  }
  if (api === "messages" && !signedIn(body).includes(reading.signed))
    faults.push("signed reasoning forgotten");
  return faults;
}

/** Signatures and encrypted reasoning of a Messages request, in order, as one text. */
function signedIn(body: RequestBody): string {
  const blocks = (body["messages"] as { content: unknown }[]).flatMap(({ content }) => content as Message[]);
  return blocks
    .map(({ type, signature, data }) => (type === "redacted_thinking" ? data : signature))
    .join("");
}

/** Without blanks: blocks are split and joined at them. */
export function squeeze(text: string): string {
  return text.replace(/\s+/g, "");
}
