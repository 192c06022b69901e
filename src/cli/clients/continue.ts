import type { Aim, KnownClient } from "./client.ts";

const CONFIG = "config.yaml";
/** Its config needs a model. This is the one that it chooses without a config. */
const OWN_MODEL = "claude-sonnet-4-6";

/** Continue's CLI reads no address from the environment. Without a config it asks Anthropic. https://docs.continue.dev/guides/cli */
export const continueCli: KnownClient = {
  name: "Continue",
  commands: ["cn"],
  packages: ["@continuedev/cli"],
  args: ({ folder }) => ["--config", `${folder}/${CONFIG}`],
  files: (aim) => ({ [CONFIG]: configFor(aim) }),
};

function configFor({ url, key, model = OWN_MODEL }: Aim): string {
  return `name: weir
version: 1.0.0
schema: v1
models:
  - name: weir
    provider: openai
    model: ${JSON.stringify(model)}
    apiBase: ${JSON.stringify(`${url}/v1`)}
    apiKey: ${JSON.stringify(key)}
    roles: [chat, edit, apply]
`;
}
