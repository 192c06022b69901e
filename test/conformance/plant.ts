/**
 * How a fault gets into a running gateway: a method of a codec is replaced by one that edits what goes in or comes out, or a
 * shipped provider is changed. Codecs are values, so this needs nothing of the gateway, and everything is put back.
 */
import { builtIn } from "../../plugins/index.ts";
import type { ChatRequest } from "../../src/core/chat.ts";
import type { GatewayError } from "../../src/core/error.ts";
import type { ChatEvent } from "../../src/core/events.ts";
import type {
  AnswerCodec,
  ErrorAnswer,
  Format,
  Frame,
  ReaderCodec,
  UpstreamAddress,
  UpstreamCodec,
} from "../../src/core/format.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Provider } from "../../src/core/provider.ts";
import { EventStreamReader } from "../../src/stream/framing/event-stream.ts";
import { startGateway, type GatewayOptions, type RunningGateway } from "../helpers/gateway.ts";
import type { AnswerApi } from "./hosts.ts";
import type { Api } from "./policy.ts";

/** What a planted fault did. */
export interface Planted {
  /** How often it changed something. */
  touched: number;
  /** What an edit threw, which would be a fault of another kind. */
  broken?: unknown;
}

/** A fault: done to the providers before a gateway starts, or to the formats of one that runs. Gives what takes it back. */
export interface Plant {
  before?(planted: Planted): () => void;
  into?(formats: ReadonlyMap<string, Format>, planted: Planted): () => void;
}

type Value = Record<string, unknown>;

/** The formats that faults are planted in. */
export type CodecApi = Api | "responses" | AnswerApi;

/** By the API of the recordings that show a fault. */
export type PlantedApi = CodecApi | "embeddings";

const FORMAT: Record<CodecApi, string> = {
  chat: "chat-completions",
  messages: "messages",
  responses: "responses",
  gemini: "gemini",
  bedrock: "converse",
  bedrock_invoke: "messages",
};

/** The fault that the next gateways of the replay start with. */
let current: { plant: Plant; planted: Planted } | undefined;

/** Runs something while gateways of the replay have a fault. */
export async function withPlanted<Result>(
  plant: Plant,
  run: () => Promise<Result>,
): Promise<{ result: Result; planted: Planted }> {
  const planted: Planted = { touched: 0 };
  const undo = plant.before?.(planted);
  current = { plant, planted };
  try {
    return { result: await run(), planted };
  } finally {
    current = undefined;
    undo?.();
  }
}

/** Starts a gateway of the replay, with the fault that is planted at the moment. */
export async function startReplayed(options: GatewayOptions): Promise<RunningGateway> {
  const gateway = await startGateway(options);
  const undo = current?.plant.into?.(gateway.formats, current.planted);
  return {
    ...gateway,
    async stop() {
      await gateway.stop();
      undo?.();
    },
  };
}

/** Edits the body that the upstream codec of the API has written. */
export function written(api: CodecApi, edit: (body: Value) => void): Plant {
  return onReader(api, (codec, touch) => ({
    encodeRequest: (request, call) => {
      const body = codec.encodeRequest(request, call);
      return touch(structuredClone(body), edit);
    },
  }));
}

/** Edits the request that the client codec of the API has read. */
export function decoded(api: CodecApi, edit: (request: ChatRequest) => void): Plant {
  return onAnswers(api, (codec, touch) => ({
    decodeRequest: (body, call) => touch(codec.decodeRequest(body, call), edit),
  }));
}

/** Edits the events that the upstream codec of the API has read; `undefined` drops one. */
export function events(api: CodecApi, edit: (event: ChatEvent) => ChatEvent | undefined): Plant {
  return onReader(api, (codec, _, change) => ({
    readAnswer: (body, context) => codec.readAnswer(body, context).flatMap((event) => change(event, edit)),
    readStream(context) {
      const reader = codec.readStream(context);
      return {
        push: (frame) => reader.push(frame).flatMap((event) => change(event, edit)),
        end: () => reader.end().flatMap((event) => change(event, edit)),
      };
    },
  }));
}

/**
 * Edits what the client codec of the API has written: the JSON of each frame of a stream, and a JSON answer; `undefined`
 * drops a frame. A frame that is not JSON, like `[DONE]`, is `{done: true}`.
 */
export function frames(api: CodecApi, edit: (value: Value) => Value | undefined): Plant {
  return onAnswers(api, (codec, _, change) => ({
    writeAnswer: (list, context) => {
      const answer = codec.writeAnswer(list, context);
      return (change<Value>(answer, edit)[0] as JsonObject | undefined) ?? answer;
    },
    writeStream(context) {
      const writer = codec.writeStream(context);
      const edited = (frame: Frame): Frame[] => {
        const isJson = frame.data.startsWith("{");
        const value = isJson ? (JSON.parse(frame.data) as Value) : { done: true };
        return change(value, edit).map((kept) => (isJson ? { ...frame, data: JSON.stringify(kept) } : frame));
      };
      return {
        push: (event) => writer.push(event).flatMap(edited),
        end: () => writer.end().flatMap(edited),
      };
    },
  }));
}

/** Edits errors that come before the first byte, as the client codec of the API has written them. */
export function failures(api: CodecApi, edit: (answer: ErrorAnswer) => void): Plant {
  return onAnswers(api, (codec, touch) => ({
    encodeError: (error, id) => touch(structuredClone(codec.encodeError(error, id)), edit),
  }));
}

/** Exchanges errors that the upstream codec of the API has read. */
export function failing(api: CodecApi, edit: (error: GatewayError) => GatewayError): Plant {
  return onReader(api, (codec, _, change) => ({
    decodeError: (status, headers, body) => {
      const error = codec.decodeError(status, headers, body);
      return change(error, edit)[0] ?? error;
    },
  }));
}

/** The native lane writes the model into the body of a format that names it in the address. */
export function nativeBody(api: CodecApi): Plant {
  return onAddress(api, (_, __, ___, planted) => {
    planted.touched++;
    return { requestInUrl: false };
  });
}

/** Takes a name from the list of the client's headers that pass. */
export function requestHeadersOf(api: CodecApi, name: string): Plant {
  return withoutHeader(api, "requestHeaders", name);
}

/** Takes a name from the list of the upstream's headers that pass. */
export function answerHeadersOf(api: CodecApi, name: string): Plant {
  return withoutHeader(api, "answerHeaders", name);
}

function withoutHeader(api: CodecApi, list: "requestHeaders" | "answerHeaders", name: string): Plant {
  return onAddress(api, (address, _, __, planted) => {
    const kept = address[list].filter((each) => each !== name);
    planted.touched = address[list].length - kept.length;
    return { [list]: kept };
  });
}

/** Edits a shipped provider. */
export function providerOf(name: string, edit: (provider: Provider) => void): Plant {
  return {
    before(planted) {
      const all: Provider[] = builtIn.flatMap(({ providers }) => [...(providers ?? [])]);
      const provider = all.find((each) => each.name === name)!;
      const kept = { ...provider };
      edit(provider);
      planted.touched = 1;
      return () => void Object.assign(provider, kept);
    },
  };
}

/** Edits what the reader of AWS event streams has cut out of a body; `undefined` drops a frame. */
export function awsFrames(edit: (frame: Frame) => Frame | undefined): Plant {
  return {
    before(planted) {
      const { push } = EventStreamReader.prototype;
      const { change } = counting(planted);
      EventStreamReader.prototype.push = function (bytes) {
        return push.call(this, bytes).flatMap((frame) => change(frame, edit));
      };
      return () => void (EventStreamReader.prototype.push = push);
    },
  };
}

/** Runs an edit in place, and counts. */
type Touch = <Kind>(value: Kind, edit: (value: Kind) => void) => Kind;
/** Runs an edit that may exchange or drop, and counts. */
type Change = <Kind>(value: Kind, edit: (value: Kind) => Kind | undefined) => Kind[];

type Make<Part> = (part: Part, touch: Touch, change: Change, planted: Planted) => Partial<Part>;

function onReader(api: CodecApi, make: Make<ReaderCodec>): Plant {
  return onUpstream(api, (upstream, ...rest) => ({
    codec: { ...upstream.codec, ...make(upstream.codec, ...rest) },
  }));
}

function onAddress(api: CodecApi, make: Make<UpstreamAddress>): Plant {
  return onUpstream(api, (upstream, ...rest) => ({
    address: { ...upstream.address, ...make(upstream.address, ...rest) },
  }));
}

function onUpstream(api: CodecApi, make: Make<UpstreamCodec>): Plant {
  return onFace(api, "upstream", make);
}

function onAnswers(api: CodecApi, make: Make<AnswerCodec>): Plant {
  return onFace(api, "client", (client, ...rest) => ({
    codec: { ...client.codec, ...make(client.codec, ...rest) },
  }));
}

function onFace<Face extends "client" | "upstream">(
  api: CodecApi,
  face: Face,
  make: Make<NonNullable<Format[Face]>>,
): Plant {
  return {
    into(formats, planted) {
      const format = formats.get(FORMAT[api])!;
      const codec = format[face]!;
      const { touch, change } = counting(planted);
      format[face] = { ...codec, ...make(codec, touch, change, planted) };
      return () => void (format[face] = codec);
    },
  };
}

function counting(planted: Planted): { touch: Touch; change: Change } {
  const change: Change = (value, edit) => {
    const before = JSON.stringify(value);
    try {
      const after = edit(value);
      if (JSON.stringify(after) !== before) planted.touched++;
      return after === undefined ? [] : [after];
    } catch (thrown) {
      planted.broken = thrown;
      return [value];
    }
  };
  const touch: Touch = (value, edit) => {
    change(value, (each) => {
      edit(each);
      return each;
    });
    return value;
  };
  return { touch, change };
}

/** The content blocks or parts of all messages. */
export function turnsOf(body: Value): Value[] {
  return listOf(body["messages"]).flatMap(({ content }) => listOf(content));
}

/** The calls in a messages body. */
export function callsOf(body: Value): Value[] {
  return turnsOf(body).filter(({ type }) => type === "tool_use");
}

/** The results in a messages body. */
export function resultsOf(body: Value): Value[] {
  return turnsOf(body).filter(({ type }) => type === "tool_result");
}

/** Exchanges a member of the first two. */
export function swap([first, second]: Value[], name: string): void {
  if (first && second) [first[name], second[name]] = [second[name], first[name]];
}

export function listOf(value: unknown): Value[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
}

export function objectOf(value: unknown): Value {
  return typeof value === "object" && value !== null ? (value as Value) : {};
}
