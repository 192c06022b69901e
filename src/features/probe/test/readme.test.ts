import { test } from "bun:test";
import { checkPart, markdownTable } from "../../../../test/helpers/documents.ts";
import { traitsSchema } from "../../../config/sections/traits.ts";
import { PROBES } from "../probes/index.ts";
import { RULES } from "../settings.ts";

test("the tables of the probe are made from its code", async () => {
  const asked = PROBES.map(({ finds, asks, calls }) => [
    finds.map((feature) => `\`${feature}\``).join(" "),
    asks,
    String(calls),
  ]);
  await checkPart("src/features/probe/README.md", "probes", markdownTable(["finds", "asks", "calls"], asked));
  const rules = RULES.map(({ from, trait }) => [
    `\`${from}\``,
    `\`${trait}\``,
    traitsSchema.properties[trait as keyof typeof traitsSchema.properties].description ?? "",
  ]);
  await checkPart(
    "src/features/probe/README.md",
    "rules",
    markdownTable(["finding", "trait", "meaning"], rules),
  );
});
