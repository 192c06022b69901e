/** Asks an issuer: one request, without redirects, with limits on time and size. */
import { addressFault } from "./section.ts";
import { MAX_BYTES } from "./tokens/key-set.ts";

/** Longest time of a request. Milliseconds. */
const TIMEOUT_MS = 4_000;

export interface FetchedDocument {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** @param init `method`, `headers`, `body`, and a `signal` in place of the usual time @throws Error with a clause that names neither query nor credentials */
export type FetchDocument = (url: string, init?: RequestInit) => Promise<FetchedDocument>;

export const fetchDocument: FetchDocument = async (url, init = {}) => {
  const fault = addressFault(url);
  if (fault !== undefined) throw new Error(`the address ${placeOf(url)} ${fault}`);
  const signal = init.signal ?? AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  try {
    response = await fetch(url, { ...init, redirect: "manual", signal });
    return { status: response.status, headers: response.headers, text: await textOf(response) };
  } catch (cause) {
    if (cause instanceof TooLarge) throw new Error(`${placeOf(url)} answers more than ${MAX_BYTES} bytes`);
    const { name, code } = cause as { name?: string; code?: unknown };
    if (name === "TimeoutError") throw new Error(`${placeOf(url)} does not answer in time`);
    throw new Error(`${placeOf(url)} cannot be reached${typeof code === "string" ? ` (${code})` : ""}`);
  }
};

/** Origin and path of an address: its query may contain a code. */
export function placeOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? parsed.origin + parsed.pathname : "of the issuer";
}

class TooLarge extends Error {}

async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    // Leaving the loop cancels the rest.
    if (bytes > MAX_BYTES) throw new TooLarge();
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}
