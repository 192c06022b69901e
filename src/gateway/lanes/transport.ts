/** The one pool of upstream connections of this process. */
import { createTransport } from "../../http/index.ts";

export { describeReason, HttpError, reasonOf } from "../../http/index.ts";
export type {
  ByteReader,
  Phase,
  Reason,
  Transport,
  UpstreamRequest,
  UpstreamResponse,
} from "../../http/index.ts";

type AlertListener = (sentence: string) => void;

const listeners = new Set<AlertListener>();

/** Calls the listener for each alert of the transport. @returns a function that stops it */
export function onTransportAlert(listener: AlertListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const transport = createTransport(process.env, {
  onAlert: (sentence) => listeners.forEach((listener) => listener(sentence)),
});
