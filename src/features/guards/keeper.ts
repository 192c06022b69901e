/** The part in the keeper: has the secret from which the tokens of all workers and nodes are derived. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { GuardsDown, GuardsUp } from "./messages.ts";
import { secretOfStore } from "./tables.ts";

export function start(host: KeeperHost): KeeperPart<GuardsUp, GuardsDown> {
  return {
    connect: (send) => ({
      receive() {
        secretOfStore(host).then(
          (secret) => send({ secret }),
          (cause: unknown) => send({ fault: String(cause) }),
        );
      },
      ended() {},
    }),
  };
}
