/** For formats with stored answers: finds what a request refers to, before the first attempt. */
import type { Incoming } from "../types.ts";
import { compactionOf } from "../compaction.ts";
import { CallStorage, type StoreContext } from "./call-storage.ts";

/**
 * Sets `incoming.stored`, and the codec of a request for a summary; at once if the request refers to nothing.
 * @throws GatewayError `invalid-request` if the answer that it continues is unknown or belongs to another key
 */
export function findStored(incoming: Incoming, context: StoreContext): Promise<void> | undefined {
  const { format } = incoming;
  const compaction = compactionOf(incoming);
  if (compaction) {
    incoming.format = {
      ...format,
      client: { ...format.client, codec: { ...format.client.codec, ...compaction } },
    };
    incoming.summarises = true;
  }
  const finding = CallStorage.open(incoming, context);
  if (finding instanceof Promise) return finding.then((stored) => void (incoming.stored = stored));
  incoming.stored = finding;
  return undefined;
}
