/** The shipped providers, all at one address. */
import { builtIn } from "../../plugins/index.ts";
import { UPSTREAM_KEYS } from "../helpers/gateway.ts";

/** `providers` of a config that sends every shipped provider with an address of its own to `url`. */
export function loadedProviders(url: string): Record<string, { baseUrl: string; apiKey: string }> {
  const named = builtIn.flatMap((plugin) => plugin.providers ?? []).filter((each) => each.speaks);
  return Object.fromEntries(
    named.map(({ name, speaks }) => [
      name,
      {
        baseUrl: speaks!["messages"] && !speaks!["chat-completions"] ? url : `${url}/v1`,
        apiKey: name === "anthropic" ? UPSTREAM_KEYS.anthropic : UPSTREAM_KEYS.openai,
      },
    ]),
  );
}
