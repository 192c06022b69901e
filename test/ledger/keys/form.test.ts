import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import {
  claimedKind,
  digestOf,
  hintOf,
  isMistyped,
  makeKeyId,
  makeKeyText,
} from "../../../src/ledger/keys/form.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const BASE62 = /^[0-9A-Za-z]+$/;

test("a key has its prefix, 43 characters of 32 random bytes and 6 characters of a checksum", () => {
  for (const [kind, prefix] of [
    ["call", "weir_sk_"],
    ["admin", "weir_ad_"],
    ["read", "weir_ro_"],
  ] as const) {
    const text = makeKeyText(kind);
    expect(text.slice(0, 8)).toBe(prefix);
    expect(text.slice(8)).toHaveLength(43 + 6);
    expect(text.slice(8)).toMatch(BASE62);
    expect(claimedKind(text)).toBe(kind);
    expect(isMistyped(text)).toBe(false);
  }
  expect(new Set(Array.from({ length: 1000 }, () => makeKeyText("call"))).size).toBe(1000);
});

test("the same bytes give the same key, and the extremes fit", () => {
  expect(makeKeyText("call", new Uint8Array(32))).toStartWith(`weir_sk_${"0".repeat(43)}`);
  expect(makeKeyText("call", new Uint8Array(32).fill(255))).toHaveLength(57);
});

test("each change of one character of a key is seen as a typing error", () => {
  const text = makeKeyText("call");
  for (let at = 8; at < text.length; at++) {
    const changed = text.slice(0, at) + (text[at] === "a" ? "b" : "a") + text.slice(at + 1);
    expect(isMistyped(changed)).toBe(true);
  }
  expect(isMistyped(text.slice(0, -1))).toBe(true);
  expect(isMistyped(`${text}x`)).toBe(true);
});

test("a key of another form is never mistyped", () => {
  withinBudget(
    fc.property(fc.string(), (text) => {
      if (/^weir_(sk|ad|ro)_/.test(text)) return;
      expect(isMistyped(text)).toBe(false);
      expect(claimedKind(text)).toBeUndefined();
    }),
  );
});

test("the digest is SHA-256", () => {
  expect(digestOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const text = makeKeyText("call");
  expect(digestOf(text)).toBe(createHash("sha256").update(text).digest("hex"));
});

test("a hint shows four characters at both ends, and nothing of a short key", () => {
  const text = makeKeyText("call");
  expect(hintOf(text)).toBe(`${text.slice(0, 12)}…${text.slice(-4)}`);
  expect(hintOf("hunter2")).toBe("…");
});

test("an id is key_ and twelve characters", () => {
  for (let round = 0; round < 100; round++) expect(makeKeyId()).toMatch(/^key_[0-9a-z]{12}$/);
});
