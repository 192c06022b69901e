import { isObject, parseJson } from "../../core/json.ts";
import type { Aim, KnownClient } from "./client.ts";

/** A config in a variable, which opencode merges over that of the user. https://opencode.ai/docs/config */
export const opencode: KnownClient = {
  name: "opencode",
  commands: ["opencode"],
  packages: ["opencode-ai"],
  env: (aim) => ({
    OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...configOfUser(aim.user), ...configFor(aim) }),
  }),
};

function configOfUser({ OPENCODE_CONFIG_CONTENT: text = "" }: Aim["user"]): Record<string, unknown> {
  const config = parseJson(text);
  return isObject(config) ? config : {};
}

/** The providers whose SDKs weir speaks, and with a model one provider that has it. */
function configFor({ url, key, model, user }: Aim): Record<string, unknown> {
  const at = (baseURL: string) => ({ options: { baseURL, apiKey: key } });
  const { provider: own } = configOfUser(user);
  const provider = {
    ...(isObject(own) ? own : {}),
    anthropic: at(`${url}/v1`),
    openai: at(`${url}/v1`),
    google: at(`${url}/v1beta`),
  };
  if (model === undefined) return { provider };
  const weir = {
    npm: "@ai-sdk/openai-compatible",
    name: "weir",
    ...at(`${url}/v1`),
    models: { [model]: { name: model, tool_call: true } },
  };
  return {
    provider: { ...provider, weir },
    model: `weir/${model}`,
    small_model: `weir/${model}`,
  };
}
