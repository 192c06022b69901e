/** Parses URLs into origins: scheme, host and port. */
import { isIP } from "node:net";

export interface Origin {
  hostname: string;
  port: number;
  /** The `host` header. */
  host: string;
  /** Uses TLS. */
  secure: boolean;
  /** The host is a name, not an IP address. */
  isName: boolean;
}

/** An origin and a request target. */
export interface Address {
  origin: Origin;
  /** Path and query. */
  target: string;
}

const REMEMBERED = 1000;
const origins = new Map<string, Origin>();
const addresses = new Map<string, Address>();

/** Returns the same object for the same origin, because pools use it as key. @param url absolute http or https URL */
export function addressOf(url: string): Address {
  const known = addresses.get(url);
  if (known) return known;
  const parsed = new URL(url);
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:")
    throw new TypeError(`Only http and https are spoken, not ${parsed.protocol}`);
  let origin = origins.get(parsed.origin);
  if (!origin) origins.set(parsed.origin, (origin = originOf(parsed)));
  const address = { origin, target: parsed.pathname + parsed.search };
  if (addresses.size >= REMEMBERED) addresses.clear();
  addresses.set(url, address);
  return address;
}

function originOf(url: URL): Origin {
  const secure = url.protocol === "https:";
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    hostname,
    port: Number(url.port) || (secure ? 443 : 80),
    host: url.host,
    secure,
    isName: isIP(hostname) === 0,
  };
}
