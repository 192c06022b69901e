/** Refuses requests that a foreign web page made: through DNS rebinding, from another origin, or with a form. */
import { AdminError } from "./errors.ts";

/** Names and addresses of the listener. */
export interface OwnHosts {
  /** The address that weir listens on. */
  host: string;
  port: number;
  /** Further names, lower-case and without port. */
  names: readonly string[];
}

const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const ADDRESS = /^(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host) || host === "::1";
}

/** @throws AdminError 403 for a foreign `Host` */
export function guardHost(request: Request, own: OwnHosts): string {
  const host = request.headers.get("host")?.toLowerCase() ?? "";
  if (!isOwn(host, own))
    throw new AdminError(403, "host_not_allowed", "The Host header is not the address of this listener.");
  return host;
}

/** @throws AdminError 403 for a foreign `Host` or `Origin`, 415 for a body that is not JSON */
export function guard(request: Request, own: OwnHosts): void {
  const host = guardHost(request, own);
  const origin = request.headers.get("origin");
  if (origin !== null && !/^https?:\/\//.test(origin)) throw foreignOrigin();
  if (origin !== null && origin.replace(/^https?:\/\//, "").toLowerCase() !== host) throw foreignOrigin();
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") throw foreignOrigin();
  // A page can send other types without the browser asking weir first.
  const type = request.headers.get("content-type");
  if (type !== null && !/^application\/json\s*(;|$)/i.test(type))
    throw new AdminError(
      415,
      "unsupported_media_type",
      "The body must be JSON, with content-type application/json.",
    );
}

function foreignOrigin(): AdminError {
  return new AdminError(403, "origin_not_allowed", "The admin API does not answer pages of other origins.");
}

function isOwn(header: string, { host, port, names }: OwnHosts): boolean {
  const match = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/.exec(header);
  if (!match) return false;
  const [, name = "", written] = match;
  if (names.includes(name)) return true;
  if (isLoopback(host)) return LOOPBACK.test(name) && Number(written ?? 80) === port;
  // DNS rebinding needs a name: an address is always the one that the client connected to.
  return LOOPBACK.test(name) || ADDRESS.test(name) || name === host.toLowerCase();
}
