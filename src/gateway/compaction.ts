/** Recognises requests that replace a conversation by a summary. */
import type { SummaryCodec } from "../core/format.ts";
import { mayHold } from "../stream/spelling.ts";
import type { Incoming } from "./types.ts";

/** The codec for such a request; `undefined` for any other. */
export function compactionOf(incoming: Incoming): SummaryCodec | undefined {
  const { below, bytes, format } = incoming;
  const { compaction } = format.client.beside;
  if (!compaction) return undefined;
  if (below !== undefined) return compaction.route;
  return mayHold(bytes, compaction.mark) && compaction.asks(incoming.body) ? compaction.trigger : undefined;
}

/** Whether only a host that compacts conversations itself can take the request as it is. */
export function needsCompaction(incoming: Incoming): boolean {
  if (incoming.summarises) return true;
  const { compaction } = incoming.format.client.beside;
  if (!compaction || !mayHold(incoming.bytes, compaction.itemMark)) return false;
  return compaction.hasForeignItem(incoming.body);
}
