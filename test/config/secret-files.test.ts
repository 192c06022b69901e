/** Secrets from files, as containers hand them over: `${file:/run/secrets/openai}`. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../src/config/error.ts";
import { loadConfig } from "../../src/config/load.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, "secrets"));

const CANARY = "sk-canary-0123456789";

function secret(name: string, content: string | Uint8Array): string {
  const path = join(folder, "secrets", name);
  writeFileSync(path, content);
  return path;
}

function load(yaml: string) {
  writeFileSync(join(folder, "weir.yaml"), yaml);
  return loadConfig({ env: { file: "variable" }, cwd: folder }).config;
}

function refusal(yaml: string): string {
  try {
    load(yaml);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return "the config was loaded";
}

const openai = (apiKey: string) => `providers:\n  openai:\n    apiKey: ${apiKey}\n`;

test("credentials, gateway keys and headers come from files, without the line end behind them", () => {
  const path = secret("key", `${CANARY}\n`);
  const config = load(
    `${openai(`\${file:${path}}`)}    headers:\n      x-team: Team \${file:secrets/key}\nkeys:\n  - { name: alice, key: "\${file:${path}}" }\n`,
  );
  expect(config.providers["openai"]?.apiKey?.reveal()).toBe(CANARY);
  expect(config.providers["openai"]?.headers?.["x-team"]?.reveal()).toBe(`Team ${CANARY}`);
  expect(config.keys).toEqual([
    { name: "alice", sha256: new Bun.CryptoHasher("sha256").update(CANARY).digest("hex") },
  ]);
  expect(JSON.stringify(config) + Bun.inspect(config)).not.toContain("canary");
  secret("key", `${CANARY}-2\r\n`);
  expect(load(openai(`\${file:${path}}`)).providers["openai"]?.apiKey?.reveal()).toBe(`${CANARY}-2`);
});

test("a secret file that is missing, empty, a folder or no text stops the start with a sentence", () => {
  const at = "(at providers.openai.apiKey).";
  const say = (file: string) => refusal(openai(`\${file:${file}}`));
  expect(say("/run/secrets/none")).toBe(
    `weir.yaml:3: the secret file /run/secrets/none cannot be read (there is no such file) ${at}`,
  );
  expect(say("secrets")).toBe(`weir.yaml:3: the secret file secrets cannot be read (it is a folder) ${at}`);
  expect(say(secret("empty", "\n"))).toContain("is empty (at");
  expect(say(secret("bytes", new Uint8Array([0xff, 0xfe, 0x00])))).toContain("is not UTF-8 text");
  expect(say("")).toBe(`weir.yaml:3: \${file: must be followed by a file path and } ${at}`);
});

test("the content of a secret file is never in a message", () => {
  const path = secret("odd", `${CANARY}\nsecond line\n`);
  for (const yaml of [
    openai(`\${file:${path}}`),
    `port: \${file:${path}}\n`,
    `keys:\n  - { name: "\${file:${path}}", key: k1234567890123456 }\n`,
    `aliases:\n  a: \${file:${path}}\n`,
    `log: \${file:${path}}\n`,
    `keys:\n  - { name: a, sha256: "\${file:${path}}" }\n`,
    `keys: \${file:${path}}\n`,
  ]) {
    const message = refusal(yaml);
    expect(message).toStartWith("weir.yaml:");
    expect(message).not.toContain("canary");
  }
  expect(refusal(`port: \${file:${path}}\n`)).toBe(
    "weir.yaml:1: ${file:} is allowed only for secrets: an apiKey, a gateway key or a header (at port).",
  );
});

test("a variable called file is a variable", () => {
  expect(load(openai("${file}")).providers["openai"]?.apiKey?.reveal()).toBe("variable");
  expect(load(openai("${file:-other}")).providers["openai"]?.apiKey?.reveal()).toBe("variable");
});
