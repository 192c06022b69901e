/** Traits of a provider in the config: which are accepted, which precede which, and which requests they change. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assemble } from "../../src/run/assemble.ts";
import { loadConfig } from "../../src/config/load.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-traits-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HOST = { baseUrl: "http://127.0.0.1:1/v1", speaks: "chat-completions", models: ["a", "b"] };

function load(options: Record<string, unknown>) {
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify({ providers: { acme: { ...HOST, ...options } } }));
  return loadConfig({ env: {}, cwd: folder }).config;
}

async function targetOf(model: string, options: Record<string, unknown>) {
  const { registry } = await assemble(load(options), {});
  const { traits, provider, fitsNative } = registry.resolve(model, "chat-completions");
  return { traits: traits ?? provider.traits, fitsNative };
}

const BROKEN: [string, Record<string, unknown>, RegExp][] = [
  ["a wrong name", { traits: { imagse: false } }, /imagse.*did you mean images/],
  ["a wrong kind", { traits: { images: "no" } }, /images must be true or false/],
  ["a wrong word", { traits: { jsonSchema: "strict" } }, /jsonSchema must be/],
  ["a wrong name for a model", { modelTraits: [{ models: ["a"], traits: { stops: 1 } }] }, /stops/],
  ["no model", { modelTraits: [{ models: [], traits: { images: false } }] }, /a list of at least one model/],
  [
    "the name of the output limit, which has an option of its own",
    { traits: { maxTokensField: "max_tokens" } },
    /maxTokensField/,
  ],
];

test.each(BROKEN)("%s stops the start", (_what, options, message) => {
  expect(() => load(options)).toThrow(message);
});

test("traits hold for all models, and those of a model precede them", async () => {
  const options = {
    traits: { images: false, n: false },
    modelTraits: [{ models: ["b*"], traits: { images: true } }],
  };
  expect(await targetOf("acme/a", options)).toEqual({
    traits: { images: false, n: false },
    fitsNative: true,
  });
  expect(await targetOf("acme/b", options)).toEqual({ traits: { images: true, n: false }, fitsNative: true });
});

test("traits of some models leave the requests for others as they are", async () => {
  const options = { modelTraits: [{ models: ["b"], traits: { images: false } }] };
  expect(await targetOf("acme/b", options)).toEqual({ traits: { images: false }, fitsNative: true });
  expect(await targetOf("acme/a", options)).toEqual({ traits: undefined, fitsNative: undefined });
});

test("traits of the config precede those of a plugin", async () => {
  const deepseek = { apiKey: "sk-none-0123456789", traits: { images: true } };
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify({ providers: { deepseek } }));
  const { config } = loadConfig({ env: {}, cwd: folder });
  const { registry } = await assemble(config, {});
  const { provider } = registry.resolve("deepseek/deepseek-chat", "chat-completions");
  expect(provider.traits).toMatchObject({ images: true, jsonSchema: "json-object" });
});
