/** Sections that are read without the YAML library mean what the library reads in them, or are left to it. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { composeDocuments } from "../../src/config/compose.ts";
import type { Path } from "../../src/config/error.ts";
import { loadConfig } from "../../src/config/load.ts";
import { holdsSections, takePlainSections } from "../../src/config/plain-sections.ts";
import { atOnce } from "../../src/core/slices.ts";
import { withinBudget } from "../helpers/within-budget.ts";

const SPACES = ["", "  ", "  ", "  ", "    ", "    ", " ", "   ", "      "];
const NAMES =
  "a b c-1 /team/x _x __proto__ constructor true Null 1 <<  a.b a/b@c \"q\" 'q' *a &a ? - a,b [a] {a} é ~ on".split(
    " ",
  );
const VALUES = [
  ..."a /team/x true False null ~ 1 0 00 01 -1 +1 1.0 1.50 0.10 1. .5 0x1F 0o17 1e3 1_000 123456789012345 1234567890123456789 a:b a: :a a::b http://x:1/v1 [] {} [ ] { } [a] [a,b] {a:b} {a} *a &a !!str ! | > |- << ? - @x `x %x # 2020-01-01 12:30 2bd806c9 5/month 12e45 1e5a 1e 0xzz 0o9 0b1 1.2.3 1-a 127.0.0.1:80 1a:b NaN .inf yes = , a, a] a} [a a#b é \u2028 \t \r".split(
    " ",
  ),
  ...[
    '"x y"',
    '"a: b # c"',
    '"a\\n"',
    '"it\'s"',
    "'it''s'",
    "'a \"b\" {c}'",
    '""',
    "''",
    '"a',
    "${X}",
    '"${X}"',
  ],
  ...["[a, b]", "[ a , 1 ]", "[a,]", "[a: b]", '["x, y"]', "[[a], {b: c}]", "[a b]", "[, a]", "[a #b]"],
  ...["{a: 1}", "{ a: 1, b: [x, {c: true}] }", "{a: 1, a: 2}", "{a: b,}", "{a: }", '{"a": b}', "{a: b: c}"],
  ...[
    "{ a: b",
    "{a: 1}}",
    "{a: 1} # c",
    "{a: null}",
    "{true: 1}",
    "{ on: a:b, x: http://h:1/v1 }",
    "{a : b}",
  ],
  ...[
    "a b",
    "a # c",
    "a #c",
    "a: b",
    "- a",
    "a ",
    " a",
    "a\u00a0b",
    "!!str 1",
    "&a x",
    "? a",
    "1 ",
    "# c",
    "a, b",
  ],
];
const ALONE = [
  "",
  "  ",
  "# c",
  "    # c",
  "  #c",
  "---",
  "...",
  "- a",
  "x: y",
  "budgets:",
  "keys:",
  'q: "',
  "z: |",
  "f: {",
  "}",
  '"',
];

const line = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...SPACES),
        fc.oneof(
          {
            weight: 5,
            arbitrary: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h").map((name) => `${name}:`),
          },
          { weight: 2, arbitrary: fc.constantFrom(...NAMES).map((name) => `${name}:`) },
          { weight: 2, arbitrary: fc.constant("-") },
          { weight: 2, arbitrary: fc.constantFrom("- a:", "- b:") },
          { weight: 1, arbitrary: fc.constant("") },
        ),
        fc.option(fc.constantFrom(...VALUES), { nil: undefined, freq: 6 }),
      )
      .map(
        ([spaces, head, value]) => `${spaces}${[head, value].filter((part) => part !== undefined).join(" ")}`,
      ),
  },
  { weight: 1, arbitrary: fc.constantFrom(...ALONE) },
);
const before = fc.constantFrom(
  "",
  "",
  "",
  "x: y\n",
  "\uFEFF",
  "# c\n",
  "- a\n",
  'q: "\n',
  "f: {\n",
  "z: |\n",
  "z: a\n",
  "%YAML 1.1\n---\n",
  "---\n",
  "? \n",
);
const text = fc
  .tuple(
    before,
    fc.constantFrom("budgets", "keys"),
    fc.array(line, { minLength: 1, maxLength: 5 }),
    fc.constantFrom("", "\n", "\nlast: 1\n", "\nbudgets:\n"),
  )
  .map(([start, name, lines, end]) => `${start}${name}:\n${lines.join("\n")}${end}`);

/** The value of a document; undefined for an alias without an anchor, which the library finds late. */
function valueOf(document: { toJS(): unknown }): Record<string, unknown> | undefined {
  try {
    return document.toJS() as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** What is read without the library for its sections; undefined if nothing is. */
function readFast(yaml: string) {
  const { rest, sections } = atOnce(takePlainSections(yaml, 1));
  if (sections.length === 0) return undefined;
  const lines = new LineCounter();
  const documents = atOnce(composeDocuments(rest, lines));
  if (documents.length !== 1 || !holdsSections(documents[0]!, sections)) return undefined;
  const value = valueOf(documents[0]!);
  if (value === undefined) return { value, sections };
  for (const { name, value: own } of sections) value[name] = own;
  return { value, sections };
}

/** The line of each value below a node, by its path. */
function* linesBelow(node: unknown, lines: LineCounter, path: Path = []): Generator<[Path, number]> {
  if (isMap(node))
    for (const { key, value } of node.items) {
      const inner = [...path, String((key as { value: unknown }).value)];
      yield [inner, lines.linePos((key as Node).range![0]).line];
      yield* linesBelow(value, lines, inner);
    }
  else if (isSeq(node))
    for (const [index, item] of node.items.entries()) {
      yield [[...path, index], lines.linePos((item as Node).range![0]).line];
      yield* linesBelow(item, lines, [...path, index]);
    }
}

function compare(yaml: string): boolean {
  const fast = readFast(yaml);
  if (!fast) return false;
  const lines = new LineCounter();
  const options = { lineCounter: lines, stringKeys: true, uniqueKeys: false, prettyErrors: false };
  const document = parseDocument(yaml, options);
  expect(document.errors.concat(document.warnings as never[])).toEqual([]);
  const value = valueOf(document);
  if (value === undefined || fast.value === undefined) {
    expect([value, fast.value]).toEqual([undefined, undefined]);
    return true;
  }
  expect(Object.entries(fast.value)).toEqual(Object.entries(value));
  expect(JSON.stringify(fast.value)).toBe(JSON.stringify(value));
  for (const { name, lineOf } of fast.sections) {
    const pairs = isMap(document.contents) ? document.contents.items : [];
    const last = pairs.findLast(({ key }) => isScalar(key) && key.value === name);
    const own = fast.sections.findLast((section) => section.name === name);
    if (own?.lineOf !== lineOf) continue;
    for (const [path, at] of linesBelow(last?.value, lines)) expect([path, lineOf(path)]).toEqual([path, at]);
  }
  return true;
}

test("any text that is read without the library is what the library reads", () => {
  withinBudget(fc.property(text, (yaml) => void compare(yaml)));
});

test("each character in each place is what the library reads", () => {
  const characters = Array.from({ length: 0x101 }, (_, code) => String.fromCharCode(code));
  const words = characters.flatMap((one) => [
    one,
    `a${one}`,
    `${one}a`,
    `a${one}b`,
    `1${one}`,
    `${one}1`,
    `1${one}1`,
  ]);
  const places: ((word: string) => string)[] = [
    (word) => `  x: ${word}`,
    (word) => `  ${word}: x`,
    (word) => `  - ${word}`,
    (word) => `  x: {a: ${word}, b: [${word}]}`,
    (word) => `  x: { ${word}: a }`,
    (word) => `  x: "${word}"`,
    (word) => `  x: '${word}'`,
    (word) => `  x:\n    y: ${word}\n    ${word}: y`,
    (word) => `  x: a\n${word}\n  y: b`,
  ];
  const read = places.map((place) => words.filter((word) => compare(`keys:\n${place(word)}\n`)).length);
  for (const count of read) expect(count).toBeGreaterThan(3);
});

describe("texts that are read without the library", () => {
  const PLAIN: Record<string, string> = {
    "a line for each budget":
      "budgets:\n  a: { on: /team/1, limit: 1.50, every: month }\n  b: {on: {key: bob}, limit: 2}\n",
    "a line for each member":
      "budgets:\n  a:\n    on: /x\n    limit: 1\n\n  # c\n  b:\n    on: /y\n    alerts: [50, 80]\nport: 1\n",
    aliases: 'port: 1\naliases:\n    a: mock/chat\n    b: http://x:1/v1\n    c: "x y"\n',
    keys: "keys:\n  - bob:k1234567890\n  - { name: alice, key: 'a b' }\n",
    "keys with a line for each member":
      "keys:\n  - name: bob\n    sha256: 2bd806c97f0e\n    budget: 5/month\n  - key: a1\n\n    name: alice\n  - eve:k1\n",
    "a name at two depths of an entry": "keys:\n  - a:\n      a: b\n    c: d\n",
    "two sections": "aliases:\n  a: b\n\n# c\nroutes:\n  r: [a, { model: b, weight: 2 }]\n",
    "members of members": "providers:\n  a:\n    timeouts:\n      gapMs: 1\n    speaks: gemini\n",
  };
  for (const [name, yaml] of Object.entries(PLAIN))
    test(name, () => {
      expect(compare(yaml)).toBe(true);
    });
});

describe("in a long file", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-plain-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const many = Array.from(
    { length: 300 },
    (_, at) => `  b-${at}: { on: /t/${at}, limit: ${at + 1}, every: day }`,
  );
  const load = (...last: string[]) => {
    writeFileSync(
      join(folder, "weir.yaml"),
      ["port: 1", "budgets:", ...many, ...last, "workers: 1", ""].join("\n"),
    );
    return loadConfig({ env: {}, cwd: folder });
  };

  test("all values and their lines are there", () => {
    const { config, locate, sources } = load("  last:", "    on: all", "    limit: 7", "    every: week");
    expect(Object.keys(config.budgets)).toHaveLength(301);
    expect([config.port, config.workers]).toEqual([1, 1]);
    expect(["budgets", "workers"].map((name) => sources[name]?.at)).toEqual(["weir.yaml:2", "weir.yaml:307"]);
    expect(
      [["b-7"], ["b-7", "limit"], ["last", "limit"], ["none"]].map((path) => locate(["budgets", ...path])),
    ).toEqual(["weir.yaml:10", "weir.yaml:10", "weir.yaml:305", "weir.yaml:2"]);
  });

  test("mistakes are told as in a short one", () => {
    const ROWS: [line: string, message: string][] = [
      ["  x: { on: all, limit: a, every: day }", "weir.yaml:303: limit must be an amount in dollars"],
      ["  b-7: { on: all, limit: 1, every: day }", "weir.yaml:303: b-7 is set twice (at budgets.b-7)."],
      ["  x: { on: all, on: all }", "weir.yaml:303: on is set twice (at budgets.x.on)."],
      ["  x: { on: all", "weir.yaml:"],
      ["budgets:", "weir.yaml:303: budgets is set twice (at budgets)."],
      ["  x: { on: $" + "{NONE}, limit: 1, every: day }", "weir.yaml:303: "],
      ["  x:", "weir.yaml:303: x must be "],
    ];
    for (const [line, message] of ROWS) expect(() => load(line), line).toThrow(message);
  });
});
