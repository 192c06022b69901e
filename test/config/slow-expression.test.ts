/** Which expressions of the operator are refused because a client could make them take very long. */
import { expect, test } from "bun:test";
import { slowness } from "../../src/config/slow-expression.ts";

const REFUSED: readonly string[] = [
  ...[
    "(a+)+$",
    "(a*)*b",
    "(?:a|a)*b",
    "(?:a|ab)+c",
    "(a?)+b",
    "(?:x+x+)+y",
    "([a-z]+)*\\d",
    "(?:\\w+\\s?)+:",
  ],
  ...[
    "(\\d+|\\w+)+!",
    "((ab)*)*c",
    "(.*)*x",
    "(?=(a+)+)b",
    "(?<name>a+){20,}b",
    "\\s*\\s*x",
    ".*.*=",
    "a+a+b",
  ],
  ...["(a+)\\1b", "\\w+[a-z]*\\d+x", "(?:[\\s\\S]*?)*end", "(\\p{2,}|p)+q"],
];

const ACCEPTED: readonly string[] = [
  ...[
    "sk-[A-Za-z0-9]+",
    "\\b\\d{3}-\\d{2}-\\d{4}\\b",
    "[\\w.+-]+@[\\w-]+\\.com",
    "password=\\S+",
    "(?:\\w+\\.)+com",
  ],
  ...[
    "-----BEGIN [A-Z ]*KEY-----[\\s\\S]*?-----END",
    "(?:foo|bar)+",
    "(?:\\d{4}[- ]?){4}",
    "(?<=token: )\\w+",
  ],
  ...["id_\\d+", "[a-f0-9]{32}", '"ssn":\\s*"[^"]+"', "AKIA[0-9A-Z]{16}", "(?:a|b)*c", "x{2,5}y", "a|b+|c*d"],
  ...["\\(\\d+\\)", "[\\]\\d]+x", "req_[\\w-]{24}", "\\u0041+\\x42", "Card: (\\d+)", "(?:,\\w+)*;"],
];

test.each(REFUSED)("%s is refused", (source) => {
  expect(slowness(source)).toBeString();
});

test("with the flag u, properties of characters are classes", () => {
  expect(slowness("(\\p{L}+)*\\d", "u")).toBeString();
  expect(slowness("(?:[\\p{L}\\p{M}]+)+x", "u")).toBeString();
  expect(slowness("\\p{Lu}+\\d+", "u")).toBeUndefined();
});

test.each(ACCEPTED)("%s is accepted", (source) => {
  expect(slowness(source)).toBeUndefined();
});

test("what is accepted takes at most quadratic time on texts that are made for it", () => {
  const parts = ["a", "1", " ", "ab", "a1", "a.", "1-", "-----BEGIN KEY-----", "x", '"', "(", "A"];
  for (const source of ACCEPTED)
    for (const part of parts) {
      const text = `${part.repeat(Math.ceil(2_000 / part.length))}\u0000`;
      const began = performance.now();
      text.replace(new RegExp(source, "g"), "***");
      expect([source, part, performance.now() - began < 1_000]).toEqual([source, part, true]);
    }
});
