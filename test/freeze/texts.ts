/** What users, scripts, dashboards and databases see of weir, as texts that a change of structure alone must not change. */
import { createHash } from "node:crypto";
import { openApiDocument as adminDocument } from "../../src/admin/openapi.ts";
import { listOperations } from "../../src/admin/operations/index.ts";
import { OWN_TABLES } from "../../src/keeper/store/own-tables.ts";
import { tablesOf } from "../../src/feature/feature.ts";
import { COMMANDS, FEATURES } from "../helpers/commands.ts";
import { completionScript } from "../../src/cli/completion.ts";
import { commandHelp, generalHelp, groupHelp } from "../../src/cli/help.ts";
import { manPage } from "../../src/cli/man.ts";
import { editorSchema } from "../../src/config/editor.ts";
import { type JsonObject, isObject } from "../../src/core/json.ts";
import { migrationsFor, typesOf } from "../../src/keeper/store/schema.ts";
import type { Family } from "../../src/core/metric.ts";
import { FAMILIES } from "../../src/keeper/metrics/families.ts";
import { KEY_OPTIONS } from "../../src/ledger/keys/options.ts";
import { operationsOf } from "../../src/feature/feature.ts";
import { COLUMNS, OPTIONS } from "../helpers/features.ts";
import { RESPONSES_MIGRATIONS } from "../../src/keeper/store/migrations.ts";

/** Shells that `weir completion` knows. */
const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** Columns of the help texts. */
const WIDTH = 100;

/** The help of weir, of each group of commands and of each command. */
export function helpText(): string {
  const groups = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))].filter(
    (group) => COMMANDS.filter(({ name }) => name.startsWith(`${group} `)).length > 1,
  );
  return [
    generalHelp(COMMANDS, WIDTH),
    ...groups.map((group) => groupHelp(group, COMMANDS, WIDTH)),
    ...COMMANDS.map((command) => commandHelp(command, WIDTH)),
  ].join(`\n${"-".repeat(WIDTH)}\n`);
}

/** The manual page, as `man` reads it. */
export const manualPage = (): string => manPage(COMMANDS);

/** The completion scripts of all shells, a digest each: they follow from the commands. */
export const completions = (): string =>
  SHELLS.map((shell) => `${shell} ${hash(completionScript(shell, COMMANDS))}`).join("\n");

/** The JSON schema of weir.yaml, as editors read it. */
export const configSchema = (): string => JSON.stringify(editorSchema(OPTIONS), null, 1);

/** The migrations of the three databases; those of the books, also of features, for SQLite and for PostgreSQL. */
export const tables = async (): Promise<string> =>
  [
    ["books, SQLite", migrationsFor("sqlite")],
    ["books, PostgreSQL", migrationsFor("postgres")],
    ...[...OWN_TABLES, ...(await tablesOf(FEATURES))].flatMap(({ feature, tables: { migrations } }) =>
      (["sqlite", "postgres"] as const).map((dialect) => [
        `${feature}, ${dialect}`,
        migrations.map((text) => typesOf(dialect, text)),
      ]),
    ),
    ["stored answers", RESPONSES_MIGRATIONS],
  ]
    .flatMap(([name, migrations]) =>
      (migrations as readonly string[]).map((text, index) => `-- ${name as string}, ${index + 1}\n${text}`),
    )
    .join("\n\n");

/** The metrics: name, type, labels, limits of histograms, help. */
export const metrics = (): string =>
  [...FAMILIES, ...FEATURES.flatMap(({ metrics = [] }) => metrics)]
    .map(({ name, type, labels, buckets, help }: Family) =>
      [`${name}{${labels.join(",")}} ${type}`, ...(buckets ? [buckets.join(" ")] : []), help].join("\n  "),
    )
    .join("\n");

/** The OpenAPI document of the admin API. */
export const adminApi = async (): Promise<string> =>
  digest(
    adminDocument(
      listOperations("0", COLUMNS, KEY_OPTIONS, await operationsOf(FEATURES)),
      "0",
    ) as unknown as JsonObject,
  );

/**
 * An OpenAPI document in lines: each operation, schema and header with a digest of its content, which says what differs without
 * half a megabyte of text.
 */
export function digest(document: JsonObject): string {
  const { paths, components, ...rest } = JSON.parse(JSON.stringify(document)) as Record<string, JsonObject>;
  const lines = [`document ${hash(rest)}`];
  for (const [path, methods] of Object.entries(paths ?? {}))
    for (const [method, operation] of Object.entries(methods as JsonObject))
      lines.push(`${method.toUpperCase()} ${path} ${hash(operation)}`);
  for (const [kind, members] of Object.entries(components ?? {}))
    if (isObject(members))
      for (const [name, value] of Object.entries(members)) lines.push(`${kind} ${name} ${hash(value)}`);
  return lines.join("\n");
}

const hash = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 16);
