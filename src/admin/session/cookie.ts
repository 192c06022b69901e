/** The cookie of the console, and the proof that a request comes from its page. */
import { AdminError } from "../../operator/errors.ts";
import { SESSION_MS } from "./sessions.ts";

/** A page of another origin cannot send this header without the browser asking weir first. */
const HEADER = "x-weir-console";

/** Cookies do not tell ports apart, and several gateways may run on one machine. */
const nameOf = (port: number) => `weir_console_${port}`;

/** @returns the secret of the session, if the request has one */
export function readCookie(headers: Headers, port: number): string | undefined {
  const name = nameOf(port);
  for (const pair of (headers.get("cookie") ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** The value of `set-cookie`. @param secret empty: the browser forgets the cookie */
export function cookieOf(secret: string, port: number): string {
  const age = secret === "" ? 0 : SESSION_MS / 1_000;
  return `${nameOf(port)}=${secret}; Max-Age=${age}; Path=/admin/v1; HttpOnly; SameSite=Strict`;
}

/** @throws AdminError 403 if the request may come from another page; the origin itself is checked for all requests */
export function expectConsole(headers: Headers): void {
  if (headers.get(HEADER) !== "1")
    throw new AdminError(403, "console_header_missing", `The request needs the header ${HEADER}: 1.`);
  if (headers.get("origin") === null)
    throw new AdminError(403, "origin_not_allowed", "The request needs an Origin header.");
}
