/**
 * Opens sockets to providers. It uses `node:net` and `node:tls` because their sockets can be destroyed at any stage. A pending
 * `Bun.connect` cannot be cancelled: its descriptor stays open until the system's timeout, two minutes later.
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, type SecureContext } from "node:tls";
import type { Socket as NativeSocket, SocketHandler } from "bun";
import type { TlsSettings } from "../core/provider.ts";
import type { Origin } from "./origin.ts";

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
