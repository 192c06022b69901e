/** `weir import SOURCE FILE`: writes `weir.yaml` from the config of another gateway. */
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { describeFileError } from "../core/system-error.ts";
import type { Imported } from "../import/index.ts";
import type { SourceDocument } from "../import/source.ts";
import { type Command, type Context, UsageError } from "./command.ts";

/** Gateways whose configs weir reads. */
const SOURCES = ["litellm", "bifrost", "ccr", "portkey"];

export const importCommand: Command = {
  name: "import",
  summary: "write weir.yaml from the config of another gateway, and list what has no counterpart",
  words: [
    { name: "SOURCE", completes: SOURCES },
    { name: "FILE", completes: "file" },
  ],
  flags: [
    {
      name: "--out",
      value: "FILE",
      help: "write to this file (default: standard output)",
      completes: "file",
    },
    { name: "--keys", value: "FILE", help: "keys of LiteLLM: the answer to /key/list", completes: "file" },
    { name: "--env", value: "FILE", help: "write the secrets of the source to this file", completes: "file" },
    { name: "--strict", help: "exit with 1 if something has no counterpart" },
    { name: "--force", help: "replace files that exist" },
    { name: "--json", help: "print the config and the report as JSON" },
  ],
  async run(context) {
    const { words, flags, print, printError, env } = context;
    const [source = "", file = ""] = words;
    if (!SOURCES.includes(source))
      throw new UsageError(
        `weir imports the configs of ${SOURCES.join(", ")}, not of ${JSON.stringify(source)}`,
      );
    const { checkResult } = await import("./import-check.ts");
    const { imported, faults } = await checkResult(await importFile(source, file, context), env);
    const out = textOf(flags["--out"]);
    const envFile = textOf(flags["--env"]);
    const { describe, envFileOf, reportOf } = await import("../import/report.ts");
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
  },
};

async function importFile(source: string, file: string, { flags, cwd }: Context): Promise<Imported> {
  const [{ importConfig }, { readSource }, { builtIn }] = await Promise.all([
    import("../import/index.ts"),
    import("../config/read-source.ts"),
    import("../../plugins/index.ts"),
  ]);
  const open = (path: string): SourceDocument => readSource(resolve(cwd, path), basename(path));
  const { isDatabase, readCcrDatabase } = await import("./ccr-database.ts");
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
  const { withIncludes } = await import("../import/litellm/includes.ts");
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
