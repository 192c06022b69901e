import { test } from "bun:test";
import { COLUMNS } from "../helpers/features.ts";
import { checkPart, markdownTable } from "../helpers/documents.ts";

test("the table of columns is made from the list of the build", async () => {
  const rows = COLUMNS.list.map(({ name, logName, label, filter, isStored, schema }) => [
    `\`${name}\``,
    logName === undefined ? "" : `\`${logName}\``,
    label ?? "",
    filter ? "yes" : "",
    isStored ? "yes" : "",
    schema.description ?? "",
  ]);
  const head = ["member", "in the log", "shown as", "filter", "stored", "meaning"];
  await checkPart("src/ledger/README.md", "columns", markdownTable(head, rows));
});
