/** Clients for which a few variables suffice. */
import type { KnownClient } from "./client.ts";

const SETTINGS = "settings.json";

/** System settings precede those of the user, who may have chosen a login there. https://qwenlm.github.io/qwen-code-docs/ */
export const qwenCode: KnownClient = {
  name: "Qwen Code",
  commands: ["qwen"],
  packages: ["@qwen-code/qwen-code"],
  env: ({ folder, model }) => ({
    QWEN_CODE_SYSTEM_SETTINGS_PATH: `${folder}/${SETTINGS}`,
    ...(model !== undefined && { OPENAI_MODEL: model }),
  }),
  files: () => ({ [SETTINGS]: JSON.stringify({ security: { auth: { selectedType: "openai" } } }) }),
};

/** `copilot help environment` */
export const copilot: KnownClient = {
  name: "GitHub Copilot CLI",
  commands: ["copilot"],
  packages: ["@github/copilot"],
  env: ({ url, key, model }) => ({
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: key,
    COPILOT_PROVIDER_API_KEY_COMMAND: undefined,
    COPILOT_PROVIDER_BEARER_TOKEN: undefined,
    ...(model !== undefined && { COPILOT_MODEL: model }),
  }),
};

/** Flags of the user precede variables, and variables its config files. https://aider.chat/docs/config/options.html */
export const aider: KnownClient = {
  name: "aider",
  commands: ["aider"],
  packages: ["aider-chat"],
  env: ({ url, key, model }) => ({
    AIDER_OPENAI_API_BASE: `${url}/v1`,
    AIDER_OPENAI_API_KEY: key,
    ...(model !== undefined && {
      AIDER_MODEL: `openai/${model}`,
      AIDER_WEAK_MODEL: `openai/${model}`,
      // It knows neither context window nor price of the name, and would ask whether to read about that.
      AIDER_SHOW_MODEL_WARNINGS: "false",
    }),
  }),
};

/** https://block.github.io/goose/docs/guides/environment-variables */
export const goose: KnownClient = {
  name: "goose",
  commands: ["goose"],
  packages: [],
  env: ({ url, model }) => ({
    OPENAI_HOST: url,
    OPENAI_BASE_PATH: "v1/chat/completions",
    ANTHROPIC_HOST: url,
    ...(model !== undefined && { GOOSE_PROVIDER: "openai", GOOSE_MODEL: model, GOOSE_FAST_MODEL: model }),
  }),
};
