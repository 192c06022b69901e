/** The process of the tools, one for all workers. */
import type { ServiceHost, ServicePart } from "../../service/seams.ts";
import type { Ask, Introduction } from "./asks.ts";
import { House } from "./bridge/house.ts";

export function start(host: ServiceHost): ServicePart {
  const house = new House({ fault: (sentence) => host.fault(sentence) });
  return {
    introduced: (message) => house.introduced(message as Introduction),
    answer: (message, _peer, stop) => house.answer(message as Ask, stop),
    close: () => house.close(),
  };
}
