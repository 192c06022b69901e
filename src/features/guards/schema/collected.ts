/** An answer that is read to its end before anybody gets any of it. */
import type { ChatEvent } from "../../../core/events.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { ReaderCodec } from "../../../core/format.ts";
import { GatewayError } from "../../../core/error.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import type { ByteSource } from "../../../gateway/delivery/stream.ts";
import type { Opened } from "../../../gateway/lanes/lane.ts";
import { SseParser } from "../../../stream/sse.ts";

/** Longest answer. Bytes. */
const MOST = 33_554_432;

/** @throws what ends the stream too early */
export function collected(source: ByteSource): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    let asks = true;
    let isAsking = false;
    const receiver = {
      piece(bytes: Uint8Array) {
        pieces.push(Uint8Array.from(bytes));
        size += bytes.length;
        if (size > MOST) {
          const error = new GatewayError("upstream", "The answer is too long to be judged as a whole.", {
            code: "answer_too_long",
          });
          source.stop(error);
          return reject(error);
        }
        asks = true;
        ask();
      },
      end: () => resolve(Buffer.concat(pieces)),
      fail: reject,
    };
    // In a loop, because a source may answer at once.
    const ask = () => {
      if (isAsking) return;
      isAsking = true;
      while (asks) {
        asks = false;
        source.take(receiver);
      }
      isAsking = false;
    };
    ask();
  });
}

type Reader = Pick<ReaderCodec, "readStream" | "readAnswer">;

/** The events of a whole answer. @throws Error for one that the format does not have */
export function eventsOf(
  kind: Opened["kind"],
  bytes: Uint8Array,
  reader: Reader,
  context: CodecContext,
): ChatEvent[] {
  if (kind === "json") {
    const body = parseJson(Buffer.from(bytes).toString());
    if (!isObject(body)) throw new Error("the answer is no object");
    return reader.readAnswer(body, context);
  }
  const stream = reader.readStream(context);
  const events: ChatEvent[] = [];
  for (const frame of new SseParser().push(bytes)) {
    events.push(...stream.push(frame));
    if (events.at(-1)?.type === "message-end") return events;
  }
  events.push(...stream.end());
  return events;
}
