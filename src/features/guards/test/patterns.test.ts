/** Patterns of the operator: refused if a text can make them take very long, or linear. */
import { expect, test } from "bun:test";
import { slowness } from "../../../config/slow-expression.ts";
import { detectorOf } from "../detect/built-in.ts";

const EVIL: readonly string[] = [
  ...["(a+)+$", "([a-zA-Z]+)*$", "(a|aa)+$", "(a|a?)+$", "(.*a){20,}$", "^(([a-z])+.)+[A-Z]([a-z])+$"],
  ...["(\\w+\\s?)*;", "(?:\\d+-?)+x", "(x+x+)+y", "(\\s+\\S*)*!", "\\s*\\s*\\s*x", ".*.*.*=.*"],
  ...["(a+)\\1+b", "(?<q>['\"]).*\\k<q>", "(?:a*)*b", "((?:a|b)+c?)+d", "\\d+\\d+\\d+x", '(?:[^"]*)*"x'],
  ...["a*b?a*c", "(\\p{L}+)*\\d"],
];

test("twenty patterns that a text can slow down are refused", () => {
  expect(EVIL.length).toBe(20);
  expect(EVIL.filter((source) => slowness(source, "u") === undefined)).toEqual([]);
});

const ALLOWED = [
  ...[
    "\\bE-\\d{6}\\b",
    "password=\\S+",
    "[\\w.+-]+@corp\\.example",
    "-----BEGIN [A-Z ]*KEY-----[^]*?-----END",
  ],
  ...["\\s+$", "(?:\\w+\\.)+corp", '"ssn":\\s*"[^"]+"', "(?:\\d{4}[- ]?){4}", "x[^y]*y", "(?<=id: )\\w+"],
];

/** Twenty units, each repeated, with ten endings. */
const UNITS = [
  "a",
  "1",
  " ",
  "ab",
  "a1",
  "a.",
  "1-",
  "-----BEGIN KEY-----",
  "x",
  '"',
  "(",
  "A",
  "password=",
  "\t",
  "é",
  "id: ",
  "a@",
  '"ssn":',
  "E-1",
  "1234 ",
];
const ENDINGS = ["", "\u0000", "!", "y", '"', "@corp", "=", "\n", "-----END", "z9"];
const SIZE = 20_000;
/** Milliseconds of processor time for each: on a text ten times as long it is ten times as much. */
const MOST = 400;

test("other patterns are linear on two hundred texts", () => {
  expect(UNITS.length * ENDINGS.length).toBe(200);
  const slow: string[] = [];
  for (const source of ALLOWED) {
    expect(slowness(source, "u")).toBeUndefined();
    const detector = detectorOf({ name: "own", pattern: source });
    for (const unit of UNITS)
      for (const ending of ENDINGS) {
        const text = unit.repeat(Math.ceil(SIZE / unit.length)) + ending;
        const before = process.cpuUsage();
        detector.find(text);
        const ms = process.cpuUsage(before).user / 1e3;
        if (ms > MOST) slow.push(`${source} on ${unit}…${ending}: ${ms} ms`);
      }
  }
  expect(slow).toEqual([]);
}, 120_000);

test("windows find what one pass over the text finds", () => {
  const detector = detectorOf({ name: "own", pattern: "\\bE-\\d{6}\\b|<[^>]*>", longest: 64 });
  for (let shift = 480; shift < 540; shift++) {
    const text = `${"-".repeat(shift)} E-123456 <${"a".repeat(40)}> ${" ".repeat(shift)}E-654321 E-1234567 <${"b".repeat(900)}>`;
    const expected = [...text.matchAll(/\bE-\d{6}\b|<[^>]*>/gu)].map(({ 0: one, index }) => [
      index,
      index + one.length,
    ]);
    expect(detector.find(text).map(({ start, end }) => [start, end])).toEqual(expected);
  }
});
