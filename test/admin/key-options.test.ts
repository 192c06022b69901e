/** A planted option of keys: one declaration in a manifest, and config, admin API, commands, console and calls have it. */
import { Type } from "@sinclair/typebox";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApiDocument } from "../../src/admin/openapi.ts";
import { listOperations } from "../../src/admin/operations/index.ts";
import { commandsWith } from "../../src/cli/commands.ts";
import type { Context } from "../../src/cli/command.ts";
import { declaredBy } from "../../src/config/declared.ts";
import { loadConfig } from "../../src/config/load.ts";
import { optionsWith } from "../../src/config/schema.ts";
import { globMatches } from "../../src/core/glob.ts";
import { overviewOf } from "../../src/console/pages/keys/overview.ts";
import { scopeWords } from "../../src/console/pages/keys/key-words.ts";
import { additionsOf, type Feature, keyOptionsOf } from "../../src/feature/feature.ts";
import { compilePrincipal } from "../../src/ledger/keys/principal.ts";
import { keyOption } from "../../src/ledger/keys/option.ts";
import { KEY_OPTIONS } from "../../src/ledger/keys/options.ts";
import { OwnKey } from "../../src/ledger/worker/own-key.ts";
import type { Key } from "../../src/operator/keys.ts";
import { fakeAdmin } from "../helpers/admin.ts";
import { COLUMNS, FEATURES } from "../helpers/features.ts";

const mostTools = keyOption<number>({
  name: "mostTools",
  schema: Type.Integer({ minimum: 0, description: "Most calls of tools in one call." }),
  flag: {
    name: "--most-tools",
    value: "N",
    help: "most calls of tools in one call",
    read: (text) => {
      if (!/^\d+$/.test(text)) throw new Error(`requires a number; "${text}" is none`);
      return Number(text);
    },
  },
  label: "Most calls of tools",
  narrows: (own, maker) =>
    own !== undefined && own <= maker ? undefined : `mostTools must be at most ${maker}`,
  words: (most) => `at most ${most} calls of tools`,
});
/** How often it is compiled. */
let compiled = 0;
const onlyTools = keyOption({
  name: "onlyTools",
  schema: Type.Array(Type.String(), { description: "Patterns over the names of tools." }),
  flag: {
    name: "--only-tools",
    value: "PATTERNS",
    help: "tools that it may call",
    read: (text) => text.split(","),
  },
  label: "May call tools",
  compile(patterns: readonly string[]) {
    compiled++;
    return (name: string) => patterns.some((pattern) => globMatches(pattern, name));
  },
  narrows: (own, maker) =>
    own?.every((entry) => maker.some((outer) => globMatches(outer, entry)))
      ? undefined
      : `onlyTools must be within ${maker.join(", ")}`,
  words: (patterns) => `calls only ${patterns.join(", ")}`,
});
const tools: Feature = { name: "tools", keyOptions: [mostTools, onlyTools] };
const features = [...FEATURES, tools];
const options = [...KEY_OPTIONS, ...keyOptionsOf(features)];

const planted = () => fakeAdmin("127.0.0.1", COLUMNS, options);

function load(text: string, list: readonly Feature[] = features) {
  const folder = mkdtempSync(join(tmpdir(), "weir-options-"));
  try {
    writeFileSync(join(folder, "weir.yaml"), text);
    return loadConfig({ env: {}, cwd: folder, sections: additionsOf(list) }).config;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const YAML = "keys: [{ name: ci, key: weir-planted-key-000001, mostTools: 3, maxCost: 0.5, rpm: 5 }]";

test("the config has it, checks it, and calls read it by its typed key", () => {
  const [entry] = declaredBy(load(YAML)).keys;
  expect(entry!.scopes).toEqual({ mostTools: 3, maxCost: 500_000_000 });
  const found: number | undefined = mostTools.of(compilePrincipal(entry!));
  expect(found).toBe(3);
  expect(mostTools.of(undefined)).toBeUndefined();
  expect(() => load(YAML.replace("mostTools: 3", "mostTools: many"))).toThrow("mostTools");
  expect(() => load(YAML, FEATURES)).toThrow("mostTools");
  expect(JSON.stringify(optionsWith(additionsOf(features)).file)).toContain(
    "Most calls of tools in one call.",
  );
});

test("a list is compiled once for each version of a key, and narrows by its patterns", async () => {
  const text = YAML.replace("mostTools: 3", 'onlyTools: ["github_*"]');
  const access = compilePrincipal(declaredBy(load(text)).keys[0]!);
  compiled = 0;
  for (const [name, isPermitted] of [
    ["github_search", true],
    ["files_read", false],
  ] as const)
    expect(onlyTools.of(access)?.(name)).toBe(isPermitted);
  expect(compiled).toBe(1);
  expect(onlyTools.of(compilePrincipal(declaredBy(load(YAML)).keys[0]!))).toBeUndefined();

  const admin = planted();
  const key = admin.addKey("admin", "/eng", { scopes: { onlyTools: ["github_*"] } });
  const make = (name: string, ...names: string[]) =>
    admin.send("POST", "/admin/v1/keys", { key, body: { name, path: "/eng", scopes: { onlyTools: names } } });
  expect((await make("more", "github_search", "*")).body.error.message).toContain("must be within github_*");
  const { restrictions } = (await make("less", "github_search")).body.key;
  expect(restrictions).toEqual(["calls only github_search"]);
});

test("the admin API takes it, answers it in words, and refuses what a schema or a build without it refuses", async () => {
  const admin = planted();
  const make = (scopes: object) => admin.send("POST", "/admin/v1/keys", { body: { name: "ci", scopes } });
  expect((await make({ mostTools: "3" })).status).toBe(400);
  const made = await make({ mostTools: 3, maxTokens: 1_000 });
  expect([made.status, made.body.key.scopes]).toEqual([201, { mostTools: 3, maxTokens: 1_000 }]);
  expect(made.body.key.restrictions).toEqual([
    "at most 1,000 output tokens a call",
    "at most 3 calls of tools",
  ]);
  const path = `/admin/v1/keys/${made.body.key.id}`;
  const changed = await admin.send("PATCH", path, { body: { scopes: { mostTools: 2 } } });
  expect(changed.body.scopes).toEqual({ mostTools: 2 });
  const body = { name: "ci", scopes: { mostTools: 3 } };
  expect((await fakeAdmin().send("POST", "/admin/v1/keys", { body })).status).toBe(400);
  expect(JSON.stringify(openApiDocument(listOperations("0", COLUMNS, options), "0"))).toContain(
    '"mostTools"',
  );
});

test("a key below another one has at most its value, and inherits it", async () => {
  const admin = planted();
  const key = admin.addKey("admin", "/eng", { scopes: { mostTools: 3 } });
  const make = (name: string, scopes?: object) =>
    admin.send("POST", "/admin/v1/keys", { key, body: { name, path: "/eng/search", scopes } });
  const beyond = await make("more", { mostTools: 4 });
  expect([beyond.status, beyond.body.error]).toMatchObject([
    403,
    { code: "not_permitted", path: "/mostTools", message: expect.stringContaining("must be at most 3") },
  ]);
  expect((await make("less", { mostTools: 1 })).body.key.scopes).toEqual({ mostTools: 1 });
  expect((await make("same")).body.key.scopes).toEqual({ mostTools: 3 });
});

test("weir keys create and keys update have its flag, and --unset takes it away", async () => {
  const admin = planted();
  const front = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = (await request.text()) || undefined;
      const { status, text } = await admin.send(request.method, pathname + search, { body });
      return new Response(text, { status, headers: { "content-type": "application/json" } });
    },
  });
  const commands = commandsWith(features);
  const run = async (name: string, flags: Context["flags"]) => {
    const command = commands.find((one) => one.name === name)!;
    for (const flag of Object.keys(flags)) expect(command.flags.map((one) => one.name)).toContain(flag);
    return command.run({
      ...{ words: ["ci"], flags: { ...flags, "--url": front.url.origin }, cwd: "/" },
      ...{ env: { WEIR_ADMIN_KEY: "weir-admin" }, sections: [], columns: [], keyOptions: [] },
      ...{
        headers: [],
        tables: async () => [],
        operations: async () => [],
        keeperParts: async () => new Map(),
        ownPlugins: [],
        workers: [],
        checks: [],
        foresees: [],
        print: () => {},
        printError: () => {},
      },
    });
  };
  const scopes = async () => {
    const { body } = await admin.send("GET", "/admin/v1/keys");
    return (body.keys as Key[])[0]?.scopes;
  };
  try {
    await run("keys create", { "--most-tools": "3", "--no-server-tools": true });
    expect(await scopes()).toEqual({ mostTools: 3, serverTools: false } as never);
    await run("keys update", { "--most-tools": "2", "--unset": "server-tools" });
    expect(await scopes()).toEqual({ mostTools: 2 } as never);
    await run("keys update", { "--unset": "most-tools" });
    expect(await scopes()).toEqual({});
    expect(run("keys create", { "--most-tools": "x" })).rejects.toThrow(
      '--most-tools requires a number; "x" is',
    );
  } finally {
    await front.stop(true);
  }
});

test("the console has a field for it, and shows it in words", async () => {
  const admin = planted();
  admin.addKey("call", "/", { scopes: { mostTools: 3 } });
  const { body } = await admin.send("GET", "/admin/v1/keys");
  const shown = overviewOf({ ...body, budgets: [], rates: [], byKey: [], byPath: [] }, 0);
  for (const field of [
    { name: "serverTools", label: "Tools that run at the provider", type: "boolean" },
    { name: "mostTools", label: "Most calls of tools", type: "integer" },
  ])
    expect(shown.options).toContainEqual(field);
  expect(scopeWords(shown.keys[0]!)).toEqual(["may use all models", "at most 3 calls of tools"]);
});

test("a client reads it of its own key", () => {
  const [entry] = declaredBy(load(YAML)).keys;
  const policy = { keys: [entry!], budgets: [], rates: [] };
  const own = new OwnKey(compilePrincipal(entry!), policy, 0);
  const { scopes } = own.describe({ accounts: [], from: 0, models: [] }, true);
  expect(scopes).toEqual({ max_cost: 0.5, server_tools: true, most_tools: 3 });
});
