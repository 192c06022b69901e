/** Answers calls from a tape alone. */
import { GatewayError } from "../core/error.ts";
import type { Stop } from "../core/stop.ts";
import { STREAM_HEADERS } from "../gateway/delivery/response-headers.ts";
import type { Opened } from "../gateway/lanes/lane.ts";
import { type CallTape, notOnTape, type TapedCall } from "../gateway/tape.ts";
import { convertedJson, convertedStream } from "./converted.ts";
import { errorOf, type TapeEntry } from "../gateway/recording/entry.ts";
import type { Tape, Wanted } from "./match.ts";
import type { Mask } from "../gateway/recording/meaning.ts";
import { describeMiss } from "./miss.ts";
import { PlayedSource } from "./played-source.ts";
import { type ReadRequest, readRequest } from "../gateway/recording/request.ts";

export interface PlayerOptions {
  tape: Tape;
  /** The tape's name, for messages. */
  name: string;
  mask: Mask;
  /** Answers take as long as they took when they were recorded. */
  keepsTime: boolean;
  /** Reports a request that is not on the tape. */
  onMiss(text: string): void;
}

export class Player implements CallTape {
  readonly #options: PlayerOptions;

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  async take(taped: TapedCall): Promise<Opened> {
    if (taped.operation === "stored") throw notOnTape();
    const asked = this.read(taped);
    const entry = this.#options.tape.find(asked.wanted);
    if (!entry) throw this.miss(asked.wanted);
    return this.answer(entry, taped, asked.read);
  }

  read(taped: TapedCall): { read: ReadRequest; wanted: Wanted } {
    const { call, operation } = taped;
    const read = readRequest(taped, this.#options.mask);
    return { read, wanted: { operation, format: call.format, stream: call.stream, meaning: read.meaning } };
  }

  async answer(entry: TapeEntry, taped: TapedCall, read: ReadRequest): Promise<Opened> {
    const { call } = taped;
    call.extraHeaders = { ...call.extraHeaders, "x-weir-tape": String(entry.call) };
    const opened = this.#open(entry, taped, read);
    if (opened.kind === "json" && this.#options.keepsTime)
      await waitUntil(call.startedAt + (entry.took ?? entry.ms?.at(-1) ?? 0), call.stop);
    return opened;
  }

  #open(entry: TapeEntry, taped: TapedCall, { request }: ReadRequest): Opened {
    const { call } = taped;
    const isSame = entry.format === call.format;
    const startedAt = this.#options.keepsTime ? call.startedAt : undefined;
    const { status, headers } = entry;
    if (isSame && !entry.ms && (entry.error || !call.stream)) {
      const error = entry.error && errorOf(entry.error);
      return { kind: "json", status, headers, body: entry.answer.join(""), ...(error && { error }) };
    }
    if (isSame && entry.ms && call.stream) {
      const pieces = entry.answer.map((text, index) => ({ text, ms: entry.ms![index] ?? 0 }));
      const error = entry.error && errorOf(entry.error);
      const { passed, events, before } = entry.error ?? {};
      const ending = passed ? { passed: error } : { failure: error, events, before };
      return { kind: "stream", status, headers, source: new PlayedSource(pieces, ending, startedAt) };
    }
    if (!call.stream) {
      const body = convertedJson(entry, taped, request);
      return { kind: "json", status: 200, headers: { "content-type": "application/json" }, body };
    }
    const { pieces, failure } = convertedStream(entry, taped, request);
    const source = new PlayedSource(pieces, { failure }, startedAt);
    return { kind: "stream", status: 200, headers: { ...STREAM_HEADERS }, source };
  }

  /** The error for a request that the tape has not. */
  miss(wanted: Wanted): GatewayError {
    const text = describeMiss(this.#options.tape, this.#options.name, wanted);
    this.#options.onMiss(text);
    return new GatewayError("invalid-request", text, { code: "not_on_tape", shouldRetry: false });
  }
}

/** @param time monotonic milliseconds @throws GatewayError when the call ends before */
async function waitUntil(time: number, stop: Stop): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, time - performance.now());
  stop.addEventListener("abort", resolve);
  await promise;
  clearTimeout(timer);
  stop.removeEventListener("abort", resolve);
  if (stop.reason) throw stop.reason;
}
