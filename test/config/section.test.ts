/** Sections that a feature brings, beside those that every build has. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { loadConfig } from "../../src/config/load.ts";
import { maskText } from "../../src/config/mask-text.ts";
import { optionsWith } from "../../src/config/schema.ts";
import { type Section, section } from "../../src/config/section.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-section-"));
afterAll(() => rmSync(folder, { recursive: true }));

const words = section(
  "words",
  Type.Object(
    {
      most: Type.Integer({ default: 0, minimum: 0, "x-flag": "--words", "x-env": "WEIR_WORDS" }),
      file: Type.String({ default: "words.txt", "x-path": true }),
      token: Type.Optional(Type.String({ writeOnly: true })),
    },
    { additionalProperties: false, description: "A limit of words." },
  ),
  {
    after: ["timeouts"],
    faults: (written) =>
      (written as { most?: number }).most === 13
        ? [{ path: ["words", "most"], clause: "most is 13, which brings bad luck" }]
        : [],
    settle: (value, { folderOf }) => ({ ...value, file: resolve(folderOf("words.file"), value.file) }),
    agrees: ({ most }, config) =>
      most > (config as { port: number }).port
        ? [{ path: ["words", "most"], clause: "most is greater than port" }]
        : [],
  },
);
const sentences = section("sentences", Type.Boolean({ default: true }), { after: ["nowhere", "words"] });

function load(text: string, options: { flags?: Record<string, string>; sections?: Section[] } = {}) {
  writeFileSync(join(folder, "weir.yaml"), text);
  return loadConfig({ env: {}, cwd: folder, sections: [words, sentences], ...options });
}

test("a section of a feature has a default, a flag, an origin and its own type", () => {
  const { config, sources, options } = load("words: { file: list.txt }\n", { flags: { "--words": "7" } });
  const { most, file } = words.of(config);
  expect(most satisfies number).toBe(7);
  expect(file).toBe(join(folder, "list.txt"));
  expect(sentences.of(config)).toBe(true);
  expect(sources["words.most"]).toEqual({ layer: "flag", at: "--words" });
  expect(sources["words.file"]).toEqual({ layer: "file", at: "weir.yaml:1" });
  const names = Object.keys(options.schema.properties);
  expect(names.slice(names.indexOf("timeouts"), names.indexOf("timeouts") + 3)).toEqual([
    "timeouts",
    "words",
    "sentences",
  ]);
  // @ts-expect-error a member of a feature is read by its key alone
  void config.words;
});

test("its rules are checked with file and line: shape, faults, and what does not agree", () => {
  expect(() => load("port: 9000\nwords: { most: 13 }\n")).toThrow("weir.yaml:2: most is 13");
  expect(() => load("words: { most: many }\n")).toThrow("most must be an integer");
  expect(() => load("port: 9000\nwords:\n  most: 9001\n")).toThrow("weir.yaml:3: most is greater");
  expect(() => load("wards: { most: 1 }\n")).toThrow("did you mean words?");
});

test("without the feature its section is an unknown option", () => {
  expect(() => load("words: { most: 1 }\n", { sections: [] })).toThrow("unknown option words");
});

test("secrets of a section are sealed, and masked in the text of the file", () => {
  const text = 'words: { token: "abcdefgh-secret" }\n';
  expect(JSON.stringify(load(text).config)).not.toContain("abcdefgh");
  expect(maskText("words: { token: abcdefgh-secret }\n", { schema: optionsWith([words]).file })).toBe(
    "words: { token: *** }\n",
  );
});

test("two sections of one name are refused", () => {
  expect(() => optionsWith([words, words])).toThrow("two sections of the config have the name words");
  const one = section("one", Type.Boolean(), { after: ["two"] });
  const two = section("two", Type.Boolean(), { after: ["one"] });
  expect(() => optionsWith([one, two])).toThrow("the section one of the config follows itself");
  expect(() => optionsWith([section("port", Type.Integer())])).toThrow("have the name port");
});
