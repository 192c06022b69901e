/** A stand-in for Bedrock: checks the signature or the API key of each request, and answers Claude's messages over InvokeModel. */
import type { JsonObject } from "../../src/core/json.ts";
import type { Answer, Pieces } from "./answers.ts";
import { json } from "./answers.ts";
import { awsMessage } from "./aws-event-stream.ts";
import type { Upstream, UpstreamRequest } from "./upstream.ts";
import { startUpstream } from "./upstream.ts";
import { signatureFault } from "./verify-sig-v4.ts";

/** A request to the stand-in, after its signature was checked. */
export interface BedrockAsk {
  /** As the path names it, decoded. */
  model: string;
  /** The last part of the path. */
  operation: string;
  body: JsonObject;
  request: UpstreamRequest;
}

export type BedrockHandler = (ask: BedrockAsk) => Answer | Promise<Answer>;

export interface BedrockOptions {
  /** Secret keys by the id of their access key. */
  secrets?: Readonly<Record<string, string>>;
  /** API key that is accepted instead of a signature. */
  apiKey?: string;
  /** The clock of the host. Default: this machine's. Milliseconds since 1970. */
  now?(): number;
}

export interface Bedrock extends Upstream {
  /** What it answers to requests whose authorization is right. */
  handle(handler: BedrockHandler): void;
  /** Why it refused requests. */
  faults: string[];
}

/** Starts it on a free port. Requests without a right signature get 403, as from AWS. */
export function startBedrock(options: BedrockOptions = {}): Bedrock {
  const { secrets = {}, apiKey, now = Date.now } = options;
  let handler: BedrockHandler = () => json(CLAUDE_MESSAGE);
  const faults: string[] = [];
  const upstream = startUpstream((request) => {
    const bearer = request.headers.get("authorization") === `Bearer ${apiKey}`;
    const fault = bearer ? undefined : signatureFault(request, secrets, now());
    if (fault !== undefined) {
      faults.push(fault);
      const date = new Date(now()).toUTCString();
      return awsError(403, "InvalidSignatureException", fault, { date });
    }
    const [, , model = "", operation = ""] = request.path.split("/");
    const body = JSON.parse(request.body.toString()) as JsonObject;
    return handler({ model: decodeURIComponent(model), operation, body, request });
  });
  return Object.assign(upstream, { faults, handle: (next: BedrockHandler) => void (handler = next) });
}

/** A refusal in the form of AWS. */
export function awsError(
  status: number,
  name: string,
  message: string,
  headers: Record<string, string> = {},
): Answer {
  return json({ message }, status, {
    "x-amzn-errortype": `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
    "x-amzn-requestid": "aws-request-1",
    ...headers,
  });
}

/** An answer of Claude. */
export const CLAUDE_MESSAGE = {
  ...{ id: "msg_bdrk_1", type: "message", role: "assistant", model: "claude-x", stop_reason: "end_turn" },
  stop_sequence: null,
  content: [{ type: "text", text: "Grüße 😀" }],
  usage: { input_tokens: 5, output_tokens: 2 },
};

/** The same as the events of a stream. */
export const CLAUDE_EVENTS: readonly object[] = [
  {
    type: "message_start",
    message: {
      ...CLAUDE_MESSAGE,
      content: [],
      stop_reason: null,
      usage: { input_tokens: 5, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "ping" },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße 😀" } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 2 },
  },
  { type: "message_stop" },
];

/** One event as InvokeModel frames it. */
export function invokeFrame(event: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString("base64");
  return awsMessage(
    { ":event-type": "chunk", ":content-type": "application/json", ":message-type": "event" },
    JSON.stringify({ bytes, p: "abcdefgh" }),
  );
}

/** An exception inside a stream. */
export function exceptionFrame(name: string, message: string): Buffer {
  return awsMessage(
    { ":message-type": "exception", ":exception-type": name, ":content-type": "application/json" },
    JSON.stringify({ message }),
  );
}

/** A stream of frames. */
export function eventStreamOf(frames: Pieces, ending: "whole" | "fin" = "whole"): Answer {
  const headers = { "content-type": "application/vnd.amazon.eventstream" };
  return { headers, body: frames, framing: "chunked", ending };
}

/** Answers as Claude would: JSON, or a stream. */
export const asClaude: BedrockHandler = ({ operation }) =>
  operation === "invoke" ? json(CLAUDE_MESSAGE) : eventStreamOf(CLAUDE_EVENTS.map(invokeFrame));

/** Passes requests on to a messages host and its answers back, in Bedrock's frames. @param url of the host, without `/v1/messages` */
export function inFrontOf(url: string): BedrockHandler {
  return async ({ model, operation, body }) => {
    const { anthropic_version: _version, anthropic_beta: betas, ...rest } = body;
    const isStream = operation === "invoke-with-response-stream";
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", "anthropic-version": "2023-06-01" },
        ...(Array.isArray(betas) && { "anthropic-beta": betas.join(",") }),
      },
      body: JSON.stringify({ model, ...rest, ...(isStream && { stream: true }) }),
    });
    if (!isStream || !response.ok || !response.body) return json(await response.json(), response.status);
    return eventStreamOf(framesOf(response.body));
  };
}

/** The frames for the events of a stream of server-sent events, as they arrive. */
async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const records = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n\r?\n/);
    rest = records.pop() ?? "";
    for (const record of records) {
      const data = /^data: ?(.*)$/m.exec(record)?.[1];
      if (data !== undefined) yield invokeFrame(JSON.parse(data) as object);
    }
  }
}
