import type { Aim, KnownClient } from "./client.ts";

const EXTENSION = "weir.js";

/**
 * pi reads addresses from files of its settings folder, and from extensions, which add to them.
 * https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/custom-provider.md
 */
export const pi: KnownClient = {
  name: "pi",
  commands: ["pi"],
  packages: ["@mariozechner/pi-coding-agent", "@earendil-works/pi-coding-agent"],
  args: ({ folder, model }) => [
    ...["--extension", `${folder}/${EXTENSION}`],
    ...(model === undefined ? [] : ["--provider", "weir", "--model", model]),
  ],
  files: (aim) => ({ [EXTENSION]: extensionFor(aim) }),
};

/** `apiKey` is the name of a variable. */
function extensionFor({ url, model }: Aim): string {
  const providers = {
    anthropic: { baseUrl: url },
    openai: { baseUrl: `${url}/v1` },
    google: { baseUrl: `${url}/v1beta` },
    ...(model !== undefined && {
      weir: {
        baseUrl: `${url}/v1`,
        apiKey: "WEIR_API_KEY",
        api: "openai-completions",
        models: [modelOf(model)],
      },
    }),
  };
  return `const providers = ${JSON.stringify(providers, null, 2)};
export default function (pi) {
  for (const [name, provider] of Object.entries(providers)) pi.registerProvider(name, provider);
}
`;
}

/** pi requires all of these. What a call costs is in the books of weir. */
function modelOf(id: string): Record<string, unknown> {
  return {
    id,
    name: id,
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 128_000,
    maxTokens: 32_000,
  };
}
