/**
 * Which hosts a request may name. A web page whose name was changed to an address of this machine (DNS rebinding) is of the same
 * origin for the browser, so only the Host header tells it apart. Rebinding needs a name: an address is the one that the client
 * connected to.
 */

/** Names that lead to this machine, or from a container to its host, and that no page of the internet can have. */
const LOCAL_NAMES = ["localhost", "host.docker.internal", "host.containers.internal"];

/**
 * A valid Host header. Two headers arrive joined by a comma (RFC 9112 3.2 requires a 400); with other forms, or a port above
 * 65535, the URL could not be parsed.
 */
const HOST =
  /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?:[0-5]?\d{1,4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]))?$/;

/** Whether a Host header is one host with or without a port. */
export function isHostHeader(header: string): boolean {
  return HOST.test(header);
}

/** The host without the brackets of an IPv6 address, as the listener needs it. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

/** Whether an address can be reached only from this machine: `localhost`, 127.0.0.0/8 in any spelling, `::1`. */
export function isLoopback(host: string): boolean {
  const bare = bareHost(host);
  const hostname = hostnameOf(bare.includes(":") ? `[${bare}]` : bare);
  return (
    hostname !== undefined &&
    (hostname === "localhost" || /^127(\.\d{1,3}){3}$/.test(hostname) || hostname === "[::1]")
  );
}

/**
 * Whether a host may be named by clients: an address, a name of this machine, or one of the names that the operator lists.
 * @param host as in a Host header; the port does not count, because tunnels and containers map ports
 * @param names host names in any letter case, without port
 */
export function isKnownHost(host: string, names: readonly string[]): boolean {
  const hostname = hostnameOf(host);
  if (hostname === undefined) return false;
  if (hostname.startsWith("[") || /^\d+(\.\d+){3}$/.test(hostname)) return true;
  const name = withoutRoot(hostname);
  if (LOCAL_NAMES.includes(name) || name.endsWith(".localhost")) return true;
  return names.some((known) => withoutRoot(known.toLowerCase()) === name);
}

/** A clause that states the fault of a listed host name; undefined when there is none. */
export function hostNameFault(name: string): string | undefined {
  if (/^[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?\.?$/i.test(name) && hostnameOf(name) !== undefined)
    return undefined;
  return "must be a host name without scheme, port and path, such as llm.example.com";
}

/** As a browser reads it: in lower case, and 127.1 is 127.0.0.1. */
function hostnameOf(host: string): string | undefined {
  const written = `http://${host}`;
  return URL.canParse(written) ? new URL(written).hostname : undefined;
}

/** `weir.example.` is the same name as `weir.example`. */
function withoutRoot(name: string): string {
  return name.replace(/\.$/, "");
}
