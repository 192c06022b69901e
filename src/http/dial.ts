/**
 * Opens sockets to upstreams. They are those of `node:net` and `node:tls` because destroying one ends it at any stage; a
 * pending `Bun.connect` cannot be ended, and its descriptor stays until the system gives up, two minutes later.
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, type SecureContext } from "node:tls";
import type { Socket as NativeSocket, SocketHandler } from "bun";
import type { TlsSettings } from "../core/provider.ts";
import type { Origin } from "./origin.ts";

/** A socket that is connecting. Over TLS certificate and name are checked before `secureConnect`. */
export function dial({ hostname: host, port, secure, isName }: Origin, tls?: TlsSettings): Socket {
  if (!secure) return connect({ host, port, noDelay: true });
  const socket = connectTls({
    host,
    port,
    // RFC 6066 3 has no place for addresses.
    servername: isName ? host : undefined,
    rejectUnauthorized: true,
    // An upstream that speaks HTTP/2 only fails the handshake then, with an alert that says so.
    ALPNProtocols: ["http/1.1"],
    secureContext: tls && contextOf(tls),
  });
  socket.setNoDelay(true);
  return socket;
}

/**
 * The runtime's own socket below an open one, with handlers of its own: the streams of `node:net` cost a fifth of a short
 * call. From here on the `node:net` socket gets no events and must not be used.
 * @param data what the handlers find as `socket.data`
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

/** Reading certificates costs more than a handshake: they are read once. */
function contextOf(tls: TlsSettings): SecureContext {
  let context = contexts.get(tls);
  if (!context) contexts.set(tls, (context = createSecureContext({ ...tls })));
  return context;
}
