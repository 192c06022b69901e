/** Finds what must be masked in a stream although no single piece contains all of it. */
import type { ChatRequest } from "../../core/chat.ts";
import type { ChatEvent } from "../../core/events.ts";
import { SseParser, writeFrame } from "../../stream/sse.ts";
import type { TapedCall } from "../tape.ts";
import { contextFor, eventsOf } from "./events.ts";
import type { TapeEntry } from "./entry.ts";
import type { Mask } from "./meaning.ts";
import { contextOf } from "./request.ts";

/**
 * A recorded stream without secrets that its pieces share. A block with such a secret becomes one piece, and the stream is
 * written anew; other streams stay as they are.
 */
export function withoutSplitSecrets(
  entry: TapeEntry,
  taped: TapedCall,
  mask: Mask,
  request?: ChatRequest,
): Pick<TapeEntry, "answer" | "ms"> {
  const timed = eventsOf(entry, taped, request).events;
  const masked = maskBlocks(
    timed.map(({ event }) => event),
    mask,
  );
  if (!masked) return entry;
  const writer = taped.client.codec.writeStream(contextFor(entry, taped, request));
  const answer: string[] = [];
  const ms: number[] = [];
  const add = (event: ChatEvent | undefined, at: number) => {
    const frames = event ? writer.push(event) : writer.end();
    if (frames.length === 0) return;
    answer.push(frames.map(writeFrame).join(""));
    ms.push(at);
  };
  for (const [index, event] of masked.entries()) if (event) add(event, timed[index]!.ms);
  if (!entry.error) add(undefined, timed.at(-1)?.ms ?? 0);
  return { answer, ms };
}

/**
 * Whether pieces of a provider's stream share a secret, or may do so: then no text of them can be kept.
 * @param text server-sent events, of which only the beginning may be there @param format id of the provider's format
 */
export function mayShareSecrets(text: string, format: string, taped: TapedCall, mask: Mask): boolean {
  const { upstream, client } = taped.formats.get(format) ?? {};
  const codec = upstream?.codec ?? client?.codec.reader;
  if (!codec) return true;
  const reader = codec.readStream(contextOf(taped));
  const frames = new SseParser().push(Buffer.from(text));
  const events: ChatEvent[] = [];
  for (const [at, frame] of frames.entries())
    try {
      if (events.at(-1)?.type !== "message-end") events.push(...reader.push(frame));
    } catch {
      // The event of an error is the last one.
      if (at < frames.length - 1) return true;
    }
  return maskBlocks(events, mask) !== undefined;
}

/** The events with masked texts, undefined in place of deltas that are left out. @returns undefined if nothing is to be masked */
function maskBlocks(events: readonly ChatEvent[], mask: Mask): (ChatEvent | undefined)[] | undefined {
  const texts = new Map<number, string>();
  for (const event of events)
    if (event.type === "block-delta") texts.set(event.index, (texts.get(event.index) ?? "") + event.delta);
  const secret = new Map([...texts].filter(([, text]) => mask(text) !== text));
  if (secret.size === 0) return undefined;
  const begun = new Set<number>();
  return events.map((event) => {
    const text = event.type === "block-delta" ? secret.get(event.index) : undefined;
    if (event.type !== "block-delta" || text === undefined) return event;
    if (begun.has(event.index)) return undefined;
    begun.add(event.index);
    return { ...event, delta: mask(text) };
  });
}
