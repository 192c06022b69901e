/** A recorded call: what its client asked and got. */
import type { ErrorFacts, ErrorKind } from "../../core/error.ts";
import { GatewayError } from "../../core/error.ts";
import type { Usage } from "../../core/events.ts";
import type { Frame } from "../../core/frame.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Meaning } from "./meaning.ts";

/** One recorded call. */
export interface TapeEntry {
  /** Number of the call in the order in which the calls came, from 1. */
  call: number;
  /** `generate`, `count`, `embeddings`. */
  operation: string;
  /** Id of the client's format, or of its dialect for embeddings. */
  format: string;
  /** The client asked for a stream. */
  stream: boolean;
  request: Meaning;
  /** The request as the client sent it, masked; absent on tapes of earlier versions. */
  asked?: AskedRequest;
  status: number;
  headers: Record<string, string>;
  /** The body; that of a stream in the pieces in which it came, each of whole server-sent events. */
  answer: string[];
  /** When each piece of a stream came, from the beginning of the call. Milliseconds. */
  ms?: number[];
  /** When an answer that is no stream came, from the beginning of the call. Milliseconds. */
  took?: number;
  /** The provider that answered and its model name. */
  from?: { provider: string; model: string };
  /** Token counts of the provider, which a stream may lack because its client did not ask for them. */
  usage?: Usage;
  /** How the answer failed. */
  error?: RecordedError;
  /** Of a message to a server of tools: `operation` is {@link TOOL}, and a piece of `answer` is an event or the body. */
  tool?: ToolFacts;
  /** Number of the entry of another tape that answered. */
  taped?: number;
  /** What the call cost, in nano-dollars; absent: it is not known. */
  cost?: number;
}

/** A request of a client, without credentials. */
export interface AskedRequest {
  body: JsonObject;
  headers: Record<string, string>;
  /** The path of its route, which tells requests of kinds apart. */
  path?: string;
}

/** The operation of messages to servers of tools. */
export const TOOL = "tool";

/** What of a message to a server of tools differs with each run, and what its meaning does not say in one word. */
export interface ToolFacts {
  method: string;
  /** The tool, prompt or resource. */
  name?: string;
  /** Absent: it wants no answer. */
  id?: string | number;
  /** With which the server reports progress. */
  progress?: string | number;
}

/** A failure of the gateway or the provider, in terms that every format can express. */
export interface RecordedError extends Pick<ErrorFacts, "code" | "param" | "status" | "retryAfter"> {
  kind: ErrorKind;
  message: string;
  shouldRetry?: boolean;
  /** The pieces contain the error already: the provider wrote it. */
  passed?: true;
  /** The events that weir ended a stream with. */
  events?: readonly Frame[];
  /** Text before these events, if the last piece ended inside an event. */
  before?: string;
}

/** @param passed whether the recorded body contains the error */
export function recordError(error: GatewayError, passed: boolean): RecordedError {
  const { kind, message, code, param, status, retryAfter, shouldRetry } = error;
  return {
    ...{ kind, message, status },
    ...(code !== undefined && { code }),
    ...(param !== undefined && { param }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(shouldRetry !== undefined && { shouldRetry }),
    ...(passed && { passed }),
  };
}

export function errorOf({
  kind,
  message,
  passed: _,
  events: __,
  before: ___,
  ...facts
}: RecordedError): GatewayError {
  return new GatewayError(kind, message, facts);
}
