/** WebSockets of clients, as the runtime has them. */
import type { End, Listening } from "../core/socket.ts";

export type OpenedSocket = (end: End) => Listening;

export interface SocketData {
  readonly opened: OpenedSocket;
  listening?: Listening;
}

/** Largest frame. Bytes. */
const MOST_FRAME = 15 * 1_048_576;
/** A client is pinged when it has been silent. Seconds. */
const IDLE_SECONDS = 30;

export const socketHandlers: Bun.WebSocketHandler<SocketData> = {
  maxPayloadLength: MOST_FRAME,
  // Beyond that the runtime would drop frames in silence.
  backpressureLimit: 2 * MOST_FRAME,
  closeOnBackpressureLimit: true,
  idleTimeout: 2 * IDLE_SECONDS,
  sendPings: true,
  perMessageDeflate: false,
  open(socket) {
    socket.data.listening = socket.data.opened({
      send: (frame) => void socket.send(frame),
      get buffered() {
        return socket.getBufferedAmount();
      },
      pause() {},
      resume() {},
      close: (code, reason) => socket.close(code, reason),
    });
  },
  message: (socket, frame) =>
    socket.data.listening?.frame(typeof frame === "string" ? frame : frame.toString()),
  drain: (socket) => socket.data.listening?.drained(),
  close: (socket, code, reason) => socket.data.listening?.closed(code, reason),
};
