/** Named sets of models in the config file: what they stand for in each section, and what is refused. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";
import { patternsOf, setNamed } from "../../src/core/model-sets.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-sets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SETS = 'modelSets:\n  cheap: [small-1, "tiny-*"]\n  dear: [big-1, small-1]\n';

function load(yaml: string): Config {
  writeFileSync(join(folder, "weir.yaml"), SETS + yaml);
  return loadConfig({ env: {}, cwd: folder }).config;
}

function faultOf(yaml: string): string {
  try {
    load(yaml);
    return "none";
  } catch (fault) {
    return (fault as Error).message;
  }
}

test("a name of a set stands for its patterns in sections by pattern; own names and earlier sets precede", () => {
  const { prices, fallbacks, models, routing, aliases } = load(
    [
      'prices: {"@cheap": 0, "tiny-*": {input: 1, output: 1}, "@dear": {input: 2, output: 2}}',
      'fallbacks: {"@cheap": [big-1]}',
      'models: {"@cheap": {set: {temperature: 0}}}',
      'routing: {"@cheap": cost}',
      'aliases: {"@cheap": small-1}',
    ].join("\n"),
  );
  expect(prices).toEqual({
    "small-1": 0,
    "tiny-*": { input: 1, output: 1 },
    "big-1": { input: 2, output: 2 },
  });
  expect(Object.keys(fallbacks)).toEqual(["small-1", "tiny-*"]);
  expect(Object.keys(models)).toEqual(["small-1", "tiny-*"]);
  expect(routing).toEqual({ "small-1": "cost", "tiny-*": "cost" });
  // small-1 is no alias of itself.
  expect(aliases).toEqual({ "tiny-*": "small-1" });
});

test("keys, budgets and rate limits keep the name of the set", () => {
  const { keys, budgets, rates } = load(
    [
      'keys: [{name: a, key: "0123456789abcdef", models: ["@cheap", big-1]}]',
      'budgets: {b: {on: {model: "@cheap"}, limit: 1, every: day}}',
      'rates: {r: {on: {model: "@dear"}, rpm: 1}}',
    ].join("\n"),
  );
  expect(keys[0]!.models).toEqual(["@cheap", "big-1"]);
  expect([budgets["b"]!.on, rates["r"]!.on]).toEqual([{ model: "@cheap" }, { model: "@dear" }]);
});

test("a set that does not exist is refused wherever a pattern may stand, with place and sets that exist", () => {
  const uses = [
    'prices: {"@chaep": 0}',
    'fallbacks: {"@chaep": [big-1]}',
    'models: {"@chaep": {}}',
    'routing: {"@chaep": cost}',
    'aliases: {"@chaep": small-1}',
    'keys: [{name: a, key: "0123456789abcdef", models: ["@chaep"]}]',
    'budgets: {b: {on: {model: "@chaep"}, limit: 1, every: day}}',
    'rates: {b: {on: {model: "@chaep"}, rpm: 1}}',
  ];
  for (const use of uses)
    expect([use, faultOf(use)]).toEqual([
      use,
      expect.stringMatching(
        /^weir\.yaml:4: there is no set of models named chaep; modelSets of the config has @cheap, @dear/i,
      ),
    ]);
});

test("a set is refused where one model must stand, in lists of providers and in sets", () => {
  const where = "weir.yaml:4: ";
  const one = `${where}@cheap names a set of models; the name of one model must stand here`;
  for (const use of [
    'aliases: {fast: "@cheap"}',
    'routes: {"@cheap": [big-1]}',
    'routes: {smart: ["@cheap"]}',
    'fallbacks: {big-1: ["@cheap"]}',
    'budgets: {b: {on: all, limit: 1, every: day, onEmpty: {use: "@cheap"}}}',
  ])
    expect([use, faultOf(use)]).toEqual([use, expect.stringContaining(one)]);
  expect(
    faultOf('providers: {acme: {models: ["@cheap"], baseUrl: "http://a.example/v1", speaks: messages}}'),
  ).toContain("the models of a provider are listed by their own names");
});

test("the definition of a set is checked", () => {
  const define = (text: string) => {
    writeFileSync(join(folder, "weir.yaml"), `modelSets:\n  ${text}\n`);
    try {
      return loadConfig({ env: {}, cwd: folder }) && "none";
    } catch (fault) {
      return (fault as Error).message;
    }
  };
  expect(define("cheap: []")).toContain("a list of at least one model or pattern");
  expect(define('cheap: ["@dear"]')).toContain(
    "the set cheap names the set @dear; a set lists models and patterns",
  );
  expect(define('cheap: ["a b"]')).toContain('but contains "a b"');
  expect(define('"a b": [x]')).toContain("1 to 64 letters, digits, dots, dashes and underscores");
  expect(define('cheap: ["@cf/meta/llama-3.1-8b"]')).toBe("none");
});

test("an unquoted name of a set gets a sentence that says to quote it", () => {
  expect(faultOf("budgets: {b: {on: {model: @cheap}, limit: 1, every: day}}")).toMatch(
    /weir\.yaml:4: .*quote/,
  );
});

test("real names of models that begin with an @ are no sets", () => {
  expect(
    ["@cf/meta/llama-3.1-8b-instruct", "@hf/a/b", "@gpt-*", "claude@20250101", "@"].map(setNamed),
  ).toEqual(Array.from({ length: 5 }, () => undefined));
  expect(patternsOf("@constructor", {})).toBeUndefined();
});
