import { expect, test } from "bun:test";
import { digestOf } from "../../../src/ledger/keys/form.ts";
import {
  changeKey,
  createKey,
  type Maker,
  revokeKey,
  rotateKey,
  UNLIMITED,
} from "../../../src/ledger/keys/make.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

test("a created key is stored as its digest, and its text is in no member of the entry", () => {
  const { entry, text } = createKey({ name: "alice", path: "/eng", tags: ["blue"] }, UNLIMITED, NOW);
  expect(entry).toMatchObject({ name: "alice", kind: "call", path: "/eng", tags: ["blue"], scopes: {} });
  expect(entry.digests[0]!.sha256).toBe(digestOf(text));
  expect(JSON.stringify(entry)).not.toContain(text);
  expect(JSON.stringify(entry)).not.toContain(text.slice(12, -4));
});

test("a key that names no scope has that of its maker, and one that asks for more is refused", () => {
  const maker: Maker = { path: "/eng", scopes: { models: ["gpt-*"], maxTokens: 100 }, expiresAt: NOW + HOUR };
  const { entry } = createKey({ name: "child" }, maker, NOW);
  expect(entry).toMatchObject({
    path: "/eng",
    scopes: { models: ["gpt-*"], maxTokens: 100 },
    expiresAt: NOW + HOUR,
  });
  const make = (request: object) => () => createKey({ name: "child", ...request }, maker, NOW);
  expect(make({ path: "/ops" })).toThrow("path must be /eng or below it.");
  expect(make({ scopes: { models: ["claude-*"] } })).toThrow(
    "models must be within gpt-*, but contains claude-*: a key cannot permit more than the key that makes it.",
  );
  expect(make({ scopes: { maxTokens: 101 } })).toThrow("maxTokens must be at most 100");
  expect(make({ expiresAt: NOW + 2 * HOUR })).toThrow("expires must be at most");
  expect(make({ scopes: { models: ["gpt-5"] } })().entry.scopes.models).toEqual(["gpt-5"]);
});

test("a key that is already expired, or has a name that no list can show, is refused", () => {
  expect(() => createKey({ name: "x", expiresAt: NOW }, UNLIMITED, NOW)).toThrow(
    "expires must be in the future.",
  );
  for (const name of ["", "a b", "x".repeat(65), "a\u200bb"])
    expect(() => createKey({ name }, UNLIMITED, NOW)).toThrow(/^name must (have|not have)/);
});

test("a rotated key has two digests until the grace period ends; a second rotation does not extend it", () => {
  const first = createKey({ name: "alice" }, UNLIMITED, NOW);
  const second = rotateKey(first.entry, HOUR, UNLIMITED, NOW);
  expect(second.entry.id).toBe(first.entry.id);
  expect(second.entry.digests.map(({ sha256, until }) => [sha256, until])).toEqual([
    [digestOf(second.text), undefined],
    [digestOf(first.text), NOW + HOUR],
  ]);
  const third = rotateKey(second.entry, 4 * HOUR, UNLIMITED, NOW + 1);
  expect(third.entry.digests.map(({ until }) => until)).toEqual([undefined, NOW + 1 + 4 * HOUR, NOW + HOUR]);
  const now = rotateKey(first.entry, 0, UNLIMITED, NOW);
  expect(now.entry.digests).toHaveLength(1);
});

test("a revoked key stays revoked at its first time and cannot be rotated", () => {
  const { entry } = createKey({ name: "alice" }, UNLIMITED, NOW);
  const revoked = revokeKey(entry, false, UNLIMITED, NOW);
  expect(revoked).toMatchObject({ revokedAt: NOW });
  expect(revoked.cut).toBeUndefined();
  expect(revokeKey(revoked, true, UNLIMITED, NOW + 1)).toMatchObject({ revokedAt: NOW, cut: true });
  expect(() => rotateKey(revoked, HOUR, UNLIMITED, NOW)).toThrow(
    "the key alice is revoked; create a new one.",
  );
});

test("a maker cannot touch a key outside of its path", () => {
  const { entry } = createKey({ name: "alice", path: "/ops" }, UNLIMITED, NOW);
  const maker: Maker = { path: "/eng", scopes: {} };
  for (const touch of [
    () => changeKey(entry, { name: "bob" }, maker),
    () => rotateKey(entry, 0, maker, NOW),
    () => revokeKey(entry, false, maker, NOW),
  ])
    expect(touch).toThrow("the key alice is not below /eng.");
});

test("a change keeps what it does not name, and null removes the end of a key", () => {
  const { entry } = createKey({ name: "alice", tags: ["blue"], expiresAt: NOW + HOUR }, UNLIMITED, NOW);
  expect(changeKey(entry, { name: "bob" }, UNLIMITED)).toEqual({ ...entry, name: "bob" });
  expect(changeKey(entry, { expiresAt: null }, UNLIMITED).expiresAt).toBeUndefined();
});
