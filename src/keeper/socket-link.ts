/** A worker's connection to the keeper's process. A connection that ends is opened again. */
import { connect, type Socket } from "node:net";
import type { Connect } from "./link.ts";
import { encodeFrame, FrameReader } from "../process/frames.ts";
import type { FromKeeper } from "./protocol.ts";
import type { KeeperHello } from "./settings.ts";

/** Delay before the first attempt to connect again, doubled with each failure. Milliseconds. */
const FIRST_MS = 10;
const LONGEST_MS = 500;

/** @param path path of the keeper's socket */
export function socketLink(path: string): Connect {
  return (events) => {
    let isClosing = false;
    let pause = FIRST_MS;
    let socket = open();

    function open(): Socket {
      let isUp = false;
      let isOver = false;
      const frames = new FrameReader<FromKeeper | KeeperHello>((message) => {
        if (!("hello" in message)) return events.receive(message);
        isUp = true;
        pause = FIRST_MS;
        events.up(message.fault);
      });
      const opened = connect(path);
      opened.on("error", () => {});
      opened.on("data", (chunk) => {
        // The next keeper counts on what the one before has not delivered.
        if (isOver) return;
        try {
          frames.push(chunk as Buffer);
        } catch {
          opened.destroy();
        }
      });
      opened.on("close", () => {
        isOver = true;
        if (isUp) events.down();
        if (isClosing) return;
        setTimeout(() => {
          if (!isClosing) socket = open();
        }, pause).unref();
        pause = Math.min(LONGEST_MS, pause * 2);
      });
      opened.unref();
      return opened;
    }

    return {
      send: (message) => void socket.write(encodeFrame(message)),
      async close() {
        isClosing = true;
        socket.destroySoon();
      },
    };
  };
}
