/**
 * `call.ask`: a plugin asks another model of the gateway. The request is a call of its own, with the retries and timeouts of the
 * gateway and a line in the log. It is booked on the gateway key of the call that asks, and is aborted with it.
 */
import type { AskAnswer, AskRequest } from "../../core/ask.ts";
import { Call } from "../../core/call.ts";
import type { ChatRequest, Turn } from "../../core/chat.ts";
import { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import { NO_USAGE } from "../../core/events.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Stop } from "../../core/stop.ts";
import { prepareModel } from "../access.ts";
import { Deadline } from "../delivery/deadline.ts";
import { settle } from "../delivery/deliver.ts";
import { toClientError } from "../delivery/redact.ts";
import { enter } from "../life.ts";
import { exchange } from "../pipeline.ts";
import { Entry, type Life } from "../seams.ts";
import type { CallCodec, Gateway, Incoming } from "../types.ts";

/** How deep calls that plugins ask may be nested. */
const MAX_DEPTH = 4;

/** Id of the format of these calls in the log. No provider speaks it, so every answer passes as canonical events. */
const FORMAT = "call.ask";

/** @param stop aborts the child call @throws GatewayError if it fails, and Error for a request without content */
export async function askModel(
  request: AskRequest,
  parent: Call,
  stop: Stop,
  gateway: Gateway,
  life: Life,
): Promise<AskAnswer> {
  if (parent.depth >= MAX_DEPTH) throw tooDeep(parent);
  if (stop.reason) throw stop.reason;
  if (parent.outcome) throw hasEnded();
  const wanted = canonical(request);
  const { call, deadline } = beginChild(parent, stop, wanted.model, gateway);
  try {
    const { registry } = gateway;
    const incoming = incomingOf(call, wanted);
    const entering = () => new Entry(incoming, { operation: "ask", registry });
    const opened = await enter(life, deadline, entering, async (entered: Incoming = incoming) => {
      const preparing = prepareModel(call, call.model, registry);
      if (preparing) await preparing;
      return exchange(entered, gateway, deadline);
    });
    if (opened.kind === "stream") throw new Error("an answer to a plugin is always collected");
    const answer = JSON.parse(String(opened.body)) as Omit<AskAnswer, "id" | "provider" | "model">;
    settle(opened, call, gateway);
    const { provider, model } = call.attempt!.target;
    return { id: call.id, provider: provider.name, model, ...answer };
  } catch (thrown) {
    const error = toClientError(call.abortReason ?? thrown, call);
    settle({ kind: "json", status: error.status, headers: {}, body: "", error }, call, gateway);
    throw error;
  }
}

/** A call that ends with its parent, and with what `stop` stands for. */
function beginChild(parent: Call, stop: Stop, model: string, gateway: Gateway) {
  const call = new Call(`${parent.id}.${++parent.asked}`, FORMAT, new Headers(), parent);
  call.key = parent.key;
  call.access = parent.access;
  call.model = model;
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
    writeStream() {
      throw new Error("an answer to a plugin is always collected");
    },
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
function canonical(request: AskRequest): ChatRequest {
  const { system, prompt, messages = [], turns = [], ...members } = request;
  const all: Turn[] = [
    ...(system === undefined ? [] : [textTurn("system", system)]),
    ...turns,
    ...messages.map(({ role, content }) => textTurn(role, content)),
    ...(prompt === undefined ? [] : [textTurn("user", prompt)]),
  ];
  if (typeof request.model !== "string" || request.model === "") throw new Error("call.ask needs a model");
  if (all.length === 0) throw new Error("call.ask needs a prompt, messages or turns");
  return { tools: [], stop: [], style: {}, extra: {}, ...members, turns: all, stream: false };
}

function textTurn(role: Turn["role"], text: string): Turn {
  return { role, blocks: [{ type: "text", text }] };
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
      else writers.set(event.index, (delta) => void (answer.text += delta));
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
