import { test } from "bun:test";
import { checkPart, markdownTable } from "../../../../test/helpers/documents.ts";
import { describeLasts, EXPECTED, FAULTS } from "../faults.ts";

test("the table of faults is made from the list of the drill", async () => {
  const rows = FAULTS.map(({ name, meets, lasts, expects }) => [
    `\`${name}\``,
    meets,
    describeLasts(lasts),
    EXPECTED[expects],
  ]);
  const head = ["fault", "what the client meets", "what it hits", "what a good client does"];
  await checkPart("src/features/drill/README.md", "drill", markdownTable(head, rows));
});
