/** The README shows what the code does. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { settingsOf, witnessSection } from "../section.ts";
import { KINDS } from "../differences.ts";
import { QUESTIONS } from "../questions.ts";
import { QUESTION_WORDS, tableOf } from "./power-table.ts";

const PATH = join(import.meta.dir, "../README.md");

test("the table of looks is that of the tests", async () => {
  const readme = await Bun.file(PATH).text();
  const between = /<!-- power -->\n([^]*?)\n?<!-- \/power -->/;
  const written = readme.replace(between, `<!-- power -->\n\n${tableOf()}\n\n<!-- /power -->`);
  if (process.env["UPDATE"]) await Bun.write(PATH, written);
  else expect(written.replace(/[ -]+\|/g, " |")).toBe(readme.replace(/[ -]+\|/g, " |"));
});

test("the config of the README is one, and its words and numbers are true", async () => {
  const readme = await Bun.file(PATH).text();
  const text = /\n((?: {4}.*\n)+)/.exec(readme)![1]!;
  const { witness } = parse(text.replace(/^ {4}/gm, "")) as { witness: object };
  const { models, everyMs, budget } = settingsOf({ [witnessSection.name]: { outputTokens: 64, ...witness } });
  expect([models.length, everyMs, budget]).toEqual([3, 3_600_000, 50_000_000]);
  for (const kind of KINDS) expect(readme).toContain(`\`${kind}\``);
  expect(readme).toContain(`${QUESTION_WORDS[QUESTIONS.length]} short calls`);
  expect(readme).toContain(`${QUESTION_WORDS[QUESTIONS.length - 1]} fixed texts`);
});
