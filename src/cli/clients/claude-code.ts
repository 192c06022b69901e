import type { KnownClient } from "./client.ts";

/** https://docs.claude.com/en/docs/claude-code/settings#environment-variables */
export const claudeCode: KnownClient = {
  name: "Claude Code",
  commands: ["claude"],
  packages: ["@anthropic-ai/claude-code"],
  env: ({ key, model }) => ({
    // With ANTHROPIC_API_KEY it asks the user at the start whether it may use the key.
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_API_KEY: undefined,
    // Each of these would send it past ANTHROPIC_BASE_URL.
    CLAUDE_CODE_OAUTH_TOKEN: undefined,
    CLAUDE_CODE_USE_BEDROCK: undefined,
    CLAUDE_CODE_USE_VERTEX: undefined,
    CLAUDE_CODE_USE_FOUNDRY: undefined,
    CLAUDE_CODE_USE_MANTLE: undefined,
    CLAUDE_CODE_USE_ANTHROPIC_AWS: undefined,
    ...(model !== undefined && {
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_FABLE_MODEL: model,
      ANTHROPIC_DEFAULT_OPUS_MODEL: model,
      ANTHROPIC_DEFAULT_SONNET_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_SUBAGENT_MODEL: model,
    }),
  }),
};
