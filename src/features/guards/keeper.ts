/** The part in the keeper: has the secret from which all tokens are derived, and watches whether guards do their work. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { GuardsDown, GuardsUp } from "./messages.ts";
import { secretOfStore } from "./tables.ts";
import type { GuardWatch } from "./watch/watch.ts";

export function start(host: KeeperHost): KeeperPart<GuardsUp, GuardsDown> {
  let watch: GuardWatch | undefined;
  /** Its code is loaded when a config first has a guard. */
  const watching = async (): Promise<GuardWatch> => {
    const { GuardWatch } = await import("./watch/watch.ts");
    if (watch) return watch;
    const { warn, report, keyName, observe } = host;
    const made = (watch = new GuardWatch({ warn, report, keyName }));
    observe({ records: ({ calls }) => made.records(calls), state: () => made.tick(Date.now()) });
    return made;
  };
  return {
    connect: (send) => ({
      receive(message) {
        if ("guards" in message) {
          if (watch || message.guards.length > 0)
            watching().then(
              (made) => (made.guards = message.guards),
              (cause: unknown) => host.report(`guards are not watched: ${String(cause)}`),
            );
          return;
        }
        secretOfStore(host).then(
          (secret) => send({ secret }),
          (cause: unknown) => send({ fault: String(cause) }),
        );
      },
      ended() {},
    }),
  };
}
