/** A worker's claim after a reconnection: its grants of all accounts, or those in the memory of a dead one. */
import { spendsOf } from "../../ledger/packed.ts";
import type { RecordBatch } from "../../ledger/record.ts";
import type { BookAccounts } from "./book-accounts.ts";
import type { Peer } from "./peers.ts";
import type { Recorder } from "../record/recorder.ts";

/**
 * Takes over the claim of a worker, when all its batches up to then are counted.
 * @param isSettled the grants of earlier keepers are accounted for
 * @returns whether it was taken over now
 */
export function settleClaim(
  peer: Peer,
  accounts: BookAccounts,
  recorder: Pick<Recorder, "assume">,
  isSettled: boolean,
): boolean {
  const { claim } = peer;
  if (!claim || peer.counted < claim.seq) return false;
  peer.claim = undefined;
  if (peer.cells === undefined) accounts.doubt(true);
  const { shares } = claim;
  const from = peer.isKnown ? "here" : isSettled ? "too-late" : "earlier";
  // A worker does not mention what it has nothing of. What this keeper has granted of that has not arrived there, and what is
  // spent of it since the start of this keeper had all been granted before.
  for (const { id, shares: known } of accounts.all())
    if (known.has(peer.life) && !shares.has(id)) shares.set(id, 0);
  for (const [id, amount] of shares) {
    const back = accounts.find(id)?.claim(peer.life, amount, from) ?? 0;
    if (back !== 0) recorder.assume(id, -back, `worker ${peer.worker} is back`);
  }
  peer.isKnown = true;
  return true;
}

/** Adds what the records of a dead worker say that was spent. */
export function withSpends(
  batch: Omit<RecordBatch, "spends">,
  accounts: BookAccounts | undefined,
): RecordBatch {
  return {
    ...batch,
    spends: spendsOf(batch.calls, (id) => accounts?.budget(id)?.budget.mode === "hard"),
  };
}
