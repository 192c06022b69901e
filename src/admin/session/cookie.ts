/** The cookie of the console, and the proof that a request comes from its page. */
import type { OwnHosts } from "../guard.ts";
import { AdminError } from "../../operator/errors.ts";

/** A page of another origin cannot send this header without the browser asking weir first. */
const HEADER = "x-weir-console";

/** How long a browser is signed in. Milliseconds. */
export const SESSION_MS = 12 * 3_600_000;

const NAME = "weir_console_";
/** Cookies of one request that are looked at: one browser may know several gateways and nodes of one host name. */
const MOST = 16;

export interface Cookie {
  readonly name: string;
  readonly secret: string;
}

/**
 * Cookies do not tell ports apart, and a browser may reach several gateways by one host name: the name has the port at which the
 * browser reaches this one, which a tunnel may have changed.
 * @param port of the listener, where the request does not say another
 */
export function cookieName(headers: Headers, port: number): string {
  const [, written] = /:(\d+)$/.exec(headers.get("host") ?? "") ?? [];
  return NAME + (written ?? port);
}

/** The cookies of consoles that a request has: its own first, then those that other nodes or ports may have given. */
export function readCookies(headers: Headers, port: number): readonly Cookie[] {
  const own = cookieName(headers, port);
  const found = (headers.get("cookie") ?? "").split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    return name.startsWith(NAME) ? [{ name, secret: pair.slice(at + 1).trim() }] : [];
  });
  return found.sort((a, b) => Number(b.name === own) - Number(a.name === own)).slice(0, MOST);
}

/** The value of `set-cookie`. @param secret empty: the browser forgets the cookie @param base see {@link OwnHosts} */
export function cookieOf(name: string, secret: string, base = ""): string {
  const age = secret === "" ? 0 : SESSION_MS / 1_000;
  return `${name}=${secret}; Max-Age=${age}; Path=${base}/admin/v1; HttpOnly; SameSite=Strict`;
}

/** @throws AdminError 403 if the request may come from another page; the origin itself is checked for all requests */
export function expectConsole(headers: Headers): void {
  if (headers.get(HEADER) !== "1")
    throw new AdminError(403, "console_header_missing", `The request needs the header ${HEADER}: 1.`);
  if (headers.get("origin") === null)
    throw new AdminError(403, "origin_not_allowed", "The request needs an Origin header.");
}
