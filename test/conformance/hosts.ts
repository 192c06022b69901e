/** The hosts whose recorded answers are replayed in the formats that only they speak: Google's and Amazon's. */
import { answerBytes, answerHeaders, seedOf, type Chunking, type Recording } from "../helpers/recordings.ts";
import type { Answer, UpstreamRequest } from "../helpers/upstream.ts";
import { converseBytes, converseRefusal, isEventStream, readConverse } from "./converse-reading.ts";
import { geminiRecords, geminiRefusal, readGemini } from "./gemini-reading.ts";
import { invokedEvents } from "./invoke.ts";
import { arrivingBytes } from "./native.ts";
import { expectedAnswer } from "./expected.ts";
import type { Api } from "./policy.ts";
import { readAnswer, readStream } from "./reading.ts";
import { saidIn, type Said, type Value } from "./said.ts";
import { answeringModel } from "./vendors.ts";

/** The formats that only hosts of their own speak, by the API of the recordings. */
export type HostApi = "gemini" | "bedrock";

/** Beside these, Claude over InvokeModel: the Messages format in the frames of AWS. */
export type AnswerApi = HostApi | Api | "bedrock_invoke";

/** What a client of another format must get. */
export type Expected =
  | { said: Said }
  /** An error, or what no client of the other format can ask for; `words` of the vendor's sentence have to survive. */
  | { refused: string; words?: string };

export interface Host {
  /** A model that gives the answer, as clients write it. */
  model(recording: Recording): string;
  isStream(recording: Recording): boolean;
  /** The bytes of the answer as the host sends them. */
  bytes(recording: Recording): Buffer;
  expected(recording: Recording): Promise<Expected>;
}

const isClaude = ({ model }: Recording) => /claude/.test(model ?? "");

/** Told in the words that clients of each format match on. */
const TOO_LONG = /context length|too long|token count \(\d+\) exceeds/;

/** A recorded array is the answer of a stream that was not asked for as events. */
function googleHost(framing: string, vendor: string): string {
  return framing === "json-array" ? "array" : vendor === "vertex" ? "vertex-express" : "gemini";
}

/** Reads an answer by a reader of its format. */
function readBy(
  refusalOf: (recording: Recording) => string | undefined,
  read: (recording: Recording) => Said,
): Host["expected"] {
  return async (recording) => {
    const refused = refusalOf(recording);
    if (refused === undefined) return { said: read(recording) };
    return { refused, ...(TOO_LONG.test(recording.response.body ?? "") && { words: "" }) };
  };
}

/** An answer of a format that the judges of the other lanes read already. */
const recorded: Host = {
  model: answeringModel,
  isStream: ({ framing }) => framing === "sse",
  bytes: answerBytes,
  async expected(recording) {
    const expected = await expectedAnswer(recording);
    if (expected.kind === "answer") return { said: saidIn(expected.reading) };
    if (expected.kind !== "error") return { refused: expected.why };
    return {
      refused: `status ${recording.response.status}`,
      words: TOO_LONG.test(expected.words) ? "" : expected.words,
    };
  },
};

export const HOSTS: Readonly<Record<AnswerApi, Host>> = {
  gemini: {
    model: ({ model, framing, vendor }) => `${googleHost(framing, vendor)}/${model ?? "gemini-2.5-flash"}`,
    isStream: ({ framing }) => framing !== "json",
    bytes: answerBytes,
    expected: readBy(geminiRefusal, (recording) => readGemini(geminiRecords(recording))),
  },
  bedrock: {
    model: ({ model }) => `aws/${model ?? "amazon.nova-lite-v1:0"}`,
    isStream: isEventStream,
    bytes: converseBytes,
    expected: readBy(converseRefusal, (recording) => readConverse(recording, isClaude(recording))),
  },
  bedrock_invoke: {
    model: ({ model }) => `bedrock/${model}`,
    isStream: isEventStream,
    bytes: answerBytes,
    expected: readBy(
      () => undefined,
      (recording) =>
        saidIn(
          isEventStream(recording)
            ? readStream.messages(invokedEvents(recording))
            : readAnswer.messages(JSON.parse(recording.response.body ?? "")),
        ),
    ),
  },
  chat: recorded,
  messages: recorded,
};

/** Stands at the end of a model name, and in no other call. */
export const MARK = /-x\d+(?=[:/]|$)/;

/** What reached an upstream: formats whose address names the model have a path of their own for streams. */
export interface Reached {
  mark: string;
  body: Value;
  stream: boolean;
}

export function reachedBy({ path, body }: UpstreamRequest): Reached {
  const value = JSON.parse(body.toString("utf8")) as Value;
  const named = MARK.exec(path)?.[0];
  if (named !== undefined) return { mark: named, body: value, stream: /stream/i.test(path) };
  return {
    mark: MARK.exec(String(value["model"]))?.[0] ?? "",
    body: value,
    stream: value["stream"] === true,
  };
}

/** The recorded answer, cut as `chunking` says. */
export function answerOf(api: AnswerApi, recording: Recording, chunking: Chunking): Answer {
  const bytes = HOSTS[api].bytes(recording);
  const headers = answerHeaders(recording);
  if (isEventStream(recording)) headers["content-type"] = "application/vnd.amazon.eventstream";
  return {
    status: recording.response.status,
    headers,
    body: arrivingBytes(bytes, chunking, seedOf(recording.id)),
    framing: "chunked",
  };
}

/** Dropped plugins: the providers of the replay at the address of the fake upstream, besides those of the config. */
export function hostPlugins(url: string): Record<string, string> {
  return {
    "aws.ts": `import { definePlugin, eventStream } from "weir";
export default definePlugin({
  name: "conformance-aws",
  providers: [
    {
      name: "aws",
      baseUrl: ${JSON.stringify(url)},
      speaks: { converse: { json: "/model/{model}/converse", stream: "/model/{model}/converse-stream" } },
      framing: { converse: eventStream() },
    },
  ],
});
`,
    "array.ts": `import { definePlugin, jsonArray } from "weir";
export default definePlugin({
  name: "conformance-array",
  providers: [
    {
      name: "array",
      baseUrl: ${JSON.stringify(url)},
      speaks: {
        gemini: {
          json: "/v1beta/models/{model}:generateContent",
          stream: "/v1beta/models/{model}:streamGenerateContent",
        },
      },
      framing: { gemini: jsonArray },
    },
  ],
});
`,
  };
}

/** Config of the shipped providers that speak these formats. */
export function hostsConfig(url: string): Record<string, unknown> {
  return {
    gemini: { baseUrl: url, apiKey: HOST_KEY },
    "vertex-express": { baseUrl: url, apiKey: HOST_KEY },
    bedrock: { baseUrl: url, apiKey: HOST_KEY, variables: { region: "us-east-1" } },
  };
}

/** Credential of the fake upstream: no client may see it. */
export const HOST_KEY = "AIza-canary-61b0de27google";
