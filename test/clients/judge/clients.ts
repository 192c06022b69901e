/** The clients that the judge runs: where each comes from, and how it is pointed at a gateway. */
import { join } from "node:path";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";

const CHAT = chatCompletionsFormat.id;
const MESSAGES = messagesFormat.id;

export type Environment = "npm" | "python" | "litellm" | "aider";

export interface JudgedClient {
  /** As the table prints it. */
  name: string;
  /** Id of the format that the client speaks. */
  format: string;
  /** Where it is installed: all of one environment stand side by side. LiteLLM and aider pin versions of the SDKs. */
  environment: Environment;
  /** The package to install; its version is printed. */
  package: string;
  /** What to run, and files to write first into the home folder of the run. */
  run(place: Place): {
    command: readonly string[];
    env?: Record<string, string>;
    files?: Record<string, string>;
  };
}

export interface Place {
  /** The folder of its environment. */
  folder: string;
  /** The gateway, without a trailing slash. */
  url: string;
  model: string;
}

const KEY = "none-needed";

const sdk = (name: string, format: string, spec: string, client: string): JudgedClient => ({
  name,
  format,
  environment: "npm",
  package: spec,
  run: ({ url, model }) => ({ command: ["node", join(import.meta.dir, "drive.mjs"), client, url, model] }),
});

const python = (
  name: string,
  format: string,
  spec: string,
  client: string,
  environment: Environment = "python",
): JudgedClient => ({
  name,
  format,
  environment,
  package: spec,
  run: ({ folder, url, model }) => ({
    command: [join(folder, "bin/python"), join(import.meta.dir, "drive.py"), client, url, model],
  }),
});

const aider = (
  name: string,
  format: string,
  prefix: string,
  base: (url: string) => Record<string, string>,
): JudgedClient => ({
  name,
  format,
  environment: "aider",
  package: "aider-chat",
  run: ({ folder, url, model }) => ({
    command: [
      join(folder, "bin/aider"),
      ...["--no-check-update", "--analytics-disable", "--no-show-model-warnings", "--no-git", "--yes-always"],
      ...["--no-pretty", "--no-show-release-notes", "--map-tokens", "0"],
      ...["--model", prefix + model, "--message", "Say hello."],
    ],
    env: base(url),
  }),
});

export const CLIENTS: readonly JudgedClient[] = [
  sdk("OpenAI SDK, JavaScript", CHAT, "openai@7.55.0", "openai"),
  python("OpenAI SDK, Python", CHAT, "openai", "openai"),
  python("LangChain, `langchain-openai`", CHAT, "langchain-openai", "langchain_openai"),
  python("LiteLLM, `openai/…`", CHAT, "litellm", "litellm_openai", "litellm"),
  aider("aider, `openai/…`", CHAT, "openai/", (url) => ({
    OPENAI_API_BASE: `${url}/v1`,
    OPENAI_API_KEY: KEY,
  })),
  {
    name: "Codex",
    format: CHAT,
    environment: "npm",
    // Later versions have no chat-completions.
    package: "@openai/codex@0.92.0",
    run: ({ folder, url, model }) => ({
      command: [
        join(folder, "node_modules/.bin/codex"),
        ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Say hello."],
      ],
      env: { CODEX_KEY: KEY },
      files: {
        ".codex/config.toml": [
          `model = "${model}"`,
          'model_provider = "weir"',
          "check_for_update_on_startup = false",
          "[model_providers.weir]",
          'name = "weir"',
          `base_url = "${url}/v1"`,
          'wire_api = "chat"',
          'env_key = "CODEX_KEY"',
          "[analytics]",
          "enabled = false",
        ].join("\n"),
      },
    }),
  },
  {
    name: "Qwen Code",
    format: CHAT,
    environment: "npm",
    // The last version for Node.js 20.
    package: "@qwen-code/qwen-code@0.15.10",
    run: ({ folder, url, model }) => ({
      command: [join(folder, "node_modules/.bin/qwen"), "-p", "Say hello.", "--yolo"],
      env: {
        OPENAI_BASE_URL: `${url}/v1`,
        OPENAI_API_KEY: KEY,
        OPENAI_MODEL: model,
        // It sends calls to loopback through a proxy too.
        HTTP_PROXY: "",
        HTTPS_PROXY: "",
      },
      files: {
        ".qwen/settings.json": JSON.stringify({
          security: { auth: { selectedType: "openai" } },
          privacy: { usageStatisticsEnabled: false },
        }),
      },
    }),
  },
  sdk("Anthropic SDK, JavaScript", MESSAGES, "@anthropic-ai/sdk@1.12.0", "anthropic"),
  python("Anthropic SDK, Python", MESSAGES, "anthropic", "anthropic"),
  python("LangChain, `langchain-anthropic`", MESSAGES, "langchain-anthropic", "langchain_anthropic"),
  python("LiteLLM, `anthropic/…`", MESSAGES, "litellm", "litellm_anthropic", "litellm"),
  aider("aider, `anthropic/…`", MESSAGES, "anthropic/", (url) => ({
    ANTHROPIC_API_BASE: url,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: KEY,
  })),
];
