/** The schema that editors get, judged by a validator, and the commented example. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kind, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { editorSchema, exampleConfig } from "../../src/config/editor.ts";
import { loadConfig } from "../../src/config/load.ts";
import { OPTIONS, SECTIONS } from "../helpers/features.ts";

/** The keywords of draft 07 that the schema uses; an editor does not know any others. */
const KEYWORDS = new Set(
  "$schema title description default examples type const anyOf properties patternProperties additionalProperties required propertyNames items minItems maxItems uniqueItems minimum maximum pattern minLength writeOnly".split(
    " ",
  ),
);

/** Plain JSON schema as the validator takes it: each part is marked with its kind. */
function marked(schema: Record<string, unknown>): TSchema {
  for (const keyword of Object.keys(schema)) expect(KEYWORDS).toContain(keyword);
  const each = (members: unknown) =>
    Object.fromEntries(
      Object.entries(members as Record<string, Record<string, unknown>>).map(([name, member]) => [
        name,
        marked(member),
      ]),
    );
  const { type, anyOf, patternProperties, properties, items } = schema;
  const names = {
    object: "Object",
    array: "Array",
    string: "String",
    integer: "Integer",
    boolean: "Boolean",
    number: "Number",
  };
  const kind = anyOf
    ? "Union"
    : "const" in schema
      ? "Literal"
      : patternProperties
        ? "Record"
        : names[type as keyof typeof names];
  expect([schema, kind]).toEqual([schema, expect.any(String)]);
  return {
    ...schema,
    [Kind]: kind,
    ...(anyOf !== undefined && { anyOf: (anyOf as Record<string, unknown>[]).map(marked) }),
    ...(properties !== undefined && { properties: each(properties) }),
    ...(patternProperties !== undefined && { patternProperties: each(patternProperties) }),
    ...(items !== undefined && { items: marked(items as Record<string, unknown>) }),
    // An empty list of required members, where there is none.
    ...(kind === "Object" && { required: schema["required"] ?? [] }),
  } as unknown as TSchema;
}

/** What an editor is given: the text of the schema, read again. */
const schema = marked(JSON.parse(JSON.stringify(editorSchema(OPTIONS))) as Record<string, unknown>);

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-editor-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(text: string, env: Record<string, string> = {}) {
  writeFileSync(join(folder, "weir.yaml"), text);
  return loadConfig({ env, cwd: folder, sections: SECTIONS });
}

test("the schema allows a variable where weir replaces it", () => {
  const env = {
    PORT: "9000",
    YES: "true",
    WORD: "json",
    KEY: "a-key-that-is-long",
    NUMBER: "7",
    HOST: "127.0.0.2",
  };
  const written = {
    port: "${PORT}",
    host: "${HOST}",
    strict: "${YES}",
    log: { format: "${WORD}", level: "${LEVEL:-warn}" },
    limits: { calls: "${NUMBER}" },
    keys: ["alice:${KEY}", { name: "bob", key: "${KEY}-of-bob" }],
    providers: {
      openai: {
        enabled: "${YES}",
        apiKey: "${KEY}",
        concurrency: "${NUMBER}",
        timeouts: { gapMs: "${NUMBER}" },
        deployments: [{ name: "eu", weight: "${NUMBER}", baseUrl: "http://${HOST}:1/v1" }],
      },
    },
  };
  expect([...Value.Errors(schema, written)]).toEqual([]);
  const { config } = load(JSON.stringify(written), env);
  expect(config).toMatchObject({ port: 9000, strict: true, log: { format: "json", level: "warn" } });
});

test("the schema says of a file what weir says of it", () => {
  const rows: [file: Record<string, unknown>, valid: boolean][] = [
    [{}, true],
    [{ port: 9000, workers: 1, graceMs: 5 }, true],
    [{ port: "abc" }, false],
    [{ port: 70_000 }, false],
    [{ prot: 1 }, false],
    [{ strict: "yes" }, false],
    [{ log: { format: "xml" } }, false],
    [{ log: { formt: "json" } }, false],
    [{ providers: { openai: { apiKey: "k", baseUrl: "http://127.0.0.1:1/v1" } } }, true],
    [{ providers: { openai: { apikey: "k" } } }, false],
    [{ providers: { openai: { models: "gpt-*" } } }, false],
    [
      { aliases: { fast: "mock/chat" }, routes: { smart: ["mock/chat", { model: "mock/echo", weight: 2 }] } },
      true,
    ],
    [{ routes: { smart: [] } }, false],
    [{ fallbacks: { "gpt-*": [{ model: "mock/chat", when: "too-long" }] } }, true],
    [{ fallbacks: { "gpt-*": [{ model: "mock/chat", when: "never" }] } }, false],
    [{ keys: "secret" }, false],
    [{ plugins: { allow: ["zz"] } }, false],
    [{ timeouts: { gapMs: 0 } }, false],
  ];
  for (const [file, valid] of rows) {
    expect([file, Value.Check(schema, file)]).toEqual([file, valid]);
    const text = JSON.stringify(file);
    if (valid) expect(() => load(text)).not.toThrow();
    else expect(() => load(text)).toThrow();
  }
});

test("the example names every option, and its first line names the schema for the YAML language server", () => {
  const text = exampleConfig("weir.schema.json", OPTIONS);
  expect(text).toStartWith("# yaml-language-server: $schema=weir.schema.json\n");
  for (const { path } of OPTIONS.list) expect(text).toMatch(new RegExp(`^# *\\(?${path.at(-1)}[:)]`, "m"));
  for (const line of text.split("\n")) expect(line.length).toBeLessThan(121);
});

test("the example loads as it is, and with every option put in force", () => {
  const text = exampleConfig("weir.schema.json", OPTIONS);
  expect(load(text).config).toEqual(load("").config);
  const inForce = text.replace(/^#(?=\S| {2})/gm, "");
  expect([...Value.Errors(schema, Bun.YAML.parse(inForce))]).toEqual([]);
  const env = {
    OPENAI_API_KEY: "k",
    WEIR_KEY_OF_ALICE: "a-key-of-alice",
    COLLECTOR_TOKEN: "t",
    WEIR_ALERT_SECRET: "s",
    WEIR_BATCH_SECRET: "s",
  };
  rmSync(join(folder, "plugins"), { recursive: true, force: true });
  // Files and folders that it names are not there.
  const found = inForce
    .replace(/^ +dir: plugins$|^ +(cert|key): \S+\.pem$|^ +- conf\.d\/.*$/gm, "")
    .replace(/^tls:$/m, "tls: {}")
    .replace(/^include:$/m, "include: []");
  const { config } = load(found, env);
  expect(config).toMatchObject({
    keys: [{ name: "alice" }],
    aliases: { fast: "openai/gpt-5.4-nano" },
    port: 9347,
  });
});
