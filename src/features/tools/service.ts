/** The process of the tools, one for all workers. */
import type { ServiceHost, ServicePart } from "../../service/seams.ts";
import type { Ask, Introduction } from "./asks.ts";
import { Credentials } from "./auth/credentials.ts";
import { House } from "./bridge/house.ts";
import { Children } from "./servers/stdio/children.ts";
import { connectPrograms } from "./servers/stdio/connect.ts";
import { Verdicts } from "./servers/verdicts.ts";

export function start(host: ServiceHost): ServicePart {
  const children = new Children(host);
  const { fault, info } = host;
  const house = new House({
    credentials: new Credentials({ folder: host.folder(), fault, info }),
    verdicts: new Verdicts(host.folder(), info),
    ...{ fault, connect: connectPrograms(children) },
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
