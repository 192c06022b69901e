/**
 * Delivers what was opened for a call to its client, and settles the call: at once with a JSON answer, at the end of a
 * stream. No other code settles a call.
 */
import type { Call } from "../../core/call.ts";
import type { ClientCodec, RequestFacts } from "../../core/format.ts";
import type { Opened, OpenedJson, OpenedStream } from "../lanes/lane.ts";
import type { Answer, Gateway } from "../types.ts";
import { constantHeaders, constantWithLimits, withCallHeaders, withLimits } from "./response-headers.ts";
import { answerStream, type StreamedAnswer, type StreamEnding } from "./stream.ts";
import { BINARY_BODY, streamBody } from "./stream-body.ts";

type DeliveryContext = Pick<Gateway, "settler" | "clock" | "timeouts">;

/** Bytes that are no events have no place for an error: a failure breaks them off. */
const BINARY: Pick<StreamedAnswer, "codec" | "body"> = {
  codec: { encodeStreamError: () => [], framing: { heartbeat: "" } },
  body: BINARY_BODY,
};

/** Call this once for each call. */
export function deliver(
  opened: Opened,
  call: Call,
  { codec, facts }: Pick<ClientCodec, "codec" | "facts">,
  context: DeliveryContext,
): Answer {
  const { status, headers } = opened;
  if (opened.kind === "json") {
    const body = settle(opened, call, context);
    call.hasHead = true;
    return { status, ...headOf("json", headers, call, facts), body };
  }
  const way = opened.isBinary ? BINARY : { codec, body: streamBody(call, codec.framing) };
  const body = stream(opened, call, way, context);
  call.hasHead = true;
  const typed =
    !opened.isBinary && (call.asArray || codec.framing.lines)
      ? { ...headers, "content-type": way.body.contentType }
      : headers;
  return { status, ...headOf("stream", typed, call, facts), body };
}

function headOf(
  kind: Opened["kind"],
  own: Answer["headers"],
  call: Call,
  { rateHeaders }: RequestFacts,
): Pick<Answer, "constant" | "headers"> {
  const constant = constantHeaders(kind, call.attempt?.target);
  const headers = withCallHeaders(own, call);
  const figures = call.limits?.figures();
  if (!figures) return { constant, headers };
  return {
    constant: constantWithLimits(constant, figures, rateHeaders),
    headers: withLimits(headers, figures, rateHeaders),
  };
}

/** Settles a call whose whole answer is known. @returns the body */
export function settle(
  { status, body, error }: OpenedJson,
  call: Call,
  { settler }: Pick<Gateway, "settler">,
): OpenedJson["body"] {
  if (error) settler.failed(call, error, status);
  else settler.complete(call, status);
  return body;
}

function stream(
  { status, source }: OpenedStream,
  call: Call,
  { codec, body }: Pick<StreamedAnswer, "codec" | "body">,
  { settler, clock, timeouts }: DeliveryContext,
): ReadableStream<Uint8Array> {
  const ending: StreamEnding = {
    complete: () => settler.complete(call, status),
    failed: (error) => settler.failed(call, error, status),
    cancelled: () => settler.cancelled(call),
  };
  return answerStream({ source, call, codec, body, clock, timeouts, ending });
}
