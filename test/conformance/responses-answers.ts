/**
 * Replays recorded answers of responses providers: to clients of the format, whose bytes must be the recorded ones, and to
 * clients of the other formats, who must get the same texts, calls and token counts.
 */
import { isObject, type JsonObject, parseJson } from "../../src/core/json.ts";
import { parseFrames } from "../../src/stream/sse.ts";
import {
  answerBytes,
  answerHeaders,
  type Chunking,
  cutInto,
  type Recording,
  seedOf,
} from "../helpers/recordings.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { streamedText } from "../helpers/streamed.ts";
import { json, startUpstream } from "../helpers/upstream.ts";
import { eachOf } from "./native.ts";
import { noModels } from "./plain-answer.ts";
import { startReplayed } from "./plant.ts";
import type { Api } from "./policy.ts";
import { IMAGE } from "./said.ts";

export interface AnswerReplay {
  recording: Recording;
  /** Why the client must get an error; absent if it must get the answer. */
  refused?: string;
  faults: string[];
}

export type AnswerClient = Api | "responses";

const MODEL = "host/some-model";

/** Replays each recording once in each chunking. */
export async function replayResponsesAnswers(
  list: readonly Recording[],
  client: AnswerClient,
  chunkings: readonly Chunking[] = ["event", "random"],
): Promise<AnswerReplay[]> {
  const answers = new Map<string, { recording: Recording; chunking: Chunking }>();
  const upstream = startUpstream((request) => {
    if (request.method === "GET") return noModels();
    const body = parseJson(request.body.toString()) as JsonObject;
    const found = answers.get(/x\d+$/.exec(String(body["model"]))?.[0] ?? "");
    if (!found) return json({ error: { message: "no recording has this model" } }, 501);
    const { recording, chunking } = found;
    const pieces = cutInto(answerBytes(recording), chunking, seedOf(recording.id));
    return { status: recording.response.status, headers: answerHeaders(recording), body: pieces };
  });
  const gateway = await startReplayed({
    target: "source",
    config: {
      providers: { host: { baseUrl: `${upstream.url}/v1`, speaks: "responses" } },
      log: { level: "error", format: "json" },
      retries: { attempts: 1 },
      timeouts: { heartbeatMs: 600_000 },
    },
  });
  let serial = 0;
  const replay = async (recording: Recording, chunking: Chunking): Promise<string[]> => {
    const mark = `x${serial++}`;
    answers.set(mark, { recording, chunking });
    const faults = await FACES[client](gateway.url, `${MODEL}-${mark}`, recording);
    return faults.map((fault) => `(${chunking}) ${fault}`);
  };
  try {
    return await eachOf(list, async (recording) => {
      const refused = client === "responses" ? undefined : refusalOf(recording);
      const faults: string[] = [];
      const isStream = recording.framing === "sse";
      for (const chunking of isStream ? chunkings : chunkings.slice(0, 1))
        faults.push(...(await replay(recording, chunking)));
      return { recording, faults, ...(refused !== undefined && { refused }) };
    });
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}

type Face = (url: string, model: string, recording: Recording) => Promise<string[]>;

const FACES: Readonly<Record<AnswerClient, Face>> = {
  async responses(url, model, recording) {
    const response = await fetch(`${url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ model, input: "Go.", stream: recording.framing === "sse" }),
    });
    const text = await streamedText(response);
    const wanted = nativeStatus(recording);
    const faults = response.status === wanted ? [] : [`status ${response.status}, not ${wanted}`];
    if (wanted !== recording.response.status) return faults;
    const recorded = answerBytes(recording).toString("utf8");
    return firstAnswer(text) === firstAnswer(recorded)
      ? faults
      : [...faults, "the bytes are not the recorded ones"];
  },
  async chat(url, model, recording) {
    const { completions } = openaiClient(url).chat;
    const params = { model, messages: [{ role: "user" as const, content: "Go." }] };
    return judged(recording, async () => {
      const completion =
        recording.framing === "sse"
          ? await completions
              .stream({ ...params, stream_options: { include_usage: true } })
              .finalChatCompletion()
          : await completions.create(params);
      const { message } = completion.choices[0]!;
      return {
        text: `${message.content ?? ""}${message.refusal ?? ""}`,
        calls: (message.tool_calls ?? []).map((call) =>
          call.type === "function"
            ? [call.function.name, parsed(call.function.arguments)]
            : [call.custom.name, { input: call.custom.input }],
        ),
        tokens: [completion.usage?.prompt_tokens, completion.usage?.completion_tokens],
      };
    });
  },
  async messages(url, model, recording) {
    const { messages } = anthropicClient(url);
    const params = { model, max_tokens: 1024, messages: [{ role: "user" as const, content: "Go." }] };
    return judged(recording, async () => {
      const message =
        recording.framing === "sse"
          ? await messages.stream(params).finalMessage()
          : await messages.create(params);
      const { usage, content } = message;
      return {
        text: content
          .flatMap((block) => (block.type === "text" ? [block.text.replace(IMAGE, "")] : []))
          .join("\n\n"),
        calls: content.flatMap((block) => (block.type === "tool_use" ? [[block.name, block.input]] : [])),
        tokens: [
          usage.input_tokens +
            (usage.cache_read_input_tokens ?? 0) +
            (usage.cache_creation_input_tokens ?? 0),
          usage.output_tokens,
        ],
      };
    });
  },
};

/** What a client must find in an answer. */
interface Gist {
  text: string;
  calls: unknown[];
  tokens: unknown[];
}

async function judged(recording: Recording, call: () => Promise<Gist>): Promise<string[]> {
  const refused = refusalOf(recording);
  let got: Gist;
  try {
    got = await call();
  } catch (thrown) {
    return refused === undefined ? [`the client got an error: ${String(thrown).slice(0, 200)}`] : [];
  }
  if (refused !== undefined) return [`the client got an answer in spite of ${refused}`];
  const wanted = gistOf(recording);
  // weir estimates what a provider did not count.
  if (Bun.deepEquals(wanted.tokens, [0, 0])) wanted.tokens = got.tokens;
  return (["text", "calls", "tokens"] as const)
    .filter((name) => !Bun.deepEquals(plain(got[name]), plain(wanted[name])))
    .map(
      (name) =>
        `${name}: ${JSON.stringify(wanted[name]).slice(0, 150)} became ${JSON.stringify(got[name]).slice(0, 150)}`,
    );
}

/** Blank lines between texts are a matter of the client's format. */
function plain(value: unknown): unknown {
  return typeof value === "string" ? value.replace(/\s+/g, "") : value;
}

function parsed(text: string): unknown {
  return parseJson(text === "" ? "{}" : text);
}

/** The response object of an answer up to its first terminal event, with the items that it lists or that came before. */
function responseOf(recording: Recording): JsonObject | undefined {
  if (recording.framing !== "sse") {
    const body = parseJson(answerBytes(recording).toString("utf8"));
    return isObject(body) ? body : undefined;
  }
  const items = new Map<number, JsonObject>();
  for (const { data } of parseFrames(Buffer.concat([answerBytes(recording), Buffer.from("\n\n")]))) {
    const event = parseJson(data);
    if (!isObject(event)) continue;
    if (event.type === "error") return undefined;
    if (event.type === "response.output_item.done" && isObject(event.item))
      items.set(Number(event.output_index), event.item);
    if (!TERMINAL.test(String(event.type)) || !isObject(event.response)) continue;
    const listed = Array.isArray(event.response.output) ? event.response.output : [];
    return { ...event.response, output: items.size > 0 ? [...items.values()] : listed };
  }
  return undefined;
}

const TERMINAL = /^response\.(completed|incomplete|failed)$/;

/** Why a client of another format must get an error. */
function refusalOf(recording: Recording): string | undefined {
  if (recording.response.status !== 200) return `status ${recording.response.status}`;
  const response = responseOf(recording);
  if (!response || !Array.isArray(response.output)) return "an answer without an end";
  if (response.status === "failed") return "an answer that failed";
  return response.status === "queued" || response.status === "in_progress"
    ? "an answer in the background"
    : undefined;
}

function gistOf(recording: Recording): Gist {
  const { output, usage } = responseOf(recording)!;
  const items = (output as JsonObject[]).filter(isObject);
  const parts = items
    .filter(({ type }) => type === "message")
    .flatMap(({ content }) => (Array.isArray(content) ? content.filter(isObject) : []));
  const counts = isObject(usage) ? usage : {};
  return {
    text: parts.map(({ text, refusal }) => String(text ?? refusal ?? "")).join(""),
    calls: items.flatMap(({ type, name, namespace, input, arguments: args }) => {
      if (type === "custom_tool_call") return [[name, { input }]];
      const joined = typeof namespace === "string" ? `${namespace}__${String(name)}` : name;
      return type === "function_call" ? [[joined, parsed(String(args))]] : [];
    }),
    tokens: [counts.input_tokens, counts.output_tokens],
  };
}

/** xAI refuses a wrong key with 400. */
const NO_KEY = /"error":\s*"(?:Incorrect|Invalid) API key/i;

/** A refused credential of the gateway, and an error with status 200, are failures of the provider. */
function nativeStatus(recording: Recording): number {
  const { status } = recording.response;
  if (status === 401 || status === 403 || NO_KEY.test(recording.response.body ?? "")) return 502;
  const body = recording.framing === "sse" ? undefined : parseJson(recording.response.body ?? "");
  return status === 200 && isObject(body) && isObject(body.error) ? 502 : status;
}

/** A stream up to its terminal event: some records are several answers in one. */
function firstAnswer(text: string): string {
  const end = /"type": ?"response\.(?:completed|incomplete|failed)"/.exec(text);
  const after = end ? text.indexOf("\n", end.index) : -1;
  return (after < 0 ? text : text.slice(0, after)).trimEnd();
}

/** A line with the sums, one for each reason of an error, and one for each fault. */
export function describeResponsesAnswers(client: AnswerClient, replays: readonly AnswerReplay[]): string[] {
  const reasons = Map.groupBy(
    replays.filter(({ refused, faults }) => refused !== undefined && faults.length === 0),
    ({ refused }) => refused,
  );
  const failed = replays.filter(({ faults }) => faults.length > 0).length;
  const errors = [...reasons.values()].reduce((sum, { length }) => sum + length, 0);
  const lane = client === "responses" ? "Native" : "Translated";
  return [
    `${lane} answers, responses upstream, ${client} client: ${replays.length} answers, ${replays.length - failed - errors} same, ${errors} errors, ${failed} failed`,
    ...[...reasons].map(([reason, { length }]) => `  ${length}  an error for the client: ${reason}`),
    ...replays.flatMap(({ recording, faults }) =>
      faults.map((fault) => `${recording.vendor} responses ${recording.id} answer: ${fault}`),
    ),
  ];
}
