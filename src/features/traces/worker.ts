/** The part in each process that serves calls: it tells the keeper where spans go, and notes what they need beside the record. */
import type { WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { traceFacts } from "./columns.ts";
import { settingsOf, startLinesOf, type TracesUp } from "./section.ts";

export function start(host: WorkerHost): WorkerPart {
  const channel = host.channel<TracesUp, never>();
  let up: TracesUp = {};
  /** Loaded with the first config that has traces. */
  let facts: typeof import("./facts.ts") | undefined;
  const send = () => {
    if (channel.isUp) channel.send(up);
  };
  channel.listen({ up: send, down: () => {}, message: () => {} });
  return {
    async seams(config) {
      const settings = settingsOf(config);
      if (!settings) return undefined;
      facts ??= await import("./facts.ts");
      const { contextOf } = facts;
      return { traceContext: (call) => contextOf(call, settings) };
    },
    serves(config) {
      const settings = settingsOf(config);
      up = settings ? { settings } : {};
      send();
    },
    recorder(config) {
      if (!settingsOf(config) || !facts) return undefined;
      const { factsOf } = facts;
      return (call, attempts) => traceFacts.set(call, factsOf(call, attempts));
    },
    startLines: startLinesOf,
  };
}
