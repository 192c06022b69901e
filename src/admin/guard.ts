/** Refuses requests that a foreign web page made: through DNS rebinding, from another origin, or with a form. */
import { isHostHeader, isKnownHost } from "../core/host-names.ts";
import { AdminError } from "../operator/errors.ts";

/** Names and addresses of the listener. */
export interface OwnHosts {
  /** The address that weir listens on. */
  host: string;
  port: number;
  /** Host names by which clients reach it, besides those that lead to this machine. */
  names: readonly string[];
  /** Path in front of all paths at a proxy: `/weir`; default: none. */
  base?: string | undefined;
}

/** @throws AdminError 400 for no valid `Host`, 403 for a foreign one */
export function guardHost(request: Request, { names }: OwnHosts): string {
  const host = request.headers.get("host") ?? "";
  if (!isHostHeader(host))
    throw new AdminError(400, "invalid_request", "The request must have exactly one valid Host header.", {
      headers: { connection: "close" },
    });
  if (!isKnownHost(host, names))
    throw new AdminError(
      403,
      "host_not_allowed",
      `The Host ${host} is no address and no known name of this listener; list it in the option names or admin.names.`,
    );
  return host.toLowerCase();
}

/** @throws AdminError 403 for a foreign `Host` or `Origin`, 415 for a body that is not JSON */
export function guard(request: Request, own: OwnHosts): void {
  const host = guardHost(request, own);
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  if (origin !== null && !isOwnOrigin(origin, host, own, site)) throw foreignOrigin();
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

/**
 * Whether the page of a request is the console. A proxy may replace the Host header; then the browser's word that both are of one
 * origin counts, for a name that the operator lists.
 */
function isOwnOrigin(origin: string, host: string, { names }: OwnHosts, site: string | null): boolean {
  const [, written] = /^https?:\/\/(.*)$/i.exec(origin) ?? [];
  if (written === undefined) return false;
  if (written.toLowerCase() === host) return true;
  return site === "same-origin" && isHostHeader(written) && isKnownHost(written, names);
}
