/** The error of a host that does not take a session. */
import type { GatewayError } from "../../core/error.ts";
import type { HeaderReader } from "../../core/headers.ts";
import { decodeError } from "../../formats/shared/upstream-error.ts";

/** @param status of the answer to the upgrade @param body at most 64 KB of text */
export function refusalOf(status: number, headers: HeaderReader, body: string): GatewayError {
  return decodeError(status, headers, body);
}
