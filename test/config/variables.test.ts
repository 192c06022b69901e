/** Variables and credentials of providers: from the config, else from the environment. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assemble } from "../../src/run/assemble.ts";
import { loadConfig } from "../../src/config/load.ts";
import { providerSettings } from "../../src/config/providers.ts";
import type { Provider } from "../../src/core/provider.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-variables-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const acme: Provider = {
  name: "acme",
  baseUrl: "https://{region}.acme.example",
  variables: { region: { env: ["ACME_REGION", "REGION"], describe: "the region" } },
  speaks: { "chat-completions": "/chat" },
  credentials: [["ACME_ID", "ACME_SECRET"]],
  authorize: () => ({}),
};

type Env = Record<string, string>;

function configOf(yaml: string, env: Env = {}) {
  writeFileSync(join(folder, "weir.yaml"), yaml);
  return loadConfig({ env, cwd: folder }).config;
}

const settingsOf = (yaml: string, env: Env = {}) => providerSettings(configOf(yaml, env), env, acme, {});

test("the first environment variable that is set counts, and the config overrides it", () => {
  const env = { ACME_REGION: " ", REGION: " eu " };
  expect(settingsOf("{}", env).variables).toEqual({ region: "eu" });
  expect(settingsOf("providers: {acme: {variables: {region: us}}}", env).variables).toEqual({ region: "us" });
});

test("credentials are read by name, from the config first, and masked when printed", () => {
  const env = { ACME_ID: "id-of-env", ACME_SECRET: "secret-of-env", MINE: "-----BEGIN KEY-----\nx y\n" };
  const { secrets } = settingsOf("providers: {acme: {secrets: {ACME_SECRET: '${MINE}'}}}", env);
  expect(secrets!["ACME_ID"]!.reveal()).toBe("id-of-env");
  expect(secrets!["ACME_SECRET"]!.reveal()).toContain("BEGIN KEY");
  expect(JSON.stringify(secrets)).toBe('{"ACME_ID":"***","ACME_SECRET":"***"}');
});

test("a name that the provider does not have is an error that names the known ones", () => {
  const faultOf = (yaml: string) => () => settingsOf(yaml);
  expect(faultOf("providers: {acme: {variables: {regoin: us}}}")).toThrow(
    "the provider has no variable named regoin, did you mean region?",
  );
  expect(faultOf("providers: {acme: {deployments: [{name: a, secrets: {ACME_KEY: xxxxxxxx}}]}}")).toThrow(
    "the provider has no credential named ACME_KEY; it has ACME_ID, ACME_SECRET",
  );
});

test("a variable that leads to weir itself makes no provider of it", async () => {
  const isOn = async (host: string, yaml = "port: 9347") => {
    const env = { OLLAMA_HOST: host };
    const { registry } = await assemble(configOf(yaml, env), env);
    return registry.providers.some(({ name }) => name === "ollama");
  };
  for (const own of ["127.0.0.1:9347", "http://localhost:9347/", ":9347", "0.0.0.0:9347"])
    expect([own, await isOn(own)]).toEqual([own, false]);
  expect(await isOn("[::1]:9000", "{port: 9000, host: '::1'}")).toBe(false);
  for (const other of ["127.0.0.1", "127.0.0.1:9348", "http://10.0.0.1:9347"])
    expect([other, await isOn(other)]).toEqual([other, true]);
});

test("a provider of the config alone has the variables of its paths", async () => {
  const yaml = `providers:
  acme:
    baseUrl: https://acme.example/openai
    apiKey: not-a-real-key
    variables: {version: 2026-01}
    speaks:
      chat-completions: /deployments/{model}/chat/completions?api-version={version}
`;
  const { registry } = await assemble(configOf(yaml), {});
  expect(registry.resolve("acme/gpt", "chat-completions").url).toBe(
    "https://acme.example/openai/deployments/gpt/chat/completions?api-version=2026-01",
  );
  const without = configOf(yaml.replace("variables: {version: 2026-01}", ""));
  await expect(assemble(without, {})).rejects.toThrow("holds the unknown placeholder {version}");
});

test("a path of the config may hold variables, and streams may have their own", async () => {
  const yaml = `providers:
  acme:
    baseUrl: https://acme.example
    secrets: {}
    variables: {zone: "a b"}
    speaks:
      chat-completions: {json: "/{zone}/{model}", stream: "/{zone}/{model}/stream"}
`;
  const { registry } = await assemble(configOf(yaml), {});
  const { url, streamUrl } = registry.resolve("acme/m", "chat-completions");
  expect([url, streamUrl]).toEqual(["https://acme.example/a%20b/m", "https://acme.example/a%20b/m/stream"]);
});

test("a credential may be read from a file", () => {
  writeFileSync(join(folder, "secret"), "from-a-file\n");
  const { secrets } = settingsOf("providers: {acme: {secrets: {ACME_SECRET: '${file:secret}'}}}");
  expect(secrets!["ACME_SECRET"]!.reveal()).toBe("from-a-file");
});
