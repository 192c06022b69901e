/** `weir import SOURCE FILE`: writes `weir.yaml` from the config of another gateway. */
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { describeFileError } from "../../core/system-error.ts";
import { readSource } from "../../config/read-source.ts";
import { type Context, UsageError } from "../../cli/command.ts";
import { builtIn } from "../../../plugins/index.ts";
import { isDatabase, readCcrDatabase } from "./ccr/database.ts";
import { checkResult } from "./check.ts";
import { type Imported, importConfig, SOURCES } from "./convert.ts";
import { withIncludes } from "./litellm/includes.ts";
import { describe, envFileOf, reportOf } from "./report.ts";
import type { SourceDocument } from "./source.ts";

/** @returns the exit code */
export async function run(context: Context): Promise<number> {
  const { words, flags, print, printError, env } = context;
  const [source = "", file = ""] = words;
  if (!Object.hasOwn(SOURCES, source))
    throw new UsageError(
      `weir imports the configs of ${Object.keys(SOURCES).join(", ")}, not of ${JSON.stringify(source)}`,
    );
  const { imported, faults } = await checkResult(importFile(source, file, context), context);
  const out = textOf(flags["--out"]);
  const envFile = textOf(flags["--env"]);
  const report = reportOf(imported, faults);
  for (const written of [out, envFile]) if (written !== undefined) assertFree(written, context);
  if (envFile !== undefined) write(envFile, envFileOf(imported.variables), 0o600, context);
  if (out !== undefined && out !== "-") write(out, imported.yaml, 0o644, context);
  if (flags["--json"]) print(JSON.stringify(report, null, 2));
  else {
    if (out === undefined || out === "-") print(imported.yaml.trimEnd());
    printError(describe(report, envFile));
  }
  for (const fault of faults) printError(`weir: the result does not load yet: ${fault}`);
  return faults.length > 0 || (flags["--strict"] && report.none.length > 0) ? 1 : 0;
}

function importFile(source: string, file: string, { flags, cwd }: Context): Imported {
  const open = (path: string): SourceDocument => readSource(resolve(cwd, path), basename(path));
  const openConfig = () => {
    const path = resolve(cwd, file);
    if (source !== "ccr") return open(file);
    if (isDatabase(path)) return readCcrDatabase(path, basename(file));
    const document = open(file);
    const newer = join(dirname(path), "config.sqlite");
    if (!isDatabase(newer)) return document;
    const note = `${basename(file)} is that of an earlier version: the settings are in config.sqlite beside it`;
    return { ...document, notes: [...(document.notes ?? []), note] };
  };
  const keys = textOf(flags["--keys"]);
  if (keys !== undefined && source !== "litellm")
    throw new UsageError(
      `--keys is for LiteLLM, whose keys are in its database; ${source} has them in its config`,
    );
  const folder = dirname(resolve(cwd, file));
  const included = (name: string) =>
    existsSync(resolve(folder, name)) ? readSource(resolve(folder, name), name) : undefined;
  return importConfig({
    source,
    document: source === "litellm" ? withIncludes(open(file), included) : openConfig(),
    ...(keys !== undefined && { keys: open(keys) }),
    providers: builtIn.flatMap(({ providers = [] }) => providers),
    command: ["weir import", source, file, ...(keys === undefined ? [] : ["--keys", keys])].join(" "),
  });
}

function assertFree(file: string, { flags, cwd }: Context): void {
  if (file === "-" || flags["--force"] || !existsSync(resolve(cwd, file))) return;
  throw new Error(`${file} already exists; weir wrote nothing. --force replaces it`);
}

function write(file: string, text: string, mode: number, { cwd, flags, printError }: Context): void {
  const path = resolve(cwd, file);
  if (!existsSync(dirname(path))) throw new Error(`the folder ${dirname(file)} does not exist`);
  try {
    // A file with secrets must not keep the mode of the one that it replaces.
    if (flags["--force"]) rmSync(path, { force: true });
    const descriptor = openSync(path, "wx", mode);
    writeSync(descriptor, text);
    closeSync(descriptor);
  } catch (fault) {
    throw new Error(`${file} cannot be written (${describeFileError(fault)})`);
  }
  printError(`weir wrote ${file}.`);
}

function textOf(value: string | true | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
