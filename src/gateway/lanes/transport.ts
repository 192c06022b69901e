/** The connection pool of this process for all providers. */
import { createTransport, type Transport } from "../../http/index.ts";

export { describeReason, HttpError, nextPiece, reasonOf, takeFrom } from "../../http/index.ts";
export type {
  ByteReader,
  ByteStream,
  Method,
  Phase,
  Piece,
  Reason,
  Receiver,
  Transport,
  UpstreamRequest,
  UpstreamResponse,
} from "../../http/index.ts";

type AlertListener = (sentence: string) => void;

const listeners = new Set<AlertListener>();

/** Registers a listener for alerts of the transport. @returns a function that removes it */
export function onTransportAlert(listener: AlertListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export let transport: Transport = createTransport(process.env, {
  onAlert: (sentence) => listeners.forEach((listener) => listener(sentence)),
});

/** From now on a function of this process answers all requests to providers. @returns a function that ends this */
export function answerRequests(answering: Transport): () => void {
  const before = transport;
  transport = answering;
  return () => void (transport = before);
}

/** From now on this process sends no request to a provider, also not from plugins. @param why a sentence */
export function cutNetwork(why: string): void {
  transport = () => Promise.reject(new Error(why));
  globalThis.fetch = Object.assign(() => Promise.reject(new Error(why)), { preconnect() {} });
}
