/** What a worker says after a reconnection that it has of all accounts. */
import type { BookAccounts } from "./book-accounts.ts";
import type { Peer } from "./peers.ts";

/**
 * Takes over the claim of a worker, when all its batches up to then are counted.
 * @returns whether it was taken over now
 */
export function settleClaim(peer: Peer, accounts: BookAccounts): boolean {
  const { claim } = peer;
  if (!claim || peer.counted < claim.seq) return false;
  peer.claim = undefined;
  const { shares } = claim;
  // What this keeper has granted and the worker does not mention has not arrived there.
  if (peer.isKnown)
    for (const account of accounts.all()) account.claim(peer.life, shares.get(account.id) ?? 0, true);
  else for (const [id, amount] of shares) accounts.find(id)?.claim(peer.life, amount, false);
  peer.isKnown = true;
  return true;
}
