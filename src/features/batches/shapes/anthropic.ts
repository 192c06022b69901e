/** A batch as Anthropic's clients see it. */
import { type Batch, isEnd, phase } from "../batch.ts";
import { batchIdFor } from "./ids.ts";

export interface AnthropicView {
  /** Where clients reach weir, without a slash at the end: `https://weir.example`. */
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Counts but that of running requests stay 0 until the end: clients stop when they add up. */
export function anthropicBatch(batch: Batch, { url, now }: AnthropicView) {
  const id = batchIdFor("anthropic", batch.id);
  const hasEnded = isEnd(batch.state);
  const isArchived = hasEnded && batch.expiresAt !== undefined && batch.expiresAt <= now;
  return {
    id,
    type: "message_batch" as const,
    processing_status: statusOf(batch),
    request_counts: hasEnded ? endCountsOf(batch) : { ...NO_COUNTS, processing: batch.lines },
    created_at: writeTime(batch.createdAt),
    expires_at: writeTime(batch.deadline),
    ended_at: batch.endedAt === undefined ? null : writeTime(batch.endedAt),
    cancel_initiated_at: batch.stoppingAt === undefined ? null : writeTime(batch.stoppingAt),
    archived_at: isArchived ? writeTime(batch.expiresAt!) : null,
    results_url: hasEnded && !isArchived ? `${url}/v1/messages/batches/${id}/results` : null,
  };
}

/** @param batches the newest first @param hasMore whether some follow in the direction of the query */
export function anthropicList(batches: readonly Batch[], hasMore: boolean, view: AnthropicView) {
  const data = batches.map((batch) => anthropicBatch(batch, view));
  return { data, has_more: hasMore, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

export function anthropicDeleted(batch: Batch) {
  return { id: batchIdFor("anthropic", batch.id), type: "message_batch_deleted" as const };
}

const NO_COUNTS = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 };

function statusOf(batch: Batch): "in_progress" | "canceling" | "ended" {
  if (isEnd(batch.state)) return "ended";
  return phase(batch) === "stopping" ? "canceling" : "in_progress";
}

/** All lines of a refused batch that have no other ending have the refusal as theirs. */
function endCountsOf({ state, lines, done, failed, cancelled, late }: Batch) {
  const errored = state === "refused" ? lines - done - cancelled - late : failed;
  return { processing: 0, succeeded: done, errored, canceled: cancelled, expired: late };
}

/** @param at milliseconds since 1970 @returns RFC 3339 */
export function writeTime(at: number): string {
  return new Date(at).toISOString();
}
