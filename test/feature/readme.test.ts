import { test } from "bun:test";
import { synopsis } from "../../src/cli/help.ts";
import { FEATURES } from "../helpers/commands.ts";
import { COLUMNS } from "../helpers/features.ts";
import { checkPart, markdownTable } from "../helpers/documents.ts";

test("the table of features is made from their manifests and documents", async () => {
  const rows = FEATURES.map(({ name, columns = [], commands = [], metrics = [], section }) => [
    `[${name}](../features/${name}/README.md)`,
    commands.map((command) => `\`weir ${synopsis(command)}\``).join(" "),
    section ? `\`${section.name}\`` : "",
    columns.map((column) => `\`${column.name}\``).join(" "),
    metrics.map((metric) => `\`${metric.name}\``).join(" "),
  ]);
  await checkPart(
    "src/feature/README.md",
    "features",
    markdownTable(["feature", "commands", "section", "columns", "metrics"], rows),
  );
});

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
