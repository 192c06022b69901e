import type { Aim, KnownClient } from "./client.ts";

const PROVIDERS = "providers.json";

/** cline reads its providers from a file, whose path is in a variable. The other settings of the user stay. https://docs.cline.bot/cline-cli */
export const cline: KnownClient = {
  name: "cline",
  commands: ["cline"],
  packages: ["cline"],
  env: ({ folder }) => ({
    CLINE_PROVIDER_SETTINGS_PATH: `${folder}/${PROVIDERS}`,
    // Its daemon would outlive the gateway, with these providers for later sessions of the user.
    CLINE_SESSION_BACKEND_MODE: "local",
  }),
  files: (aim) => ({ [PROVIDERS]: providersFor(aim) }),
};

/** As `cline auth` writes it. Without a model, the provider of Anthropic has one of its own. */
function providersFor({ url, key, model }: Aim): string {
  const provider = model === undefined ? "anthropic" : "openai-compatible";
  const settings = { provider, apiKey: key, baseUrl: `${url}/v1`, ...(model !== undefined && { model }) };
  return JSON.stringify({
    ...{ version: 1, lastUsedProvider: provider, modes: {} },
    providers: { [provider]: { settings, updatedAt: new Date().toISOString(), tokenSource: "manual" } },
  });
}
