/** Names of any script: what is one, what looks the same, and what becomes of names of other systems. */
import { expect, test } from "bun:test";
import { isTakenBy, nameFault, nameFrom, nameInHeader, normalName } from "../../src/core/name.ts";

test("letters of any script make a name", () => {
  const names = [
    "alice",
    "Zoë",
    "Łukasz-2",
    "отдел-qa",
    "研究",
    "한국어",
    "مريم",
    "עברית",
    "हिन्दी",
    "ไทย",
    "a.b_c@d",
  ];
  for (const name of names) expect([name, nameFault(name)]).toEqual([name, undefined]);
  expect(nameFault("研".repeat(64))).toBeUndefined();
  expect(nameFault("𝒜".repeat(64))).toBeUndefined();
});

test("invisible characters, marks alone, mixed scripts and long names are refused, in words", () => {
  const refused: [string, string][] = [
    ["", "must have 1 to 64 letters of any script"],
    ["a b", "must have 1 to 64 letters of any script"],
    ["bad!", "must have 1 to 64 letters of any script"],
    ["研".repeat(65), "must have 1 to 64 letters of any script"],
    ["\u0301a", "must have 1 to 64 letters of any script"],
    ["al\u200bice", "U+200B"],
    ["al\u202eice", "U+202E"],
    ["\u3164", "U+3164"],
    ["a\u0007", "U+0007"],
    ["a\u2028b", "U+2028"],
    ["a\ufe0f", "U+FE0F"],
    ["a\ud800", "U+D800"],
    ["\u0430dmin", "must not mix letters of Latin and Cyrillic"],
    ["οffice", "must not mix letters of Latin and Greek"],
  ];
  for (const [name, words] of refused) {
    const fault = nameFault(name);
    expect([name, fault]).toEqual([name, expect.stringContaining(words)]);
    expect(fault).not.toMatch(/[\\^$[\]{}]/);
  }
  expect(nameFault("team one", true)).toBeUndefined();
  for (const name of [" a", "a ", "\u00a0"])
    expect([name, nameFault(name, true)]).not.toEqual([name, undefined]);
});

test("names that look the same take each other; plain ones may differ in case", () => {
  expect(isTakenBy("Zoë", normalName("Zoe\u0308"))).toBe(true);
  for (const [one, other] of [
    ["ＡＬＩＣＥ", "alice"],
    ["Zoë", "ZOË"],
    ["straße", "STRASSE"],
    ["ﬁona", "fiona"],
  ] as const)
    expect([one, other, isTakenBy(one, other)]).toEqual([one, other, true]);
  for (const [one, other] of [
    ["Alice", "alice"],
    ["Zoë", "Zoe"],
    ["研究", "研修"],
  ] as const)
    expect([one, other, isTakenBy(one, other)]).toEqual([one, other, false]);
});

test("a name is made of any text, and a header carries it", () => {
  expect(
    ["Zoë the 1st", "bob the builder", "👍", "\u0301x", "a\u200bb", "\u0430dmin", ""].map((text) =>
      nameFrom(text),
    ),
  ).toEqual(["Zoë-the-1st", "bob-the-builder", "-", "x", "a-b", "-dmin", "key"]);
  for (const text of ["Zoë the 1st", "👍", "\u3164", "\u0430dmin", "", "x".repeat(99)])
    expect([text, nameFault(nameFrom(text))]).toEqual([text, undefined]);
  for (const name of ["alice", "Zoë 研究", "100% 研"]) {
    const text = nameInHeader(name);
    expect(text).toMatch(/^[\x20-\x7e]+$/);
    expect(decodeURIComponent(text)).toBe(name);
  }
});
