/** A new batch of the failed lines of another one. */
import { createKeptId } from "../../core/kept-id.ts";
import { conflict } from "../../operator/errors.ts";
import { type Batch, isEnd } from "./batch.ts";

/** @param now milliseconds since 1970 @throws AdminError 409 for a batch that has not ended, or has no failed lines */
export function retryOf(batch: Batch, now: number): Batch {
  const { id, path, key, person, name, endpoint, window, metadata, inputFile, errorFile } = batch;
  if (!isEnd(batch.state)) throw conflict(`The batch has not ended: ${batch.state}.`);
  if (errorFile === undefined) throw conflict("No line of the batch has failed.");
  // Lines of Google have keys that need not differ, so an error does not say which line it is.
  if (endpoint.startsWith("/v1beta/")) throw conflict("Lines of Google's API have no ids of their own.");
  const kept = batch.expiresAt === undefined ? undefined : batch.expiresAt - batch.deadline;
  return {
    ...{ id: createKeptId(now), path, endpoint, state: "checking", how: "run", window, metadata },
    ...(key !== undefined && { key }),
    ...(person !== undefined && { person }),
    ...(name !== undefined && { name }),
    ...{ inputFile, retries: { batch: id, inputFile, errorFile } },
    ...{ lines: 0, done: 0, failed: 0, cancelled: 0, late: 0, cost: 0, held: 0, faults: [] },
    ...{ createdAt: now, deadline: now + window },
    ...(kept !== undefined && { expiresAt: now + window + kept }),
    usage: { input: 0, cached: 0, output: 0, reasoning: 0 },
  };
}
