/** The mock answers in the name of a vendor on a first start only: as soon as something is configured, a missing key is an error. */
import { afterEach, expect, test } from "bun:test";
import type { RunningGateway } from "../helpers/gateway.ts";
import { startGateway, type GatewayOptions } from "../helpers/gateway.ts";

let running: RunningGateway | undefined;

afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const KEY = "key-of-alice-0123456789";

async function ask(options: GatewayOptions, model: string, path = "chat/completions") {
  running = await startGateway(options);
  const body =
    path === "embeddings" ? { input: "hi" } : { messages: [{ role: "user", content: "hi" }], max_tokens: 9 };
  const response = await fetch(`${running.url}/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model, ...body }),
  });
  const text = await response.text();
  const warnings = response.headers.get("x-weir-warnings");
  await running.stop();
  return { status: response.status, text, warnings, log: running.log.join("\n") };
}

test("on a first start the mock answers for every known vendor", async () => {
  const { status, warnings, log } = await ask({}, "claude-opus-4-6", "messages");
  expect([status, warnings]).toEqual([200, "substituted:model"]);
  expect(log).not.toContain("is off");
});

const configured: [
  what: string,
  options: GatewayOptions,
  model: string,
  variable: string,
  isSaid: boolean,
][] = [
  ["a provider", { config: { providers: { openrouter: {} } } }, "openrouter/x", "OPENROUTER_API_KEY", true],
  ["another provider", { config: { providers: { openrouter: {} } } }, "gpt-5.4", "OPENAI_API_KEY", true],
  [
    "an alias",
    { config: { aliases: { support: "openrouter/anthropic/claude-sonnet-4.5" } } },
    "support",
    "OPENROUTER_API_KEY",
    false,
  ],
  ["a route", { config: { routes: { smart: ["openai/gpt-5.4"] } } }, "smart", "OPENAI_API_KEY", false],
  ["a fallback", { config: { fallbacks: { "gpt-*": ["mock/chat"] } } }, "gpt-5.4", "OPENAI_API_KEY", false],
  ["a key", { config: { keys: [{ name: "alice", key: KEY }] } }, "gpt-5.4", "OPENAI_API_KEY", false],
  ["a key of the environment", { env: { WEIR_API_KEYS: `app:${KEY}` } }, "gpt-5.4", "OPENAI_API_KEY", false],
  ["half of a credential", { env: { AZURE_API_KEY: "k" } }, "gpt-5.4", "OPENAI_API_KEY", true],
  [
    "a plugin file",
    {
      plugins: {
        "acme.ts": `import { definePlugin, chatCompletions } from "weir";
export default definePlugin({ name: "acme", providers: [chatCompletions({ name: "acme", models: ["acme-*"], baseUrl: "https://acme.example/v1", apiKey: "ACME_API_KEY" })] });`,
      },
    },
    "acme-1",
    "ACME_API_KEY",
    true,
  ],
];
for (const [what, options, model, variable, isSaid] of configured)
  test(`${what} ends that: the refusal names the variable`, async () => {
    const { status, text, log } = await ask(options, model);
    expect(status).toBe(404);
    expect(text).toContain(`which is off: set ${variable}`);
    if (isSaid) expect(log).toMatch(/provider [a-z]+ is off: /);
  });

test("the log names each configured provider that is off once, and no other", async () => {
  const providers = { openrouter: {}, groq: {}, mistral: { enabled: false } };
  const { log } = await ask({ config: { providers } }, "mock/chat");
  expect(log.match(/provider [a-z]+ is off: set [A-Z_]+/g)).toEqual([
    expect.stringContaining("provider "),
    expect.stringContaining("provider "),
  ]);
  expect(log).toContain("provider openrouter is off: set OPENROUTER_API_KEY");
  expect(log).toContain("provider groq is off: set GROQ_API_KEY");
});

test("embeddings are refused too", async () => {
  const { status, text } = await ask(
    { config: { providers: { openai: {} } } },
    "text-embedding-3-small",
    "embeddings",
  );
  expect([status, text]).toEqual([404, expect.stringContaining("set OPENAI_API_KEY")]);
});

test("a model that is asked for as mock/…, or by an alias of one, always answers", async () => {
  const config = { providers: { openrouter: {} }, aliases: { demo: "mock/chat" } };
  for (const model of ["mock/chat", "demo"]) {
    const { status, warnings } = await ask({ config }, model);
    expect([status, warnings]).toEqual([200, null]);
  }
});
