/** `weir store migrate`: copies the books of a gateway that is not running to PostgreSQL. */
import { resolve } from "node:path";
import { type Command, JSON_FLAG, UsageError } from "../command.ts";
import { verdicts } from "./audit.ts";
import { lockStore } from "./folder.ts";
import { withProgress } from "./progress.ts";
import { showCount } from "./show.ts";
import { textOf } from "./values.ts";

export const storeMigrate: Command = {
  name: "store migrate",
  summary: "copy the books of a stopped gateway to PostgreSQL, and audit both",
  words: [],
  flags: [
    { name: "--to", value: "URL", help: "postgres://USER:PASSWORD@HOST/DATABASE (default WEIR_STORE)" },
    { name: "--state", value: "DIR", help: "state folder with the books", completes: "folder" },
    JSON_FLAG,
  ],
  async run({ flags, env, cwd, tables, print }) {
    const url = textOf(flags, "--to") ?? env["WEIR_STORE"];
    const folder = textOf(flags, "--state") ?? env["WEIR_STATE"];
    if (!url || !folder) throw new UsageError(`weir store migrate requires ${url ? "--state" : "--to"}`);
    const path = lockStore(resolve(cwd, folder));
    const { copyBooks } = await import("../../keeper/store/postgres/copy.ts");
    const rows = await withProgress("copying", copyBooks(path, url, await tables()));
    const audits = await withProgress("checking both", auditBoth(path, url));
    const holds = audits.every((report) => report.holds);
    if (flags["--json"])
      print(JSON.stringify({ rows, holds, sqlite: audits[0], postgres: audits[1] }, null, 2));
    else
      print(
        [
          `weir copied ${showCount(rows)} rows.`,
          `\n${path}`,
          verdicts(audits[0]!),
          "\nPostgreSQL",
          verdicts(audits[1]!),
          ...(holds ? ["", "Start the gateway with store: URL (or WEIR_STORE) to use the copy."] : []),
        ].join("\n"),
      );
    return holds ? 0 : 1;
  },
};

async function auditBoth(path: string, url: string) {
  const { auditBooks } = await import("../../keeper/reports/audit.ts");
  const { openSqlite } = await import("../../keeper/store/sqlite.ts");
  const { openPostgres } = await import("../../keeper/store/postgres/store.ts");
  const reports = [];
  for (const sql of [openSqlite(path), await openPostgres(url, Date.now, { connections: 1 })])
    try {
      reports.push(await auditBooks(sql));
    } finally {
      await sql.close();
    }
  return reports;
}
