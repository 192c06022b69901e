/** The keeper in a thread of its own: the gateway's side. A thread that ends is started again. */
import { Worker } from "node:worker_threads";
import { withPortOf } from "../admin/settings.ts";
import { mainModule } from "../program.ts";
import type { Connect, LinkEvents } from "./link.ts";
import type { KeeperSettings } from "./settings.ts";
import type { FromThread, ToThread } from "./thread.ts";

/** Delay before a thread that ended is started again. Milliseconds. */
const RESTART_MS = 200;
/** Maximum time for the thread to close the file. Milliseconds. */
const CLOSE_MS = 3_000;

export function threadLink(first: KeeperSettings): Connect {
  return (events) => {
    let settings = first;
    let restarts = 0;
    let isClosing = false;
    const closed = Promise.withResolvers<void>();
    let thread = start();

    function start(): Worker {
      const worker = new Worker(mainModule());
      worker.on("message", (message: FromThread) => {
        if ("admin" in message && settings.admin)
          settings = { ...settings, admin: withPortOf(settings.admin, message.admin) };
        receive(message, events, closed.resolve);
      });
      worker.on("error", () => {});
      worker.on("exit", () => {
        closed.resolve();
        if (isClosing) return;
        events.down();
        setTimeout(() => {
          if (isClosing) return;
          if (settings.admin) settings = { ...settings, admin: { ...settings.admin, restarts: ++restarts } };
          thread = start();
        }, RESTART_MS).unref();
      });
      post(worker, { open: settings });
      worker.unref();
      return worker;
    }

    return {
      send: (message) => post(thread, message),
      async close() {
        isClosing = true;
        const timer = setTimeout(closed.resolve, CLOSE_MS);
        post(thread, { close: true });
        await closed.promise;
        clearTimeout(timer);
        await thread.terminate();
      },
    };
  };
}

function receive(message: FromThread, events: LinkEvents, onClosed: () => void): void {
  if ("hello" in message) events.up(message.fault);
  else if ("closed" in message) onClosed();
  else events.receive(message);
}

function post(thread: Worker, message: ToThread): void {
  thread.postMessage(message);
}
