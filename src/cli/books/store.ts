/** `weir store`: the database of the books. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { table } from "../terminal.ts";
import { verdicts } from "./audit.ts";
import type { AdminApi } from "./api.ts";
import { bookCommand, DRY_RUN_FLAG, isDryRun } from "./command.ts";
import { storeMigrate } from "./migrate.ts";
import { type Share, withProgress } from "./progress.ts";
import type { Pruned, Store } from "../../operator/index.ts";
import { showBytes, showCount, showTime } from "./show.ts";
import { textOf } from "./values.ts";

const storeInfo = bookCommand({
  name: "store info",
  summary: "show where the books are, their size and age",
  async run({ api, show }) {
    const info = await api.ask("GET /store");
    show(info, () => {
      const facts = [
        ["store", `${info.kind === "memory" ? "memory" : info.place} (${info.kind})`],
        ["size", showBytes(info.bytes)],
        ["calls", showCount(info.calls)],
        ["oldest call", showTime(info.oldestCall) || "none"],
        ["waiting records", showCount(info.waiting)],
        ...(info.fault === undefined ? [] : [["fault", info.fault]]),
      ];
      return table(facts);
    });
  },
});

/** How much of a copy is written. A gateway elsewhere writes its own file, which is not seen here. */
function shareOf(path: string, api: AdminApi): Share {
  let whole: Promise<Store> | undefined;
  return async () => {
    whole ??= api.ask("GET /store");
    const { bytes } = await whole;
    const written = statSync(path, { throwIfNoEntry: false })?.size;
    return written === undefined || bytes === 0 ? undefined : written / bytes;
  };
}

const storeBackup = bookCommand({
  name: "store backup",
  summary: "write a consistent copy while the gateway runs",
  words: [{ name: "FILE", completes: "file" }],
  async run({ api, words: [file = ""], cwd, show }) {
    const path = resolve(cwd, file);
    const work = api.ask("POST /store/backup", { body: { path } });
    const result = await withProgress("copying", work, shareOf(path, api));
    show(result, () => `weir wrote ${path}, ${showBytes(result.bytes)}.`);
  },
});

const storeCheck = bookCommand({
  name: "store check",
  summary: "check the database itself; exits with 1 if it is damaged",
  async run({ api, show }) {
    const report = await withProgress("checking the database", api.ask("POST /store/check"));
    show(report, () => verdicts(report));
    return report.holds ? 0 : 1;
  },
});

export function pruneText({ rows, tables }: Pruned, dryRun: boolean): string {
  const noun = rows === 1 ? "row" : "rows";
  const did = `weir ${dryRun ? "would delete" : "deleted"} ${showCount(rows)} ${noun}.`;
  const counts = Object.entries(tables).map(([name, { rows: own, bytes }]) => [
    name,
    showCount(own),
    bytes === undefined ? "" : `about ${showBytes(bytes)}`,
  ]);
  return counts.length === 0 ? did : `${did}\n${table([["table", "rows", ""], ...counts], "  ")}`;
}

const storePrune = bookCommand({
  name: "store prune",
  summary: "delete old rows, or all rows of a key; the sums stay",
  flags: [{ name: "--key", value: "KEY", help: "delete the rows of this key" }, DRY_RUN_FLAG],
  asks({ flags }) {
    const key = textOf(flags, "--key");
    return key === undefined
      ? "Delete the rows that are older than the config keeps?"
      : `Delete all rows of the key ${key}?`;
  },
  async run({ api, flags, show }) {
    const dryRun = isDryRun(flags);
    const body = { key: textOf(flags, "--key"), dryRun };
    const work = api.ask("POST /store/prune", { body });
    const result = await withProgress(dryRun ? "counting" : "deleting", work);
    show(result, () => pruneText(result, dryRun));
  },
});

const storeRelease = bookCommand({
  name: "store release",
  summary: "open keys and hard budgets again after a store was damaged, or replaced by an older copy",
  async run({ api, show }) {
    const released = await api.ask("POST /store/release");
    show(
      released,
      () =>
        "Keys and hard budgets of the store count again, as weir keys list and weir budgets list show them.",
    );
  },
});

export const STORE_COMMANDS: readonly Command[] = [
  storeInfo,
  storeBackup,
  storeCheck,
  storeMigrate,
  storePrune,
  storeRelease,
];
