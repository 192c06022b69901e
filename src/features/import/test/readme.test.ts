/** The tables of src/features/import/README.md, made from what the fixtures become. `UPDATE=1` writes them anew. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { SOURCES } from "../convert.ts";
import type { SettingOutcome } from "../source.ts";
import { markdownTable, readDocument, ROOT, withPart } from "../../../../test/helpers/documents.ts";
import { fixtures, importFixture } from "./imported.ts";

const README = "src/features/import/README.md";
/** `providers.azure-dated.apiKey` of one config is `providers.NAME.apiKey` of all. */
function generalized(to: string): string {
  return to
    .replace(/\b(providers|budgets)\.(?!NAME)[\w-]+/g, "$1.NAME")
    .replace(/\bkeys\.[^.]+/g, "keys[]")
    .replace(/\b(rates)\.[\w-]+/g, "$1.NAME")
    .replace(/\bprices\[.*\]/g, "prices")
    .replace(/\bheaders\.[\w-]+/g, "headers")
    .replace(/\bsecrets\.\w+/g, "secrets");
}

/** Reasons that depend on the values of a config, not on what weir has. */
const BY_VALUE =
  /does not know|names no provider|has no provider|not active|blocked|it is empty|not set|no model|refers to it|no entry of|key has no value/;

/** What is carried as a table, and what is not as a list of names. */
function partOf(source: string): string {
  const rows = new Map<string, string[]>();
  const none = new Set<string>();
  for (const fixture of fixtures.filter((one) => one.source === source))
    for (const outcome of importFixture(fixture).outcomes) {
      const { general, fate, why = "", to } = outcome;
      if (BY_VALUE.test(why)) continue;
      if (fate === "none") none.add(topOf(general));
      else if (to !== undefined || fate === "changed")
        rows.set(`${general} ${fate}`, [`\`$.${general}\``, meaningOf(outcome)]);
    }
  const carried = [...rows.keys()].map((key) => topOf(key.split(" ")[0]!));
  const lost = [...none].filter((name) => !carried.includes(name)).sort();
  return [
    markdownTable(
      ["in the config", "in weir"],
      [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
    ),
    `Without a counterpart: ${lost.map((name) => `\`$.${name}\``).join(", ")}.`,
  ].join("\n\n");
}

/** The path as far as its names mean the same in every config. */
function topOf(general: string): string {
  return general.split(".").slice(0, 3).join(".").replace(/\[\]$/, "");
}

function meaningOf({ to, why }: SettingOutcome): string {
  const target = to === undefined ? [] : [`\`${generalized(to)}\``];
  return [...target, ...(why === undefined ? [] : [why])].join("; ");
}

test.each(Object.keys(SOURCES))("the table of %s is made from what is carried", async (source) => {
  const wanted = withPart(README, source, partOf(source));
  const squeezed = (markdown: string) => markdown.replace(/[ -]{2,}/g, (run) => run[0]!);
  if (process.env["UPDATE"] === "1") await Bun.write(join(ROOT, README), wanted);
  else expect(squeezed(readDocument(README))).toBe(squeezed(wanted));
});
