import { test } from "bun:test";
import { synopsis } from "../../src/cli/help.ts";
import { FEATURES } from "../helpers/commands.ts";
import { checkPart, markdownTable } from "../helpers/documents.ts";

test("the table of features is made from their manifests and documents", async () => {
  const rows = FEATURES.map(({ name, columns = [], commands = [], section }) => [
    `[${name}](../features/${name}/README.md)`,
    commands.map((command) => `\`weir ${synopsis(command)}\``).join(" "),
    section ? `\`${section.name}\`` : "",
    columns.map((column) => `\`${column.name}\``).join(" "),
  ]);
  await checkPart(
    "src/feature/README.md",
    "features",
    markdownTable(["feature", "commands", "section", "columns"], rows),
  );
});
