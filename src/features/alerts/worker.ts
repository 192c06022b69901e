/** The part in each process that serves calls: it tells the keeper who gets alerts. */
import type { WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { startLinesOf, targetsOf } from "./section.ts";
import type { AlertTarget } from "./section.ts";

export function start(host: WorkerHost): WorkerPart {
  const channel = host.channel<readonly AlertTarget[], never>();
  let targets: readonly AlertTarget[] = [];
  const send = () => {
    if (channel.isUp) channel.send(targets);
  };
  channel.listen({ up: send, down: () => {}, message: () => {} });
  return {
    seams: () => undefined,
    serves(config) {
      targets = targetsOf(config);
      send();
    },
    startLines: startLinesOf,
  };
}
