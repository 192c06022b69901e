/** How callers' programs read answers. */
import type { Call } from "../core/call.ts";
import type { GatewayError } from "../core/error.ts";

/** Answers as some callers' programs read them. Called before an answer begins; what the books and the log have stays as it is. */
export interface Told {
  /** @returns the same error where nothing is to be said otherwise */
  error(call: Call, error: GatewayError): GatewayError;
  /** @param headers those of the answer, without the ones that answers share @returns the same headers for other callers */
  headers(call: Call, headers: HeaderRecord): HeaderRecord;
}

type HeaderRecord = Readonly<Record<string, string>>;
