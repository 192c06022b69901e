/** The token counts of one provider answer as each lane reads them: the native lane observes bytes, the translated one decodes. */
import { mergeUsage, NO_USAGE, type Usage } from "../../src/core/events.ts";
import type { UpstreamCodec } from "../../src/core/format.ts";
import { isObject, parseJson } from "../../src/core/json.ts";
import { observeAnswer } from "../../src/gateway/lanes/observe-answer.ts";
import { SseParser } from "../../src/stream/sse.ts";
import { Tap } from "../../src/stream/tap.ts";
import { makeContext } from "./codec-context.ts";

/** What the native lane counts. @param pieces as the provider's bytes arrive */
export function nativeUsage(
  codec: UpstreamCodec,
  pieces: readonly Uint8Array[],
  stream: boolean,
): Usage | undefined {
  if (!stream) return observeAnswer(Buffer.concat(pieces), codec.native.watch)?.usage;
  const tap = new Tap(codec.native.watch);
  for (const piece of pieces) tap.push(piece);
  tap.rest();
  return tap.seen.usage;
}

/** What the translated lane counts. @throws what the codec throws for an error or an incomplete answer */
export function translatedUsage(
  codec: UpstreamCodec,
  pieces: readonly Uint8Array[],
  stream: boolean,
  model = "some-model",
): Usage {
  const context = makeContext({ model, provider: "vendor" });
  let usage: Usage = NO_USAGE;
  const take = (events: Iterable<{ type: string; usage?: Partial<Usage> }>) => {
    for (const event of events) if (event.usage) usage = mergeUsage(usage, event.usage);
  };
  if (!stream) {
    const body = parseJson(Buffer.concat(pieces).toString());
    take(codec.codec.readAnswer(isObject(body) ? body : {}, context));
    return usage;
  }
  const reader = codec.codec.readStream(context);
  const parser = new SseParser();
  for (const piece of pieces)
    for (const frame of parser.push(piece)) {
      const events = reader.push(frame);
      take(events);
      if (events.at(-1)?.type === "message-end") return usage;
    }
  take(reader.end());
  return usage;
}
