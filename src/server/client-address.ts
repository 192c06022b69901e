/** The address of a client, also behind reverse proxies that the config trusts. */
import { type AddressBlock, isInBlocks } from "../ledger/keys/addresses.ts";

/**
 * Each proxy appends the address that it was called from, so the entries are trustworthy from the end up to the first one that
 * is no trusted proxy.
 * @param peer address of the connection; empty on a unix socket
 */
export function clientAddress(peer: string, headers: Headers, proxies: readonly AddressBlock[]): string {
  if (proxies.length === 0 || !isInBlocks(peer, proxies)) return peer;
  const hops = headers.get("x-forwarded-for")?.split(",") ?? [];
  let address = peer;
  while (hops.length > 0 && isInBlocks(address, proxies)) address = hops.pop()!.trim();
  return address;
}
