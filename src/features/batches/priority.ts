/** The priority that a client gives a batch among its own. Calls of clients go before all of them. */
import { invalidRequest } from "../../core/error.ts";

const HEADER = "x-weir-priority";

/** @returns from 0, which is also that of a batch without the header, to 9 @throws GatewayError 400 */
export function priorityOf({ headers }: Pick<Request, "headers">): number {
  const text = headers.get(HEADER) ?? "0";
  if (/^[0-9]$/.test(text)) return Number(text);
  throw invalidRequest(`${HEADER}: expected a digit from 0 to 9.`, HEADER, "invalid_value");
}
