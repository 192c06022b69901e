/** The most tokens of a text, against the tokenizers of OpenAI: weir has none, these are only for tests. */
import { expect, test } from "bun:test";
import { countTokens as countOlder } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countNewer } from "gpt-tokenizer/encoding/o200k_base";
import { MostTokens, mostTokens } from "../../src/core/tokens/most-tokens.ts";
import { assemble, MOST_TOKENS } from "../helpers/assemble-wasm.ts";
import { BranchingTokens } from "../helpers/branching-tokens.ts";
import { randomOf, SCRIPTS, textsOfAllKinds } from "../helpers/text-kinds.ts";
import { IS_LONG } from "../helpers/effort.ts";

const tokensOf = (text: string) => Math.max(countNewer(text), countOlder(text));

test("the module is the assembled source", async () => {
  const made = await assemble(MOST_TOKENS);
  if (process.env["UPDATE"] === "1") await Bun.write(MOST_TOKENS.assembled, made);
  expect(await Bun.file(MOST_TOKENS.assembled).text()).toBe(made);
});

test("the module counts each text, in any pieces, as a loop with branches does", () => {
  const random = randomOf(11);
  const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join("");
  const alphabets = [
    "abcdefghijklmnopqrstuvwxyz",
    ["aB", "AB c", "  \n\n\t.A1é中 ", "=-=-  ==", "é中😀 a1.A\0\u07ff\u0800\ud800\uffff", "1 2,3 "],
    ascii,
  ].flat();
  const pieceOf = () => {
    const alphabet = alphabets[Math.floor(random() * alphabets.length)]!;
    const length = Math.floor(random() * (random() < 0.1 ? 300 : 24));
    return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
  };
  // Texts interleave as those of streams do.
  const pairs = [0, 1, 2].map(() => [new MostTokens(), new BranchingTokens()] as const);
  for (let round = 0; round < 30_000; round++) {
    const [module, loop] = pairs[round % pairs.length]!;
    const piece = pieceOf();
    if (random() < 0.3) {
      module.next();
      loop.next();
    }
    module.add(piece);
    loop.add(piece);
    expect(sumsOf(module), JSON.stringify(piece)).toEqual(sumsOf(loop));
  }
});

test("a text that is longer than the memory of the module is counted in pieces", () => {
  const long = "Words, signs  and é中 12".repeat(20_000);
  const [module, loop] = [new MostTokens(), new BranchingTokens()];
  module.add(long);
  loop.add(long);
  expect(sumsOf(module)).toEqual(sumsOf(loop));
});

test("a text that was counted adds the same as the text itself, and ends the one before", () => {
  const counted = new MostTokens();
  counted.add("file_path2é.");
  const [added, read] = [new MostTokens(), new MostTokens()];
  for (const sums of [added, read]) sums.add("word ");
  added.addCounted(counted);
  read.next();
  read.add("file_path2é.");
  expect(sumsOf(added)).toEqual(sumsOf(read));
  added.add("after");
  read.next();
  read.add("after");
  expect(sumsOf(added)).toEqual(sumsOf(read));
});

const sumsOf = ({ words, digits, signs, scripts }: BranchingTokens | MostTokens) => ({
  ...{ words, digits, signs, scripts },
});

/** 10,000 texts take a tokenizer 10 to 30 seconds. */
const COUNT = IS_LONG ? 10_000 : 950;

test("no text of any kind has more tokens, and prose and code have at most 1.6 times fewer", () => {
  const below: string[] = [];
  const byKind = new Map<string, { most: number; tokens: number; largest: number }>();
  for (const { kind, text } of textsOfAllKinds(COUNT)) {
    const most = mostTokens(text);
    const tokens = tokensOf(text);
    if (most < tokens) below.push(`${kind}: ${most} for ${tokens} of ${JSON.stringify(text)}`);
    const sums = byKind.get(kind) ?? { most: 0, tokens: 0, largest: 0 };
    byKind.set(kind, {
      most: sums.most + most,
      tokens: sums.tokens + tokens,
      largest: Math.max(sums.largest, most / tokens),
    });
  }
  expect(below).toEqual([]);
  for (const kind of [...SCRIPTS, "code"]) {
    const { most, tokens, largest } = byKind.get(kind)!;
    expect(most / tokens, kind).toBeWithin(1, 1.6);
    // One short text may be more unusual than its kind.
    expect(largest, kind).toBeWithin(1, 1.8);
  }
  for (const { most, tokens } of byKind.values()) expect(most / tokens).toBeLessThan(2.5);
}, 120_000);

test("rows of one character, and texts that are no language, have no more tokens either", () => {
  const rows = [
    ..."!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~aexZ0\n\t é中ا한",
    "ha",
    "HA",
    "\r\n",
    "\n ",
    "1,",
    "x=",
    "the ",
  ];
  for (const row of rows) {
    const text = row.repeat(200);
    expect(mostTokens(text), row).toBeGreaterThanOrEqual(tokensOf(text));
  }
  const random = randomOf(5);
  for (const alphabet of [
    "abcdefghijklmnopqrstuvwxyz",
    "abcdefghijklmnopqrstuvwxyz      ",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "ACGT",
    "xyz=;()",
    "abcABC012 ,.;:{}()[]'-_=+\n",
  ])
    for (let round = 0; round < 20; round++) {
      const text = Array.from({ length: 400 }, () => alphabet[Math.floor(random() * alphabet.length)]).join(
        "",
      );
      expect(mostTokens(text), text).toBeGreaterThanOrEqual(tokensOf(text));
    }
}, 60_000);

test("a text in pieces counts as the whole text, and texts in any order have the same sum", () => {
  const random = randomOf(3);
  for (const { text } of textsOfAllKinds(190, 9)) {
    const pieces = new MostTokens();
    for (let at = 0; at < text.length;) {
      const end = at + 1 + Math.floor(random() * 9);
      pieces.add(text.slice(at, end));
      at = end;
    }
    expect(pieces.total).toBe(mostTokens(text));
  }
  const sums = textsOfAllKinds(190, 4).map(({ text }) => mostTokens(text));
  const sum = (list: readonly number[]) => list.reduce((before, each) => before + each, 0);
  expect(sum(sums.toReversed())).toBe(sum(sums));
  expect(sum(sums.toSorted((a, b) => a - b))).toBe(sum(sums));
});
