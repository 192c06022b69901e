/** Which browser pages may reach the endpoints: a page of another site must not (DNS rebinding). */
import { isLoopback } from "../../../core/host-names.ts";

/** @param allowed origins of the section `cors` @returns whether the request may go on */
export function isOriginAllowed(request: Request, allowed: readonly string[]): boolean {
  const origin = request.headers.get("origin");
  if (origin === null) return true;
  if (allowed.includes("*") || allowed.includes(origin.toLowerCase())) return true;
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  // A browser writes an origin in one form, without a user or a path.
  return /^https?:$/.test(url.protocol) && url.origin === origin.toLowerCase() && isLoopback(url.hostname);
}
