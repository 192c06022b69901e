/** A keeper in the same thread. */
import type { Connect } from "./client.ts";
import { Keeper, type KeeperOptions } from "./keeper.ts";

export function directLink(options: KeeperOptions): Connect {
  return ({ up, receive }) => {
    const keeper = new Keeper(options);
    queueMicrotask(up);
    return {
      send: (message) => keeper.handle(message, receive),
      async close() {
        keeper.close();
      },
    };
  };
}
