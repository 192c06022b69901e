import type { Aim, KnownClient, Variables } from "./client.ts";

const SETTINGS = "settings.json";

/** Each of these would send it past ANTHROPIC_BASE_URL, or with a key of the user. */
const REMOVED = [
  // With a key in this variable it asks the user at the start whether it may use the key.
  "ANTHROPIC_API_KEY",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CLAUDE_CODE_USE_BEDROCK",
  "CLAUDE_CODE_USE_VERTEX",
  "CLAUDE_CODE_USE_FOUNDRY",
  "CLAUDE_CODE_USE_MANTLE",
  "CLAUDE_CODE_USE_ANTHROPIC_AWS",
];

/** The variables of its models: the one that it is given, those behind the names `opus`, `sonnet`, …, and those for side tasks. */
const MODELS = [
  "ANTHROPIC_MODEL",
  "ANTHROPIC_DEFAULT_FABLE_MODEL",
  "ANTHROPIC_DEFAULT_OPUS_MODEL",
  "ANTHROPIC_DEFAULT_SONNET_MODEL",
  "ANTHROPIC_DEFAULT_HAIKU_MODEL",
  "ANTHROPIC_SMALL_FAST_MODEL",
  "CLAUDE_CODE_SUBAGENT_MODEL",
];

/** https://code.claude.com/docs/en/settings */
export const claudeCode: KnownClient = {
  name: "Claude Code",
  commands: ["claude"],
  packages: ["@anthropic-ai/claude-code"],
  env: (aim) => ({ ...variables(aim), ...withAll(REMOVED, undefined) }),
  args: ({ folder }) => ["--settings", `${folder}/${SETTINGS}`],
  // Variables in settings of the user or the project precede the environment, and these precede both. An empty one counts as none.
  files: (aim) => ({
    [SETTINGS]: JSON.stringify({ env: { ...variables(aim), ...withAll(REMOVED, "") } }),
  }),
};

function variables({ url, key, model }: Aim): Variables {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: key,
    ...(model !== undefined && withAll(MODELS, model)),
  };
}

function withAll(names: readonly string[], value: string | undefined): Variables {
  return Object.fromEntries(names.map((name) => [name, value]));
}
