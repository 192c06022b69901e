/** What a worker says after a reconnection that it has of all accounts. */
import type { BookAccounts } from "./book-accounts.ts";
import type { Peer } from "./peers.ts";

/**
 * Takes over the claim of a worker, when all its batches up to then are counted.
 * @param isSettled the grants of earlier keepers are accounted for
 * @returns whether it was taken over now
 */
export function settleClaim(peer: Peer, accounts: BookAccounts, isSettled: boolean): boolean {
  const { claim } = peer;
  if (!claim || peer.counted < claim.seq) return false;
  peer.claim = undefined;
  const { shares } = claim;
  // What this keeper has granted and the worker does not mention has not arrived there.
  if (peer.isKnown)
    for (const account of accounts.all()) account.claim(peer.life, shares.get(account.id) ?? 0, "here");
  else
    for (const [id, amount] of shares)
      accounts.find(id)?.claim(peer.life, amount, isSettled ? "too-late" : "earlier");
  peer.isKnown = true;
  return true;
}
