/** References in a config: what is refused, what is shown, and what a start says. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../../../test/helpers/command.ts";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { newReferences, SECTIONS } from "../../../../test/helpers/features.ts";
import { declaredBy } from "../../../config/declared.ts";
import { loadConfig, readConfig } from "../../../config/load.ts";
import { Secret } from "../../../core/secret.ts";
import { type FakeVault, ROOT_TOKEN, startVault } from "./fake-vault.ts";

setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "weir-secrets-"));
let vault: FakeVault;
beforeAll(() => {
  vault = startVault();
  vault.put("llm", { openai: "planted-value-of-openai", nested: { deep: ["planted-deep-value"] } });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await vault.stop();
});

const env = { VAULT_TOKEN: ROOT_TOKEN };
const write = (config: unknown) => writeFileSync(join(folder, "weir.yaml"), JSON.stringify(config));
const options = () => ({
  env: { ...env, VAULT_ADDR: vault.url },
  cwd: folder,
  sections: SECTIONS,
  references: newReferences(),
});

function read(config: unknown) {
  write(config);
  return readConfig(options());
}

const withKey = (apiKey: string, more: object = {}) => ({ providers: { openai: { apiKey, ...more } } });

async function faultOf(config: unknown): Promise<string> {
  return read(config).then(
    () => "none",
    (cause: Error) => cause.message,
  );
}

test("a secret of a store, and a member of a member", async () => {
  const { config } = await read(withKey("${vault:secret/data/llm#openai}"));
  expect(config.providers["openai"]!.apiKey!.reveal()).toBe("planted-value-of-openai");
  const deep = await read(withKey("${vault:secret/data/llm#/nested/deep/0}"));
  expect(deep.config.providers["openai"]!.apiKey!.reveal()).toBe("planted-deep-value");
});

test("a text beside references is part of the value, and is masked where the value is shown", async () => {
  const { config } = await read({
    providers: { openai: { headers: { "x-one": "a-b ${vault:secret/data/llm#openai}" } } },
  });
  const header = config.providers["openai"]!.headers!["x-one"]!;
  expect(header.reveal()).toBe("a-b planted-value-of-openai");
  expect(JSON.stringify({ header })).toBe('{"header":"***${vault:secret/data/llm#openai}"}');
});

test("all references that cannot be read are named, each with what is missing and nothing of the value", async () => {
  const message = await faultOf({
    providers: {
      openai: { apiKey: "${vault:secret/data/llm#absent}" },
      anthropic: { apiKey: "${vault:secret/data/llm#/nested/deep/7}" },
      mistral: { apiKey: "${vault:secret/data/none#x}" },
      groq: { apiKey: "${vault:secret/data/llm}" },
      xai: { apiKey: "${vault:secret/data/llm#nested}" },
      deepseek: { apiKey: "${exec:sh -c 'echo planted-output; echo planted-error >&2; exit 3'}" },
    },
  });
  expect(message.split("\n")).toEqual([
    "weir.yaml:1: the secret ${vault:secret/data/llm#absent} has no member absent",
    "weir.yaml:1: the secret ${vault:secret/data/llm#/nested/deep/7} has no member /nested/deep/7",
    "weir.yaml:1: the secret ${vault:secret/data/none#x} cannot be read: Vault has no secret there",
    "weir.yaml:1: the secret ${vault:secret/data/llm} needs the name of a member, behind #",
    "weir.yaml:1: the secret ${vault:secret/data/llm#nested} has a member nested that is no text",
    "weir.yaml:1: the secret ${exec:sh -c 'echo planted-output; echo planted-error >&2; exit 3'} cannot be read: the program ended with 3: planted-error",
  ]);
});

test("references stand in the place of secrets, and name a store that this build has", async () => {
  expect(await faultOf({ log: { format: "${vault:a/b#c}" } })).toContain(
    "${vault:} is allowed only for secrets: an apiKey, a gateway key or a header (at log.format)",
  );
  expect(await faultOf(withKey("${valt:a/b#c}"))).toContain(
    "weir knows no reference ${valt:}, only ${NAME} and ${file:}, ${exec:}, ${vault:}",
  );
  expect(await faultOf(withKey("${vault:}"))).toContain("must be followed by the place of a secret and }");
});

test("what a secret must be is checked of its value", async () => {
  vault.put("odd", { key: "two words", line: "a\nb" });
  const message = await faultOf(withKey("${vault:secret/data/odd#line}"));
  expect(message).toContain("apiKey");
  expect(message).not.toContain("a\nb");
});

test("a store that hangs: the start ends after ten seconds at most, with a sentence", async () => {
  vault.delayMs = 30_000;
  const began = performance.now();
  const message = await faultOf(withKey("${vault:secret/data/llm#openai}"));
  vault.delayMs = 0;
  expect(message).toBe(
    "weir.yaml:1: the secret ${vault:secret/data/llm#openai} cannot be read: Vault did not answer in time",
  );
  expect(performance.now() - began).toBeLessThan(12_000);
}, 20_000);

test("a provider that is optional is off without its secret", async () => {
  write(withKey("${vault:secret/data/none#x}", { optional: true, models: ["gpt-*"] }));
  const own = options();
  const { config } = await readConfig(own);
  expect(config.providers["openai"]).toMatchObject({ enabled: false, models: ["gpt-*"] });
  expect([...own.references.off.values()]).toEqual([
    "the secret ${vault:secret/data/none#x} cannot be read: Vault has no secret there",
  ]);
});

test("a config that is only looked at asks no store, and shows references", async () => {
  write({
    ...withKey("${vault:secret/data/llm#openai}"),
    alerts: [{ to: "${vault:secret/data/llm#hook}" }],
    identity: { scim: { token: "${vault:secret/data/llm#scim}" } },
  });
  const before = vault.asked.length;
  const { config } = loadConfig(options());
  expect(vault.asked.length).toBe(before);
  expect(JSON.stringify(config.providers)).toContain('"apiKey":"${vault:secret/data/llm#openai}"');
});

test("weir check and weir config show name references, not values; a start that fails exits with 1", async () => {
  write(withKey("${vault:secret/data/llm#openai}"));
  const own = { cwd: folder, env: environmentIn(folder, { ...env, VAULT_ADDR: vault.url }) };
  const shown = await runCommand(["config", "show", "--json"], own);
  expect(shown.out).toContain("${vault:secret/data/llm#openai}");
  const checked = await runCommand(["check", "--offline"], own);
  expect(checked.code).toBe(0);
  for (const { out, err } of [shown, checked]) expect(out + err).not.toContain("planted");
  write(withKey("${vault:secret/data/llm#absent}"));
  const failed = await runCommand(["serve", "--port", "0"], own);
  expect(failed.code).toBe(1);
  expect(failed.err).toContain("the secret ${vault:secret/data/llm#absent} has no member absent");
  expect((await runCommand(["check"], own)).code).toBe(1);
});

test("a key of clients that was rotated twice: the one before is valid for a minute, and no other", async () => {
  write({ keys: [{ name: "app", key: "${vault:secret/data/client#key}" }] });
  vault.put("client", { key: "key-of-a-client-0001" });
  const own = options();
  expect((await readConfig(own)).config.keys[0]).not.toHaveProperty("previous");
  for (const value of ["key-of-a-client-0002", "key-of-a-client-0003"])
    own.references.set("vault:secret/data/client#key", value);
  const began = Date.now();
  const { config } = await readConfig(own);
  const [key] = declaredBy(config).keys;
  const digest = (text: string) => new Secret(text).digest();
  expect(key!.digests.map(({ sha256 }) => sha256)).toEqual([
    digest("key-of-a-client-0003"),
    digest("key-of-a-client-0002"),
  ]);
  expect(key!.digests[1]!.until! - began).toBeWithin(59_000, 60_001);
  expect(key!.scopes).toEqual({});
});
