/** A worker's connection to the keeper's process. */
import { LastingSocket } from "../process/sockets.ts";
import type { Connect } from "./link.ts";
import type { FromKeeper, ToKeeper } from "./protocol.ts";
import type { KeeperHello } from "./settings.ts";

/** @param path path of the keeper's socket */
export function socketLink(path: string): Connect {
  return (events) => {
    let isUp = false;
    const socket = new LastingSocket<ToKeeper, FromKeeper | KeeperHello>(path, {
      receive(message) {
        if (!("hello" in message)) return events.receive(message);
        isUp = true;
        events.up(message.fault);
      },
      closed() {
        if (isUp) events.down();
        isUp = false;
      },
    });
    return {
      send: (message) => socket.send(message),
      close: async () => socket.close(),
    };
  };
}
