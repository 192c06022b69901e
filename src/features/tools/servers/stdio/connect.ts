/** Connections to servers that are programs, for the bridge. */
import { type ConnectProgram, EVERYBODY } from "../server.ts";
import type { Children } from "./children.ts";

export function connectPrograms(children: Children): ConnectProgram {
  return ({ name, config }, _key, { principal, client, era: preferred }, events) => {
    const { command = [], env = {}, era, isolation } = config;
    const isMixed = isolation === "shared";
    return children.connect(
      {
        ...{ server: name, client, preferred, isMixed, isPassing: isolation === "call" },
        // Each shared server counts for itself.
        principal: isMixed ? `${EVERYBODY} ${name}` : principal,
        config: { command, env: textsOf(env), era },
      },
      events,
    );
  };
}

function textsOf(env: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
}
