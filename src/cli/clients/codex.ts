import type { KnownClient } from "./client.ts";

/** Codex reads no address from the environment. https://developers.openai.com/codex/config-reference */
export const codex: KnownClient = {
  name: "Codex",
  commands: ["codex"],
  packages: ["@openai/codex"],
  args: ({ url, model }) =>
    overrides({
      model_provider: "weir",
      "model_providers.weir.name": "weir",
      "model_providers.weir.base_url": `${url}/v1`,
      "model_providers.weir.wire_api": "responses",
      "model_providers.weir.env_key": "WEIR_API_KEY",
      ...(model !== undefined && { model }),
    }),
};

/** `-m` and a later `-c` of the user win. The values are TOML. */
function overrides(values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([path, value]) => ["-c", `${path}=${JSON.stringify(value)}`]);
}
