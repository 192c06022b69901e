/** `weir guards test NAME FILE`: what a guard of the config finds in a text, or in the files of a folder. */
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { configOptions, type Context, UsageError, valueFlags } from "../../cli/command.ts";
import { table } from "../../cli/terminal.ts";
import { loadConfig } from "../../config/load.ts";
import type { Found } from "./detect/scan.ts";
import { Guard } from "./guard.ts";
import { guardsOf } from "./section.ts";

/** Exit codes beside 0. */
const EXIT_FOUND = 1;
const EXIT_FAULT = 2;

/** A finding shows at most so much of its text. */
const SHOWN = 80;
/** Rates are findings in this number of bytes. */
const RATE_BYTES = 102_400;

/** @returns 1 if the guard finds something, 2 if it cannot be tested */
export async function run(context: Context): Promise<number> {
  try {
    return await test(context);
  } catch (cause) {
    context.printError(`weir: ${(cause as Error).message}`);
    return EXIT_FAULT;
  }
}

async function test(context: Context): Promise<number> {
  const { words, flags, cwd, printError } = context;
  const [name, file] = words;
  const { "--corpus": corpus } = valueFlags(flags);
  if ((file === undefined) === (corpus === undefined))
    throw new UsageError("guards test needs a file, - for its input, or --corpus FOLDER");
  const options = guardsOf(loadConfig(configOptions(context)).config);
  const named = options.find((one) => one.name === name);
  if (!named) {
    const known = options.map((one) => one.name).join(", ") || "none";
    throw new Error(`the config has no guard ${JSON.stringify(name)}; its guards: ${known}`);
  }
  const guard = new Guard(named);
  if (guard.detectors.length < (named.find?.length ?? 0) || guard.detectors.length === 0)
    printError(
      `weir: ${name} asks services too; this command does not ask them, and shows what weir finds by itself.`,
    );
  if (corpus !== undefined) return testFolder(guard, resolve(cwd, corpus), context);
  const text = file === "-" ? await Bun.stdin.text() : await Bun.file(resolve(cwd, file!)).text();
  return testText(guard, text, context);
}

function testText(guard: Guard, text: string, { flags, print }: Context): number {
  const found = guard
    .find(text)
    .map((one) => ({ ...placeOf(text, one), ...factsOf(one), text: text.slice(one.start, one.end) }));
  if (flags["--json"]) print(JSON.stringify({ guard: guard.name, findings: found }, null, 2));
  else
    for (const { line, column, start, end, kind, rule, text: value } of found)
      print(
        `${line}:${column} (${start}-${end}) ${kind}${rule === undefined ? "" : ` ${rule}`} ${JSON.stringify(value.slice(0, SHOWN))}`,
      );
  return found.length > 0 ? EXIT_FOUND : 0;
}

const factsOf = ({ start, end, kind, rule }: Found) => ({
  start,
  end,
  kind,
  ...(rule !== undefined && { rule }),
});

/** Both count from 1; columns are UTF-16 units. */
function placeOf(text: string, { start }: Found): { line: number; column: number } {
  const before = text.slice(0, start);
  return { line: before.split("\n").length, column: start - before.lastIndexOf("\n") };
}

interface Rate {
  files: number;
  findings: number;
}

async function testFolder(guard: Guard, folder: string, { flags, print }: Context): Promise<number> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  const kinds = new Map<string, Rate>();
  const all: Rate = { files: 0, findings: 0 };
  let bytes = 0;
  for (const { parentPath, name } of files) {
    const content = await Bun.file(join(parentPath, name)).bytes();
    bytes += content.length;
    const found = guard.find(Buffer.from(content).toString());
    if (found.length > 0) all.files++;
    all.findings += found.length;
    for (const kind of new Set(found.map((one) => one.kind))) {
      const rate = kinds.get(kind) ?? { files: 0, findings: 0 };
      const findings = rate.findings + found.filter((one) => one.kind === kind).length;
      kinds.set(kind, { files: rate.files + 1, findings });
    }
  }
  const rateOf = ({ findings }: Rate) => (bytes === 0 ? 0 : (findings * RATE_BYTES) / bytes);
  const rounded = (rate: Rate) => Math.round(rateOf(rate) * 1_000) / 1_000;
  if (flags["--json"]) {
    const byKind = Object.fromEntries(
      [...kinds].map(([kind, rate]) => [kind, { ...rate, per100Kb: rounded(rate) }]),
    );
    print(
      JSON.stringify(
        {
          guard: guard.name,
          files: files.length,
          bytes,
          found: { ...all, per100Kb: rounded(all) },
          kinds: byKind,
        },
        null,
        2,
      ),
    );
  } else {
    const row = (kind: string, rate: Rate) => [
      kind,
      String(rate.files),
      String(rate.findings),
      rateOf(rate).toFixed(3),
    ];
    print(
      table([
        ["kind", "files", "findings", "in 100 KB"],
        ...[...kinds].map(([kind, rate]) => row(kind, rate)),
        row("all", all),
      ]),
    );
    print(`${files.length} files, ${(bytes / 1_024).toFixed(0)} KB`);
  }
  return all.findings > 0 ? EXIT_FOUND : 0;
}
