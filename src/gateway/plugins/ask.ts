/**
 * `call.ask`: a plugin asks another model of the gateway. The request is a call of its own, with the retries and timeouts of the
 * gateway and a line in the log. It is booked on the gateway key of the call that asks, and is aborted with it.
 */
import type { AskAnswer, AskRequest } from "../../core/ask.ts";
import { type Asker, Call } from "../../core/call.ts";
import type { ChatRequest, Turn } from "../../core/chat.ts";
import { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import { NO_USAGE } from "../../core/events.ts";
import type { JsonObject } from "../../core/json.ts";
import type { AnswerWriter } from "../../core/format.ts";
import type { Frame } from "../../core/frame.ts";
import { incompleteStream } from "../../core/incomplete.ts";
import type { Stop } from "../../core/stop.ts";
import { SseParser } from "../../stream/sse.ts";
import { prepareCall } from "../access.ts";
import { assertCurrent } from "../credentials.ts";
import { Deadline } from "../delivery/deadline.ts";
import { settle } from "../delivery/deliver.ts";
import { readableAnswer, type StreamEnding } from "../delivery/stream.ts";
import { streamBody } from "../delivery/stream-body.ts";
import { toClientError } from "../delivery/redact.ts";
import type { Opened, OpenedStream } from "../lanes/lane.ts";
import { enter } from "../life.ts";
import { exchange } from "../pipeline.ts";
import { Entry, type Life } from "../seams.ts";
import type { CallCodec, Gateway, Incoming } from "../types.ts";

/** How deep calls that plugins ask may be nested. */
const MAX_DEPTH = 4;

/** Id of the format of these calls in the log. No provider speaks it, so every answer passes as canonical events. */
const FORMAT = "call.ask";

/** A request of a plugin. */
interface Asked {
  readonly request: AskRequest;
  readonly parent: Call;
  /** Aborts the child call. */
  readonly stop: Stop;
}

/** Asks for plugins. @param gateway of which the asker is a part @param life the seams that each request passes */
export function createAsker(gateway: () => Gateway, life: Life): Asker {
  return {
    ask: (request, parent, stop) => askModel({ request, parent, stop }, gateway(), life),
    stream: (request, parent, stop) => streamModel({ request, parent, stop }, gateway(), life),
  };
}

/** @throws GatewayError if it fails, and Error for a request without content */
async function askModel(asked: Asked, gateway: Gateway, life: Life): Promise<AskAnswer> {
  const { call, opening } = begin(asked, false, gateway, life);
  try {
    const opened = await opening();
    if (opened.kind === "stream") throw new Error("this answer to a plugin is collected");
    const answer = JSON.parse(String(opened.body)) as Omit<AskAnswer, "id" | "provider" | "model">;
    settle(opened, call, gateway);
    const { provider, model } = call.attempt!.target;
    return { id: call.id, provider: provider.name, model, ...answer };
  } catch (thrown) {
    throw failed(thrown, call, gateway);
  }
}

/** The events of an answer as they come. Who leaves the loop early cancels the call. */
async function* streamModel(asked: Asked, gateway: Gateway, life: Life): AsyncGenerator<ChatEvent, void> {
  const { call, opening } = begin(asked, true, gateway, life);
  let opened: Opened;
  try {
    opened = await opening();
    if (opened.kind === "json") throw opened.error ?? new Error("this answer to a plugin is a stream");
  } catch (thrown) {
    throw failed(thrown, call, gateway);
  }
  call.hasHead = true;
  yield* eventsOf(opened, call, gateway);
}

/** Passes the events on as the answer to a client would be, with the same limits on silence and on slow readers. */
async function* eventsOf(
  { source, status }: OpenedStream,
  call: Call,
  { settler, clock, timeouts }: Gateway,
): AsyncGenerator<ChatEvent, void> {
  let failure: GatewayError | undefined;
  const framing = { heartbeat: ":\n\n", errorEndsStream: true };
  const encodeStreamError = (error: GatewayError) => {
    failure = error;
    return [];
  };
  const ending: StreamEnding = {
    complete: () => settler.complete(call, status),
    failed: (error) => settler.failed(call, error, error.status),
    cancelled: () => settler.cancelled(call),
  };
  const codec = { framing, encodeStreamError };
  const body = streamBody(call, framing);
  const bytes = readableAnswer({ source, call, codec, body, clock, timeouts, ending });
  const parser = new SseParser();
  try {
    for await (const piece of bytes)
      for (const { data } of parser.push(piece)) yield JSON.parse(data) as ChatEvent;
  } catch (thrown) {
    throw call.abortReason ?? thrown;
  }
  if (failure) throw failure;
}

/** Begins the call; `opening` looks for the answer. @throws GatewayError if the plugin may not ask */
function begin({ request, parent, stop }: Asked, stream: boolean, gateway: Gateway, life: Life) {
  if (parent.depth >= MAX_DEPTH) throw tooDeep(parent);
  if (stop.reason) throw stop.reason;
  if (parent.outcome) throw hasEnded();
  assertCurrent(parent.principal);
  const wanted = canonical(request, stream);
  const { call, deadline } = beginChild(parent, stop, wanted, gateway);
  const { registry } = gateway;
  const incoming = incomingOf(call, wanted);
  const entering = () => new Entry(incoming, { operation: "ask", registry });
  const opening = () =>
    enter(life, deadline, entering, async (entered: Incoming = incoming) => {
      const preparing = prepareCall(call, registry);
      if (preparing) await preparing;
      return exchange(entered, gateway, deadline);
    });
  return { call, opening };
}

/** Settles a call without an answer. @returns the error for the plugin */
function failed(thrown: unknown, call: Call, gateway: Gateway): GatewayError {
  const error = toClientError(call.abortReason ?? thrown, call);
  settle({ kind: "json", status: error.status, headers: {}, body: "", error }, call, gateway);
  return error;
}

/** A call that ends with its parent, and with what `stop` stands for. */
function beginChild(parent: Call, stop: Stop, { model, stream }: ChatRequest, gateway: Gateway) {
  const call = new Call(`${parent.id}.${++parent.asked}`, FORMAT, new Headers(), parent);
  call.principal = parent.principal;
  call.model = model;
  call.stream = stream;
  call.named = parent.named;
  const deadline = new Deadline(call, gateway.clock, gateway.timeouts);
  const abort = () => call.abort(stop.reason!);
  stop.addEventListener("abort", abort);
  const children = (parent.children ??= new Set());
  children.add(call);
  call.release = () => {
    deadline.stop();
    stop.removeEventListener("abort", abort);
    children.delete(call);
  };
  return { call, deadline };
}

function incomingOf(call: Call, wanted: ChatRequest): Incoming {
  return {
    call,
    format: { id: FORMAT, client: CODEC },
    bytes: NO_BYTES,
    body: wanted as unknown as JsonObject,
    spanOf: () => undefined,
  };
}

const NO_BYTES = new Uint8Array(0);

const CODEC: CallCodec = {
  codec: {
    /** A copy for each attempt, which `request` hooks may edit. The functions of `ownFields` cannot be copied. */
    decodeRequest(body) {
      const { ownFields, ...copied } = body as unknown as ChatRequest;
      return { ...structuredClone(copied), ownFields };
    },
    writeAnswer: (events) => collect(events) as unknown as JsonObject,
    writeStream: () => new EventWriter(),
  },
  beside: {},
  facts: {
    size: {
      maxTokens: ["maxTokens"],
      tools: ["tools"],
      serverToolTypes: [],
      opaque: [],
      media: { data: { as: "data", in: ["source"], type: "base64" }, signature: { as: "sealed" } },
    },
  },
};

/** @throws Error for a request without content */
function canonical(request: AskRequest, stream: boolean): ChatRequest {
  const { system, prompt, messages = [], turns = [], ...members } = request;
  const all: Turn[] = [
    ...(system === undefined ? [] : [textTurn("system", system)]),
    ...turns,
    ...messages.map(({ role, content }) => textTurn(role, content)),
    ...(prompt === undefined ? [] : [textTurn("user", prompt)]),
  ];
  if (typeof request.model !== "string" || request.model === "") throw new Error("call.ask needs a model");
  if (all.length === 0) throw new Error("call.ask needs a prompt, messages or turns");
  return { tools: [], stop: [], style: {}, extra: {}, ...members, turns: all, stream };
}

function textTurn(role: Turn["role"], text: string): Turn {
  return { role, blocks: [{ type: "text", text }] };
}

/** Writes each event as the data of a frame. */
class EventWriter implements AnswerWriter {
  #hasEnded = false;

  push(event: ChatEvent): Frame[] {
    this.#hasEnded = event.type === "message-end";
    return [{ data: JSON.stringify(event) }];
  }

  end(): Frame[] {
    if (!this.#hasEnded) throw incompleteStream();
    return [];
  }
}

/** The parts of an answer from its events. */
function collect(events: readonly ChatEvent[]): Omit<AskAnswer, "id" | "provider" | "model"> {
  const answer = {
    text: "",
    reasoning: "",
    toolCalls: [] as AskAnswer["toolCalls"],
    images: [] as AskAnswer["images"],
    finish: { kind: "stop" } as AskAnswer["finish"],
    usage: NO_USAGE,
  };
  const writers = new Map<number, (delta: string) => void>();
  for (const event of events) {
    if (event.type === "block-start") {
      const { block } = event;
      if (block.type === "tool-call") {
        const toolCall = { id: block.id, name: block.name, input: "" };
        answer.toolCalls.push(toolCall);
        writers.set(event.index, (delta) => void (toolCall.input += delta));
      } else if (block.type === "image") answer.images.push({ mediaType: block.mediaType, data: block.data });
      else if (block.type === "reasoning")
        writers.set(event.index, (delta) => void (answer.reasoning += delta));
      // The arguments of a hosted tool are no text of the answer.
      else if (block.type !== "hosted-tool") writers.set(event.index, (delta) => void (answer.text += delta));
    } else if (event.type === "block-delta") writers.get(event.index)?.(event.delta);
    else if (event.type === "message-end") {
      answer.finish = event.reason;
      answer.usage = event.usage;
    }
  }
  return answer;
}

function tooDeep({ id }: Call): GatewayError {
  return new GatewayError(
    "internal",
    `Plugins asked each other more than ${MAX_DEPTH} calls deep (${id}); one of them must answer by itself.`,
    { code: "ask_too_deep" },
  );
}

function hasEnded(): GatewayError {
  return new GatewayError("cancelled", "The call for which the plugin asks has ended.");
}
