/** For formats with stored answers: finds what a request refers to, before the first attempt. */
import type { Incoming } from "../types.ts";
import { compactionOf } from "../compaction.ts";
import { CallStorage, type StoreContext } from "./call-storage.ts";

/**
 * Sets `incoming.stored`, and the codec of a request for a summary.
 * @throws GatewayError `invalid-request` if the answer that it continues is unknown or belongs to another key
 */
export async function findStored(incoming: Incoming, context: StoreContext): Promise<void> {
  const { format } = incoming;
  const compaction = compactionOf(incoming);
  if (compaction) incoming.format = { ...format, client: { ...format.client, ...compaction } };
  const finding = CallStorage.open(incoming, context);
  incoming.stored = finding instanceof Promise ? await finding : finding;
}
