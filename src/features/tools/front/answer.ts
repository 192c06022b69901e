/** Writes the pieces of the process as the answer to a client. */
import type { Outcome, Piece } from "../asks.ts";
import { eventText } from "../wire/events.ts";

/** Silence after which a comment keeps connections open. Milliseconds. */
const COMMENT_MS = 15_000;
const COMMENT = ": \n\n";

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

export interface AnswerOptions {
  /**
   * Called once with how the request ended; undefined: the client or the process has gone.
   * @param bytes size of the answer, in bytes @param cause what ended it without an outcome
   */
  ended(outcome: Outcome | undefined, bytes: number, cause?: unknown): void;
  /** The client has gone before the answer was whole. */
  left(): void;
  /** Whether pieces are read on when the client has gone. */
  readsOn: boolean;
  /** The text of the last event of a stream that fails: its client learns what became of the request. */
  failed?(thrown: unknown): string;
}

/** A JSON answer, or a stream once the process streams or has been silent for a while. */
export async function answerWith(
  pieces: AsyncGenerator<Piece, void>,
  options: AnswerOptions,
): Promise<Response> {
  const first = pieces.next();
  first.catch(() => {});
  const silence = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => silence.resolve(undefined), COMMENT_MS);
  let taken: IteratorResult<Piece, void> | undefined;
  try {
    taken = await Promise.race([first, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
  if (taken && !taken.done && "status" in taken.value && !taken.value.isStream) {
    const { status, headers, body, outcome } = taken.value;
    options.ended(outcome, body === undefined ? 0 : Buffer.byteLength(body));
    void pieces.return();
    return new Response(body ?? null, { status, ...(headers && { headers }) });
  }
  const headers = taken && !taken.done && "status" in taken.value ? taken.value.headers : STREAM_HEADERS;
  const started = taken ? undefined : first;
  return new Response(streamOf(pieces, started, options), {
    status: 200,
    headers: { ...STREAM_HEADERS, ...headers },
  });
}

function streamOf(
  pieces: AsyncGenerator<Piece, void>,
  started: Promise<IteratorResult<Piece, void>> | undefined,
  options: AnswerOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isLeft = false;
  let timer: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string) => {
        if (isLeft) return;
        if (text !== "") controller.enqueue(encoder.encode(text));
        timer?.refresh();
      };
      const close = () => {
        clearInterval(timer);
        if (!isLeft) controller.close();
        isLeft = true;
      };
      timer = setInterval(() => write(COMMENT), COMMENT_MS);
      if (started) write(COMMENT);
      const reading = { started, write, close, isDone: () => isLeft && !options.readsOn };
      void pump(pieces, reading, options).finally(close);
    },
    cancel() {
      isLeft = true;
      clearInterval(timer);
      options.left();
    },
  });
}

interface Reading {
  readonly started: Promise<IteratorResult<Piece, void>> | undefined;
  write(text: string): void;
  close(): void;
  isDone(): boolean;
}

async function pump(
  pieces: AsyncGenerator<Piece, void>,
  { started, write, close, isDone }: Reading,
  options: AnswerOptions,
): Promise<void> {
  let outcome: Outcome | undefined;
  let bytes = 0;
  let cause: unknown;
  try {
    for (let next = await (started ?? pieces.next()); !next.done; next = await pieces.next()) {
      const piece = next.value;
      const text = textIn(piece);
      bytes += Buffer.byteLength(text);
      if ("pause" in piece) close();
      else write(text);
      outcome ??= "outcome" in piece ? piece.outcome : undefined;
      if (isDone()) break;
    }
  } catch (thrown) {
    cause = thrown;
    // The process has gone, or weir has stopped the request.
    if (options.failed) write(options.failed(thrown));
  } finally {
    options.ended(outcome, bytes, cause);
    void pieces.return().catch(() => {});
  }
}

/** What of a piece the client reads in a stream. */
function textIn(piece: Piece): string {
  if ("events" in piece) return piece.events;
  return "status" in piece && piece.body !== undefined ? eventText(piece.body) : "";
}
