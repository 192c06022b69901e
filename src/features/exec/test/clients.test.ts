/** How each known client is pointed at a gateway. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CLIENTS, pointClient } from "../../../cli/clients/index.ts";

const GATEWAY = { url: "http://127.0.0.1:9347", key: "the-key" };
const MODEL = "ollama/qwen3";

function point(command: string[], model?: string, env: Record<string, string> = {}) {
  const pointed = pointClient(command, { ...GATEWAY, model }, env);
  const files = [...pointed.command, ...Object.values(pointed.env)].filter(
    (word) => existsSync(word) && statSync(word).isFile(),
  );
  const texts = files.map((file) => readFileSync(file, "utf8"));
  const modes = files.map((file) => statSync(file).mode & 0o777);
  pointed.cleanup();
  return { ...pointed, files, texts, modes };
}

test.each(CLIENTS.map((client) => [client.name, client] as const))(
  "%s is found by its command and by its packages, and gets the address of the gateway and the model",
  (name, client) => {
    for (const word of [...client.commands, ...client.packages]) {
      const { client: found, command, env, texts } = point([word, "last"], MODEL);
      expect(found?.name).toBe(name);
      expect([command[0], command.at(-1)]).toEqual([word, "last"]);
      const said = [...command, ...texts, ...Object.entries(env).map((entry) => entry.join("="))].join("\n");
      expect(said).toContain(GATEWAY.url);
      expect(said).toContain(MODEL);
    }
  },
);

test.each(CLIENTS.map((client) => [client.name, client] as const))(
  "%s keeps its model where none is named",
  (_, client) => {
    const { command, env, texts } = point([...client.commands, "last"]);
    const said = [...command, ...texts, ...Object.entries(env).map((entry) => entry.join("="))].join("\n");
    expect(said).not.toContain("undefined");
    expect(said).not.toMatch(/MODEL=|"model"|--model|model=/);
  },
);

test("flags stand behind the name of the client, also behind programs that start it", () => {
  const flags = point(["codex"]).command.slice(1);
  for (const before of [
    ["codex"],
    ["/usr/local/bin/codex"],
    ["codex.exe"],
    ["npx", "-y", "@openai/codex@0.169.0"],
    ["bunx", "@openai/codex"],
    ["npx", "-p", "@openai/codex", "codex"],
    ["npm", "exec", "@openai/codex", "--"],
    ["pnpm", "dlx", "@openai/codex"],
    ["env", "A=b", "codex"],
    ["timeout", "60", "nice", "-n", "15", "codex"],
    ["node", "/opt/node_modules/@openai/codex/bin/codex.js"],
  ])
    expect(point([...before, "exec", "hello"]).command).toEqual([...before, ...flags, "exec", "hello"]);
});

test("a command that only mentions a client is none", () => {
  for (const command of [
    ["grep", "codex"],
    ["vim", "claude"],
    ["npx", "vitest", "codex"],
    ["./codex-test"],
    [],
  ])
    expect(point(command)).toMatchObject({ client: undefined, command });
});

test("an unknown command gets the variables of the SDKs, with the key of the gateway in place of the user's", () => {
  const { env } = point(["my-program"], undefined, {
    HOME: "/home/me",
    OPENAI_API_KEY: "sk-of-the-user",
    ANTHROPIC_AUTH_TOKEN: "sk-of-the-user",
    GEMINI_API_KEY: "sk-of-the-user",
    OPENAI_BASE_URL: "https://elsewhere.example",
    GROQ_API_KEY: "gsk-of-the-user",
  });
  expect(env).toMatchObject({
    HOME: "/home/me",
    OPENAI_BASE_URL: `${GATEWAY.url}/v1`,
    OPENAI_API_KEY: "the-key",
    ANTHROPIC_BASE_URL: GATEWAY.url,
    ANTHROPIC_API_KEY: "the-key",
    GEMINI_API_KEY: "the-key",
    OLLAMA_HOST: GATEWAY.url,
    WEIR_URL: GATEWAY.url,
    GROQ_API_KEY: "gsk-of-the-user",
  });
  expect(Object.values(env)).not.toContain("sk-of-the-user");
});

test("files for a client can be read by the user alone, and are deleted afterwards", () => {
  const { files, modes } = point(["pi"]);
  expect([files.length, modes]).toEqual([1, [0o600]]);
  expect(existsSync(files[0]!)).toBe(false);
});

test("opencode keeps what the user's own variable says", () => {
  const own = { theme: "mine", provider: { mine: { name: "Mine" } } };
  const { env } = point(["opencode"], MODEL, { OPENCODE_CONFIG_CONTENT: JSON.stringify(own) });
  expect(JSON.parse(env["OPENCODE_CONFIG_CONTENT"]!)).toMatchObject({
    ...own,
    model: `weir/${MODEL}`,
    provider: { mine: { name: "Mine" }, anthropic: { options: { baseURL: `${GATEWAY.url}/v1` } } },
  });
});

test("a proxy of the user is not in the way to a gateway on this machine", () => {
  const proxied = { http_proxy: "http://proxy.example:3128", NO_PROXY: "intern.example" };
  const list = "intern.example,127.0.0.1,localhost";
  expect(point(["my-program"], undefined, proxied).env).toMatchObject({ NO_PROXY: list, no_proxy: list });
  expect(point(["my-program"]).env).not.toHaveProperty("NO_PROXY");
});

test("Gemini CLI gets the login by key beside what the user's settings say, and keeps the rest of the folder", () => {
  const home = mkdtempSync(join(tmpdir(), "weir-home-"));
  mkdirSync(join(home, ".gemini"));
  const own = { theme: "mine", security: { auth: { selectedType: "oauth-personal" }, other: 1 } };
  writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(own));
  writeFileSync(join(home, ".gemini/GEMINI.md"), "remember");
  const { env, cleanup } = pointClient(["gemini"], GATEWAY, { HOME: home });
  const folder = join(env["GEMINI_CLI_HOME"]!, ".gemini");
  expect(JSON.parse(readFileSync(join(folder, "settings.json"), "utf8"))).toEqual({
    theme: "mine",
    security: { auth: { selectedType: "gemini-api-key" }, other: 1 },
  });
  expect(readFileSync(join(folder, "GEMINI.md"), "utf8")).toBe("remember");
  cleanup();
  expect(readFileSync(join(home, ".gemini/GEMINI.md"), "utf8")).toBe("remember");
  expect(JSON.parse(readFileSync(join(home, ".gemini/settings.json"), "utf8"))).toEqual(own);
  rmSync(home, { recursive: true });
});

test("Claude Code gets the same by settings, which stand above the variables in settings of the user", () => {
  const { texts, modes, env } = point(["claude"], MODEL, { CLAUDE_CODE_USE_BEDROCK: "1" });
  expect(JSON.parse(texts[0]!)).toMatchObject({
    env: {
      ANTHROPIC_BASE_URL: GATEWAY.url,
      ANTHROPIC_AUTH_TOKEN: "the-key",
      ANTHROPIC_API_KEY: "",
      ANTHROPIC_MODEL: MODEL,
      CLAUDE_CODE_USE_BEDROCK: "",
    },
  });
  expect(modes).toEqual([0o600]);
  expect(env).not.toHaveProperty("ANTHROPIC_API_KEY");
  expect(env).not.toHaveProperty("CLAUDE_CODE_USE_BEDROCK");
});
