/** Texts at rest: who opens them, and what is left of them for others. */
import { expect, test } from "bun:test";
import { Envelope, isSealed, rowOf } from "../../src/core/envelope.ts";

const [ONE, TWO] = ["first-key-0123456789-0123456789-01", "second-key-0123456789-0123456789-0"];
const TEXT = "planted-refresh-token-of-a-person";
const ROW = rowOf("tokens", "sealed", ["per_1", "corp"]);

test("a sealed text is opened by its key, for its row, as long as no bit of it changes", () => {
  const envelope = new Envelope(ONE);
  const sealed = envelope.seal(TEXT, ROW);
  expect(isSealed(sealed)).toBe(true);
  expect(envelope.open(sealed, ROW)).toBe(TEXT);
  expect(new Envelope(TWO).open(sealed, ROW)).toBeUndefined();
  for (const other of [
    ["per_2", "corp"],
    ["per_1corp", ""],
    ["per_1", "corp", ""],
  ])
    expect(envelope.open(sealed, rowOf("tokens", "sealed", other))).toBeUndefined();
  expect(envelope.open(sealed, rowOf("tokens", "other", ["per_1", "corp"]))).toBeUndefined();
  const bytes = Buffer.from(sealed.slice(4), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    expect(envelope.open(`we1.${changed.toString("base64url")}`, ROW)).toBeUndefined();
  }
  for (const text of ["", "we1.", "we1.AAAA", TEXT, sealed.slice(0, -4)])
    expect(envelope.open(text, ROW)).toBeUndefined();
});

test("the same text is sealed differently each time, and nothing of it can be read", () => {
  const envelope = new Envelope(ONE);
  const [one, other] = [envelope.seal(TEXT, ROW), envelope.seal(TEXT, ROW)];
  expect(one).not.toBe(other);
  for (const text of [one, Buffer.from(one.slice(4), "base64url").toString("latin1")])
    expect(text).not.toContain("planted");
  expect(envelope.open(envelope.seal("", ROW), ROW)).toBe("");
});

test("another wrap key changes the wrapping alone, and the key before no longer opens it", () => {
  const sealed = new Envelope(ONE).seal(TEXT, ROW);
  const both = new Envelope(TWO, [ONE]);
  expect(both.open(sealed, ROW)).toBe(TEXT);
  const next = both.rewrap(sealed, ROW)!;
  expect(next).not.toBe(sealed);
  expect(next.slice(-20)).toBe(sealed.slice(-20));
  expect(both.rewrap(next, ROW)).toBe(next);
  expect(new Envelope(TWO).open(next, ROW)).toBe(TEXT);
  expect(new Envelope(ONE).open(next, ROW)).toBeUndefined();
  expect(new Envelope(TWO).rewrap(sealed, ROW)).toBeUndefined();
  expect(both.rewrap(sealed, rowOf("tokens", "sealed", ["per_2", "corp"]))).toBeUndefined();
});
