/**
 * Where requests go, and the sockets that lead there. It uses `node:net` and `node:tls` because their sockets can be destroyed at any stage. A pending
 * `Bun.connect` cannot be cancelled: its descriptor stays open until the system's timeout, two minutes later.
 */
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, type SecureContext } from "node:tls";
import type { Socket as NativeSocket, SocketHandler } from "bun";
import type { TlsSettings } from "../core/provider.ts";

/** Starts a connection. With TLS, the certificate and the host name are checked before `secureConnect`. */
export function dial({ hostname: host, port, secure, isName }: Origin, tls?: TlsSettings): Socket {
  if (!secure) return connect({ host, port, noDelay: true });
  const socket = connectTls({
    host,
    port,
    // RFC 6066, section 3: the server name must not be an IP address.
    servername: isName ? host : undefined,
    rejectUnauthorized: true,
    // With ALPN, a provider that speaks only HTTP/2 fails the handshake with an alert that says so.
    ALPNProtocols: ["http/1.1"],
    secureContext: tls && contextOf(tls),
  });
  socket.setNoDelay(true);
  return socket;
}

/**
 * Takes the runtime's own socket out of an open `node:net` socket and sets handlers on it: the streams of `node:net` take a
 * fifth of the time of a short call. Afterwards the `node:net` socket gets no events and must not be used.
 * @param data the handlers' `socket.data`
 */
export function takeOver<Data>(
  socket: Socket,
  data: Data,
  handlers: SocketHandler<Data>,
): NativeSocket<Data> {
  const native = (socket as unknown as { _handle: NativeSocket<Data> })._handle;
  native.data = data;
  native.reload({ socket: handlers });
  return native;
}

const contexts = new WeakMap<TlsSettings, SecureContext>();

/** Parsed certificates. Parsing takes longer than a TLS handshake, so it is done once. */
function contextOf(tls: TlsSettings): SecureContext {
  let context = contexts.get(tls);
  if (!context) contexts.set(tls, (context = createSecureContext({ ...tls })));
  return context;
}

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
