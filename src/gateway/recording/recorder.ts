/** Records calls while they pass. */
import type { ChatRequest } from "../../core/chat.ts";
import { withoutCredentials } from "../../core/client-headers.ts";
import { GatewayError } from "../../core/error.ts";
import { usageState } from "../../core/events.ts";
import type { Frame } from "../../core/frame.ts";
import { recordedName } from "../../core/printable.ts";
import { toClientError } from "../delivery/redact.ts";
import { type ByteSource, Passed } from "../delivery/stream.ts";
import type { Opened } from "../lanes/lane.ts";
import type { CallTape, TapedCall } from "../tape.ts";
import { type AskedRequest, recordError, type RecordedError, type TapeEntry } from "./entry.ts";
import type { Mask } from "./meaning.ts";
import { readRequest } from "./request.ts";
import { withoutSplitSecrets } from "./split-secrets.ts";

export interface RecorderOptions {
  /** Takes a call that has ended. @throws Error if the entry cannot be kept */
  write(entry: TapeEntry, taped: TapedCall): void;
  mask: Mask;
  /** How much of an answer is recorded, to whole events; absent: all of it. Bytes. */
  most?: number;
  /** Calls whose client left are recorded too. */
  keepsCancelled?: boolean;
  /** The request is recorded as the client sent it, too. */
  keepsRequest?: boolean;
  /** The number of the next call; absent: calls alone are numbered. */
  number?(): number;
  /** Reports a call that is not on the tape, as a sentence. */
  onLost(sentence: string): void;
}

export class Recorder implements CallTape {
  readonly #options: RecorderOptions;
  #calls = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  async take(taped: TapedCall, open: () => Promise<Opened>): Promise<Opened> {
    if (taped.operation === "stored") return open();
    const number = this.#options.number?.() ?? ++this.#calls;
    const recording = new Recording(taped, number, this.#options);
    let opened: Opened;
    try {
      opened = await open();
    } catch (thrown) {
      recording.refused(thrown);
      throw thrown;
    }
    recording.head(opened);
    if (opened.kind === "stream") return { ...opened, source: new RecordedSource(opened.source, recording) };
    const { body, error } = opened;
    recording.whole(typeof body === "string" ? body : new TextDecoder().decode(body));
    recording.end(error, true);
    return opened;
  }
}

/** One call on its way to the tape. */
class Recording {
  readonly taped: TapedCall;
  readonly #options: RecorderOptions;
  readonly #entry: TapeEntry;
  readonly #request: ChatRequest | undefined;
  readonly #decoder = new TextDecoder();
  /** The beginning of an event of a stream whose end has not come. */
  #rest = "";
  /** Characters of the answer so far. */
  #length = 0;
  #isEnded = false;

  constructor(taped: TapedCall, number: number, options: RecorderOptions) {
    const { call, operation } = taped;
    this.taped = taped;
    this.#options = options;
    const { meaning, request } = readRequest(taped, options.mask);
    this.#request = request;
    const { format, stream } = call;
    const none = { status: 0, headers: {}, answer: [] };
    const asked = options.keepsRequest && this.#asked();
    this.#entry = {
      call: number,
      operation,
      format,
      stream,
      request: meaning,
      ...(asked && { asked }),
      ...none,
    };
  }

  #asked(): AskedRequest {
    const { call, body } = this.taped;
    const headers: Record<string, string> = {};
    withoutCredentials(call.headers).forEach((value, name) => (headers[name] = value));
    const asked = { body, headers, ...(call.route && { path: call.route.path }) };
    return this.#masked(asked);
  }

  head({ kind, status, headers }: Opened): void {
    this.#entry.status = status;
    if (kind === "stream") this.#entry.ms = [];
    for (const [name, value] of Object.entries(headers))
      this.#entry.headers[name] = this.#options.mask(value);
    const target = this.taped.call.attempt?.target;
    if (target) this.#entry.from = { provider: target.provider.name, model: recordedName(target.model) };
  }

  /** weir answers with an error in the client's format. */
  refused(thrown: unknown): void {
    const { call, client } = this.taped;
    const error = toClientError(call.abortReason ?? thrown, call);
    const { status, headers, body } = client.codec.encodeError(error, call.id);
    Object.assign(this.#entry, { status, headers: { ...headers, ...error.headers } });
    this.whole(JSON.stringify(body));
    this.end(error, true);
  }

  /** A piece of a stream. Heartbeats depend on the time alone. */
  bytes(bytes: Uint8Array): void {
    if (this.#length > (this.#options.most ?? Infinity)) return;
    const text = this.#decoder.decode(bytes, { stream: true });
    if (text === "" || text === this.taped.client.codec.framing.heartbeat) return;
    this.#rest += text;
    const end = endOfFrames(this.#rest);
    if (end > 0) this.#frames(end);
  }

  /** Whole events are masked: a network read may end within a credential. */
  #frames(end: number): void {
    this.#entry.ms?.push(this.#now());
    this.#entry.answer.push(this.#options.mask(this.#rest.slice(0, end)));
    this.#length += end;
    this.#rest = this.#rest.slice(end);
  }

  whole(text: string): void {
    this.#entry.took = this.#now();
    this.#entry.answer.push(this.#options.mask(text));
  }

  #masked<Value extends object>(value: Value): Value {
    return JSON.parse(this.#options.mask(JSON.stringify(value))) as Value;
  }

  #now(): number {
    return Math.round(performance.now() - this.taped.call.startedAt);
  }

  /** weir stops reading the answer: its client has left, or a deadline has expired. */
  stopped(reason: unknown): void {
    this.end(GatewayError.from(this.taped.call.abortReason ?? reason));
  }

  #maskStream(): void {
    const masked = withoutSplitSecrets(this.#entry, this.taped, this.#options.mask, this.#request);
    Object.assign(this.#entry, { answer: masked.answer, ms: masked.ms });
  }

  /** weir ends a stream with these events. */
  failed(error: GatewayError, events: readonly Frame[], before: string): void {
    this.end(error, false, { events, ...(before !== "" && { before }) });
  }

  /**
   * @param passed whether the pieces contain the error
   * @param ending what weir wrote at the end of a stream that failed
   */
  end(error?: GatewayError, passed = false, ending: Pick<RecordedError, "events" | "before"> = {}): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { call } = this.taped;
    if (error?.kind === "cancelled" && !this.#options.keepsCancelled)
      return this.#options.onLost(`${call.id} is not on the tape: the client left before the answer ended`);
    const { usage } = call.attempt ?? {};
    if (usage && usageState(usage) !== "absent") this.#entry.usage = usage;
    try {
      if (error)
        this.#entry.error = this.#masked({ ...recordError(toClientError(error, call), passed), ...ending });
      if (this.#rest !== "") this.#frames(this.#rest.length);
      if (this.#entry.ms) this.#maskStream();
      this.#options.write(this.#entry, this.taped);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#options.onLost(`${call.id} is not on the tape: ${reason}`);
    }
  }
}

const BLANK_LINES = ["\n\n", "\r\n\r\n", "\r\r"];

/** Where the last whole server-sent event of a text ends; 0 if there is none. */
function endOfFrames(text: string): number {
  const ends = BLANK_LINES.map((blank) => {
    const at = text.lastIndexOf(blank);
    return at < 0 ? 0 : at + blank.length;
  });
  return Math.max(...ends);
}

/** Passes a stream on as it is. */
class RecordedSource extends Passed {
  readonly #recording: Recording;

  constructor(inner: ByteSource, recording: Recording) {
    super(inner);
    this.#recording = recording;
  }

  override writeError(error: GatewayError): readonly Frame[] | undefined {
    const { call, client } = this.#recording.taped;
    const events =
      super.writeError(error) ??
      client.codec.encodeStreamError(error, call.id, this.isWaiting, this.broken());
    this.#recording.failed(error, events, this.beforeError());
    return events;
  }

  override stop(reason: unknown): void {
    super.stop(reason);
    this.#recording.stopped(reason);
  }

  override piece(bytes: Uint8Array): void {
    this.#recording.bytes(bytes);
    super.piece(bytes);
  }

  override end(): void {
    this.#recording.end(this.error, true);
    super.end();
  }

  override fail(thrown: unknown): void {
    super.fail(thrown);
    this.#recording.end(GatewayError.from(thrown));
  }
}
