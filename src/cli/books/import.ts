/** `weir keys import`: takes over the keys of another gateway, so that clients keep theirs. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describeFileError } from "../../core/system-error.ts";
import { IMPORT_SOURCES, type ImportedKey, readImport } from "../../ledger/keys/import.ts";
import { UsageError } from "../command.ts";
import type { AdminApi } from "./api.ts";
import { bookCommand } from "./command.ts";
import { withProgress } from "./progress.ts";
import { showRates } from "./rate-flags.ts";
import type { Key } from "../../operator/index.ts";
import { showLimit } from "./show.ts";
import { textOf } from "./values.ts";

export const keysImport = bookCommand({
  name: "keys import",
  summary: "import the keys of another gateway by their digests",
  words: [{ name: "FILE", completes: "file" }],
  flags: [
    {
      name: "--from",
      value: "GATEWAY",
      help: `gateway that exported them: ${IMPORT_SOURCES.join(", ")}`,
      completes: IMPORT_SOURCES,
    },
    { name: "--path", value: "PATH", help: "place in the tree of keys below which they are put (default /)" },
  ],
  async run({ api, flags, words: [file = ""], cwd, show, printError }) {
    const source = IMPORT_SOURCES.find((known) => known === textOf(flags, "--from"));
    if (source === undefined) throw new UsageError(`--from requires ${IMPORT_SOURCES.join(" or ")}`);
    const maker = { path: textOf(flags, "--path") ?? "/", scopes: {} };
    const { keys, skipped } = readImport(source, textIn(resolve(cwd, file)), maker, Date.now());
    const imported = await withProgress("importing", importKeys(api, keys));
    for (const { name, why } of [...skipped, ...imported.skipped])
      printError(`not imported: ${name}: ${why}`);
    for (const { entry, notes } of keys) for (const note of notes) printError(`${entry.name}: ${note}`);
    show(
      imported.keys,
      () => `weir imported ${imported.keys.length} of ${keys.length + skipped.length} keys.`,
    );
    return imported.keys.length === keys.length && skipped.length === 0 ? 0 : 1;
  },
});

interface Result {
  keys: Key[];
  skipped: { name: string; why: string }[];
}

/** Keys of one request. */
const SLICE = 1_000;

async function importKeys(api: AdminApi, keys: readonly ImportedKey[]): Promise<Result> {
  const result: Result = { keys: [], skipped: [] };
  for (let at = 0; at < keys.length; at += SLICE) {
    const { keys: imported, skipped } = await importSlice(api, keys.slice(at, at + SLICE));
    result.keys.push(...imported);
    result.skipped.push(...skipped);
  }
  return result;
}

async function importSlice(api: AdminApi, keys: readonly ImportedKey[]): Promise<Result> {
  const entries = keys.map(({ entry: { name, path, scopes, expiresAt, digests } }) => {
    return { name, path, scopes, expiresAt, sha256: digests[0]!.sha256 };
  });
  const answer = await api.ask("POST /import/keys", {
    body: { keys: entries },
  });
  const skipped = answer.skipped.map((name) => ({ name, why: "weir already has this key." }));
  for (const key of answer.keys) {
    const found = keys.find(({ entry }) => entry.name === key.name);
    if (found) await limit(api, key, found);
  }
  return { keys: answer.keys, skipped };
}

/** Creates the key's budget and rate limit. @throws Error that says which limit is missing */
async function limit(api: AdminApi, { id, name }: Key, { budget, rates }: ImportedKey): Promise<void> {
  const on = { kind: "key" as const, what: id };
  const explain = (what: string) => (fault: unknown) => {
    throw new Error(`the key ${name} was imported without its limit of ${what}: ${(fault as Error).message}`);
  };
  if (budget)
    await api
      .ask("POST /budgets", { body: { name, on, ...budget } })
      .catch(explain(showLimit(budget.limit, budget.window)));
  if (rates)
    await api.ask("POST /rates", { body: { name, on, limits: rates } }).catch(explain(showRates(rates)));
}

function textIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (fault) {
    throw new Error(`${path} cannot be read: ${describeFileError(fault)}`);
  }
}
