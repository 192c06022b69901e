/** The process of the tools, one for all workers. */
import type { ServiceHost, ServicePart } from "../../service/seams.ts";
import type { Ask, Introduction } from "./asks.ts";
import { House } from "./bridge/house.ts";
import type { ConnectProgram } from "./servers/server.ts";
import { Children } from "./servers/stdio/children.ts";

export function start(host: ServiceHost): ServicePart {
  const children = new Children(host);
  const connect: ConnectProgram = ({ name, config }, key, { principal, client }, events) => {
    const { command = [], env = {}, idleMs, era, isolation } = config;
    const isMixed = isolation === "shared";
    return children.connect(
      {
        ...{ server: name, owner: key, principal: isMixed ? "" : principal, client, isMixed },
        ...{ config: { command, env: env as unknown as Record<string, string>, idleMs, era } },
        isPassing: isolation === "call",
      },
      events,
    );
  };
  const house = new House({
    ...{ fault: (sentence) => host.fault(sentence), connect },
    logs: (server) => children.logs(server),
    forget: (server) => children.forget(server),
  });
  return {
    introduced: (message) => house.introduced(message as Introduction),
    answer: (message, _peer, stop) => house.answer(message as Ask, stop),
    async close() {
      await Promise.all([house.close(), children.close()]);
    },
  };
}
