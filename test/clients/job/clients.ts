/** The clients that do the job: where each comes from, and how it is pointed at a gateway. */
import { join } from "node:path";
import type { Installer, Program } from "../programs.ts";
import { TASK } from "./provider.ts";

export interface JobClient {
  /** As the table prints it. */
  name: string;
  installer: Installer;
  /** The package whose version is printed. */
  package: string;
  /** Its format; default responses. */
  speaks?: string;
  /** The model that it is told to ask for, if not one of OpenAI's. */
  model?: string;
  /** It asks over a WebSocket, which the judge does not pass on: it asks the gateway itself. */
  usesSockets?: true;
  run(place: Place): Program & { files?: Readonly<Record<string, string>> };
}

export interface Place {
  /** The folder of the installed packages. */
  installed: string;
  /** The folder with the files of the job, where the client runs. */
  folder: string;
  /** The gateway, without a trailing slash. */
  url: string;
  model: string;
}

/** Beside the clients: newer clients need a newer Node.js than the machine may have. */
export const ALSO: Readonly<Record<Installer, readonly string[]>> = {
  npm: ["node@24", "openai@7.55.0", "zod@4", "ai@7.0.173"],
  python: [],
};

const KEY = "none-needed";

const bin = (installed: string, name: string) => join(installed, "node_modules/.bin", name);

/** The path on which programs find the installed Node.js first. */
const newerNode = (installed: string) => ({
  PATH: `${join(installed, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`,
});

const library = (name: string, spec: string, driver: string): JobClient => ({
  name,
  installer: "npm",
  package: spec,
  run: ({ installed, url, model }) => ({
    command: [
      bin(installed, "node"),
      join(import.meta.dir, "drive.mjs"),
      installed,
      driver,
      url,
      model,
      TASK,
    ],
  }),
});

const python = (name: string, spec: string, driver: string): JobClient => ({
  name,
  installer: "python",
  package: spec,
  run: ({ installed, url, model }) => ({
    command: [join(installed, "bin/python"), join(import.meta.dir, "drive.py"), driver, url, model, TASK],
  }),
});

/** @param provider the name of the provider in its config */
const codex = (name: string, provider: string): JobClient => ({
  name,
  installer: "npm",
  package: "@openai/codex@0.169.0",
  run: (place) => codexProgram(place, provider, ["exec", ...CODEX_OPTIONS, TASK]),
});

export const CODEX_OPTIONS = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];

/** Codex, with some words behind it. @param more lines of its config @param ofProvider lines about the provider */
export function codexProgram(
  { installed, url, model }: Place,
  provider: string,
  words: readonly string[],
  more: readonly string[] = [],
  ofProvider: readonly string[] = [],
): ReturnType<JobClient["run"]> {
  return {
    command: [bin(installed, "codex"), ...words],
    env: { CODEX_KEY: KEY },
    files: {
      ".codex/config.toml": [
        `model = "${model}"`,
        'model_provider = "weir"',
        'model_reasoning_effort = "medium"',
        'model_reasoning_summary = "auto"',
        "check_for_update_on_startup = false",
        ...more,
        "[model_providers.weir]",
        `name = "${provider}"`,
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "CODEX_KEY"',
        ...ofProvider,
        "[analytics]",
        "enabled = false",
      ].join("\n"),
    },
  };
}

export const CLIENTS: readonly JobClient[] = [
  codex("Codex", "weir"),
  {
    ...codex("Codex over WebSockets", "weir"),
    usesSockets: true,
    run: (place) =>
      codexProgram(place, "weir", ["exec", ...CODEX_OPTIONS, TASK], [], ["supports_websockets = true"]),
  },
  // It compacts a conversation in another way, and sends more members with its items.
  codex("Codex, provider named OpenAI", "OpenAI"),
  {
    name: "opencode",
    installer: "npm",
    package: "opencode-ai@1.18.33",
    run: ({ installed, url, model }) => ({
      command: [bin(installed, "opencode"), "run", "-m", `openai/${model}`, TASK],
      env: {
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      },
      files: {
        ".config/opencode/opencode.json": JSON.stringify({
          provider: {
            openai: {
              options: { baseURL: `${url}/v1`, apiKey: KEY },
              models: { [model]: { name: model, reasoning: true, tool_call: true } },
            },
          },
          permission: { edit: "allow", bash: "allow", read: "allow" },
        }),
      },
    }),
  },
  {
    name: "pi",
    installer: "npm",
    package: "@mariozechner/pi-coding-agent@0.73.1",
    run: ({ installed, url, model }) => ({
      command: [bin(installed, "pi"), "-p", "--offline", "--model", `weir/${model}:medium`, TASK],
      env: { PI_OFFLINE: "1", PI_TELEMETRY: "0", ...newerNode(installed) },
      files: {
        ".pi/agent/models.json": JSON.stringify({
          providers: {
            weir: {
              baseUrl: `${url}/v1`,
              apiKey: KEY,
              api: "openai-responses",
              models: [
                {
                  ...{ id: model, name: model, reasoning: true, input: ["text"] },
                  ...{ contextWindow: 200_000, maxTokens: 32_000 },
                  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
                },
              ],
            },
          },
        }),
      },
    }),
  },
  {
    name: "Copilot CLI",
    installer: "npm",
    package: "@github/copilot@1.0.102",
    run: ({ installed, url, model }) => ({
      command: [bin(installed, "copilot"), "-p", TASK, "--allow-all-tools", "--no-auto-update"],
      env: {
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
        COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
        COPILOT_PROVIDER_TYPE: "openai",
        COPILOT_PROVIDER_WIRE_API: "responses",
        COPILOT_PROVIDER_API_KEY: KEY,
        COPILOT_MODEL: model,
        ...newerNode(installed),
      },
    }),
  },
  {
    name: "Claude Code",
    installer: "npm",
    package: "@anthropic-ai/claude-code@2.1.197",
    speaks: "messages",
    model: "claude-opus-4-8",
    run: ({ installed, url, model }) => ({
      command: [
        bin(installed, "claude"),
        ...["-p", TASK, "--model", model, "--permission-mode", "acceptEdits"],
        ...["--allowedTools", "Read", "Edit", "Bash"],
      ],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1",
        ...newerNode(installed),
      },
    }),
  },
  {
    name: "Gemini CLI",
    installer: "npm",
    speaks: "gemini",
    model: "gemini-3-pro-preview",
    package: "@google/gemini-cli@0.61.0",
    run: ({ installed, url, model }) => ({
      command: [bin(installed, "gemini"), "--yolo", "-m", model, "-p", TASK],
      env: {
        GEMINI_API_KEY: KEY,
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
        ...newerNode(installed),
      },
      files: {
        ".gemini/settings.json": JSON.stringify({
          security: { auth: { selectedType: "gemini-api-key" } },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
          general: { disableAutoUpdate: true, disableUpdateNag: true },
        }),
      },
    }),
  },
  library("OpenAI Agents SDK, JavaScript", "@openai/agents@0.20.0", "agents"),
  library("AI SDK, `@ai-sdk/openai`, as it comes", "@ai-sdk/openai@4.0.118", "ai"),
  library("AI SDK, `@ai-sdk/openai`, `store: false`", "@ai-sdk/openai@4.0.118", "aiStateless"),
  python("OpenAI Agents SDK, Python", "openai-agents", "agents_sdk"),
  python("LangChain, `use_responses_api`", "langchain-openai", "langchain"),
];
