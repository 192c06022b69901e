/** Large config files: read in time that grows with their length, and without holding up the event loop. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LineCounter, parse } from "yaml";
import { assemble } from "../../src/run/assemble.ts";
import { composeDocuments } from "../../src/config/compose.ts";
import { ConfigError } from "../../src/config/error.ts";
import { loadConfig, reloadConfig } from "../../src/config/load.ts";
import { atOnce } from "../../src/core/slices.ts";
import { IS_LONG } from "../helpers/effort.ts";

/** Entries: more than the config is composed of in one slice. */
const COUNT = IS_LONG ? 10_000 : 1_100;

const folder = mkdtempSync(join(tmpdir(), "weir-large-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const list = (head: string, line: (at: number) => string) =>
  `${head}:\n${Array.from({ length: COUNT }, (_, at) => `  ${line(at)}\n`).join("")}`;

const LARGE: Record<string, string> = {
  aliases: list("aliases", (at) => `name-${at}: mock/chat-${at}`),
  "aliases in a chain": list(
    "aliases",
    (at) => `name-${at}: ${at + 1 < COUNT ? `name-${at + 1}` : "mock/chat"}`,
  ),
  routes: list("routes", (at) => `name-${at}: [mock/chat-${at}, mock/b-${at}]`),
  fallbacks: list("fallbacks", (at) => `mock/name-${at}: [mock/chat-${at}]`),
  keys: list("keys", (at) => `- { name: n-${at}, key: k1234567890-${at} }`),
};

/** How often the event loop turned while something went on. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await work();
  clearInterval(timer);
  return turns;
}

describe(`${COUNT} entries are reloaded while the event loop turns`, () => {
  for (const [name, yaml] of Object.entries(LARGE)) {
    test(
      name,
      async () => {
        writeFileSync(join(folder, "weir.yaml"), yaml);
        const turns = await countTurns(async () => {
          const { config, locate } = await reloadConfig({ env: {}, cwd: folder });
          await assemble(config, {}, locate);
        });
        // `bun run faults` measures for how long the loop is blocked at most.
        expect(turns).toBeGreaterThan(2);
      },
      600_000,
    );
  }
});

test("the last of many mistakes and a repeated name are found at their lines", async () => {
  const load = () => reloadConfig({ env: {}, cwd: folder });
  writeFileSync(join(folder, "weir.yaml"), `${LARGE["aliases"]}  name-7: mock/chat\n`);
  await expect(load()).rejects.toThrow(`weir.yaml:${COUNT + 2}: name-7 is set twice (at aliases.name-7).`);
  writeFileSync(join(folder, "weir.yaml"), `${LARGE["aliases"]}  last: 7\n`);
  await expect(load()).rejects.toThrow(
    `weir.yaml:${COUNT + 2}: last must be a text, but is 7 (at aliases.last).`,
  );
  writeFileSync(join(folder, "weir.yaml"), `${LARGE["aliases"]}  last: [\n`);
  await expect(load()).rejects.toThrow(ConfigError);
}, 600_000);

describe("a document in slices is what the library reads in one go", () => {
  const texts: Record<string, string> = {
    "a long map": LARGE["aliases"]!,
    "a long list": LARGE["keys"]!,
    comments: "# head\naliases: # here\n  # there\n  a: b # end\n\n# tail\n",
    anchors: `x: &many\n${Array.from({ length: 1_200 }, (_, at) => `  - v${at}\n`).join("")}y: *many\n`,
    flow: `aliases: {${Array.from({ length: 1_200 }, (_, at) => `n${at}: v${at}`).join(", ")}}`,
    "windows line ends": "aliases:\r\n  a: b\r\n  c: d\r\n",
    "marks of begin and end": "---\nport: 1\n...\n",
    "block texts": `aliases:\n${Array.from({ length: 1_200 }, (_, at) => `  n${at}: |\n    line ${at}\n    & two\n`).join("")}`,
    empty: "",
  };
  for (const [name, text] of Object.entries(texts))
    test(
      name,
      () => {
        const [document] = atOnce(composeDocuments(text, new LineCounter()));
        expect(document?.errors).toEqual([]);
        expect(document?.toJS()).toEqual(parse(text, { uniqueKeys: false }));
      },
      600_000,
    );
});

test("a second document in the file is refused", () => {
  writeFileSync(join(folder, "weir.yaml"), "port: 1\n---\nport: 2\n");
  expect(() => loadConfig({ env: {}, cwd: folder })).toThrow(
    "the config file must be a single YAML document, but a second one begins here",
  );
});
