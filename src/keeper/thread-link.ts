/** The keeper in a thread of its own: the gateway's side. A thread that ends is started again. */
import { withPortOf } from "../operator/settings.ts";
import type { Connect, LinkEvents } from "./link.ts";
import { OwnThread } from "../process/own-thread.ts";
import type { KeeperSettings } from "./settings.ts";
import type { FromThread, ToThread } from "./thread.ts";

/** Delay before a thread that ended is started again. Milliseconds. */
const RESTART_MS = 200;
/** Maximum time for the thread to close the file. Milliseconds. */
const CLOSE_MS = 3_000;
/** The same for the next keeper, while calls go on. Milliseconds. */
const PASS_MS = 15_000;

/** @param after the thread does not run before that; messages wait for it */
export function threadLink(first: KeeperSettings, after?: Promise<void>): Connect {
  return (events) => {
    let settings = first;
    let restarts = 0;
    let isClosing = false;
    const closed = Promise.withResolvers<void>();
    let thread: OwnThread<ToThread, FromThread> | undefined;
    /** Messages sent before the thread is started. */
    const waiting: ToThread[] = [];
    const begin = () => {
      if (isClosing) return;
      thread = start();
      for (const message of waiting.splice(0)) thread.post(message);
    };
    if (after) void after.then(begin);
    else begin();

    function start(): OwnThread<ToThread, FromThread> {
      const started = new OwnThread<ToThread, FromThread>({
        message(message) {
          if ("admin" in message && settings.admin)
            settings = { ...settings, admin: withPortOf(settings.admin, message.admin) };
          receive(message, events, closed.resolve);
        },
        ended() {
          closed.resolve();
          if (isClosing) return;
          events.down();
          setTimeout(() => {
            if (isClosing) return;
            if (settings.admin)
              settings = { ...settings, admin: { ...settings.admin, restarts: ++restarts } };
            thread = start();
          }, RESTART_MS).unref();
        },
      });
      started.post({ open: settings });
      return started;
    }

    async function end(message: { close: true } | { pass: true }): Promise<void> {
      isClosing = true;
      if (!thread) return;
      const timer = setTimeout(closed.resolve, "pass" in message ? PASS_MS : CLOSE_MS);
      thread.post(message);
      await closed.promise;
      clearTimeout(timer);
      thread.terminate();
    }

    return {
      send: (message) => void (thread ? thread.post(message) : waiting.push(message)),
      close: () => end({ close: true }),
      async pass() {
        await end({ pass: true });
        events.down();
      },
    };
  };
}

function receive(message: FromThread, events: LinkEvents, onClosed: () => void): void {
  if ("hello" in message) events.up(message.fault);
  else if ("closed" in message) onClosed();
  else events.receive(message);
}
