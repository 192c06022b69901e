/** The part in each process that serves calls. Its code is loaded when a config first names issuers whose tokens calls may send. */
import type { WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import type { TokenCalls } from "./calls.ts";
import { identitySection, issuersOf } from "./section.ts";

export function start(host: WorkerHost): WorkerPart {
  let calls: TokenCalls | undefined;
  return {
    async seams(config) {
      const section = identitySection.of(config);
      if (issuersOf(section).length === 0) {
        calls?.stop();
        return undefined;
      }
      const [{ TokenCalls }, { entriesOf }] = await Promise.all([
        import("./calls.ts"),
        import("./entries.ts"),
      ]);
      calls ??= new TokenCalls(host);
      return calls.seams(section, entriesOf(section));
    },
    startLines(config) {
      const issuers = issuersOf(identitySection.of(config));
      return issuers.length === 0 ? [] : [`tokens: of ${[...new Set(issuers)].join(", ")}`];
    },
    stop: () => calls?.stop(),
  };
}
