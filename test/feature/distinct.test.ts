/** Two owners of a name, and features that need others: the build and a start refuse them with a sentence. */
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { CORE_NAMES, commandsWith } from "../../src/cli/commands.ts";
import { section } from "../../src/config/section.ts";
import { keyOptions } from "../../src/config/sections/budgets.ts";
import { CORE } from "../../src/config/sections/index.ts";
import { column } from "../../src/core/column.ts";
import { counter } from "../../src/core/metric.ts";
import { assertDistinct } from "../../src/feature/distinct.ts";
import { type Feature, featuresIn, tablesOf } from "../../src/feature/feature.ts";
import { FAMILIES } from "../../src/keeper/metrics/families.ts";
import { assertTables } from "../../src/keeper/store/migrations.ts";
import { migrationsFor } from "../../src/keeper/store/schema.ts";
import { keyOption } from "../../src/ledger/keys/option.ts";
import { LEDGER_COLUMNS } from "../../src/ledger/columns.ts";
import { RECORD_MEMBERS } from "../../src/ledger/record.ts";
import { FEATURES } from "../helpers/commands.ts";

const command = (name: string) => ({
  ...{ name, after: ["serve"], summary: "", words: [], flags: [] },
  run: () => Promise.resolve({ run: () => Promise.resolve(0) }),
});

const options = (name: string) => section(name, Type.Object({}));

const member = (name: string) => column({ name, schema: Type.String() });

const metric = (name: string) => counter(name, [], "");

const option = (name: string, flag: string) =>
  keyOption<string>({
    ...{ name, label: "", schema: Type.String(), flag: { name: flag, help: "", read: (text) => text } },
    ...{ narrows: () => undefined, words: () => undefined },
  });

const OWN = {
  metric: FAMILIES.map(({ name }) => name),
  "key option": ["name", "key", "sha256", ...Object.keys(keyOptions)],
  flag: commandsWith([]).flatMap(({ name, flags }) =>
    name === "keys create" || name === "keys update" ? flags.map((flag) => flag.name) : [],
  ),
  column: [...RECORD_MEMBERS, ...LEDGER_COLUMNS.map(({ name }) => name)],
  command: CORE_NAMES,
  section: CORE.map(({ name }) => name),
};

test("the features of weir have tables of different names, none of which is one of the books", async () => {
  const tables = await tablesOf(FEATURES);
  expect(() => assertTables(tables)).not.toThrow();
  const own = migrationsFor("sqlite").flatMap((text) => [...text.matchAll(/CREATE TABLE (\w+)/g)]);
  const names = tables.flatMap((one) => one.tables.copied);
  expect(names.filter((name) => own.some(([, table]) => table === name))).toEqual([]);
  expect(own.length).toBeGreaterThan(15);
});

test("the features of weir are distinct, and sorted by name", () => {
  expect(() => assertDistinct(FEATURES, OWN)).not.toThrow();
  const names = FEATURES.map(({ name }) => name);
  expect(names).toEqual([...names].sort());
  expect(featuresIn({ b: { name: "b" }, a: { name: "c" } }).map(({ name }) => name)).toEqual(["b", "c"]);
});

const PLANTS: readonly (readonly [sentence: string, features: readonly Feature[]])[] = [
  ["two features have the name words", [{ name: "words" }, { name: "words" }]],
  [
    "the feature words needs the feature count, which is not in this build",
    [{ name: "words", needs: ["count"] }],
  ],
  [
    "the features count and words both declare the command tell",
    [
      { name: "count", commands: [command("tell")] },
      { name: "words", commands: [command("tell")] },
    ],
  ],
  [
    "the feature words declares the command tell twice",
    [{ name: "words", commands: [command("tell"), command("tell")] }],
  ],
  [
    "the features count and words both declare the section tell",
    [
      { name: "count", section: options("tell") },
      { name: "words", section: options("tell") },
    ],
  ],
  [
    "the feature words declares the section retries, which weir has without it",
    [{ name: "words", section: options("retries") }],
  ],
  [
    "the feature words declares the command serve, which weir has without it",
    [{ name: "words", commands: [command("serve")] }],
  ],
  [
    "the features count and words both declare the column tell",
    [
      { name: "count", columns: [member("tell")] },
      { name: "words", columns: [member("tell")] },
    ],
  ],
  [
    "the feature words declares the column upstreamId, which weir has without it",
    [{ name: "words", columns: [member("upstreamId")] }],
  ],
  [
    "the feature words declares the column startedAt, which weir has without it",
    [{ name: "words", columns: [member("startedAt")] }],
  ],
  [
    "the features count and words both declare the metric weir_words_total",
    [
      { name: "count", metrics: [metric("weir_words_total")] },
      { name: "words", metrics: [metric("weir_words_total")] },
    ],
  ],
  [
    "the features count and words both declare the header x-weir-words",
    [
      { name: "count", headers: [{ name: "x-weir-words" }] },
      { name: "words", headers: [{ name: "x-weir-words" }] },
    ],
  ],
  [
    "the features count and words both declare the key option most",
    [
      { name: "count", keyOptions: [option("most", "--most")] },
      { name: "words", keyOptions: [option("most", "--most-words")] },
    ],
  ],
  [
    "the features count and words both declare the flag --most",
    [
      { name: "count", keyOptions: [option("most", "--most")] },
      { name: "words", keyOptions: [option("mostWords", "--most")] },
    ],
  ],
  [
    "the feature words declares the key option serverTools, which weir has without it",
    [{ name: "words", keyOptions: [option("serverTools", "--tools")] }],
  ],
  [
    "the feature words declares the key option path, which weir has without it",
    [{ name: "words", keyOptions: [option("path", "--words-path")] }],
  ],
  ...["--models", "--unset", "--url"].map(
    (flag) =>
      [
        `the feature words declares the flag ${flag}, which weir has without it`,
        [{ name: "words", keyOptions: [option("words", flag)] }],
      ] as const,
  ),
  [
    "the feature words declares the metric weir_calls_total, which weir has without it",
    [{ name: "words", metrics: [metric("weir_calls_total")] }],
  ],
];

test.each(PLANTS)("%s", (sentence, features) => {
  expect(() => assertDistinct(features, OWN)).toThrow(sentence);
});
