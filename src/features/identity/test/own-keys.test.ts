/** Keys that people make: what the policy at a path permits, also when policy, path or role change later. */
import { expect, test } from "bun:test";
import { FakeBooks } from "../../../../test/helpers/admin.ts";
import type { AdminError } from "../../../operator/errors.ts";
import { OwnKeys, type Owner } from "../me/own-keys.ts";
import { type KeyPolicy, narrowed, policyAt } from "../me/section.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const ANN: Owner = {
  ...{ person: "per_ann", path: "/eng/ann", mayUseModels: true, address: "127.0.0.1" },
  scopes: { models: ["gpt-5-*"] },
};
const POLICY: KeyPolicy = { path: "/eng", most: 2, maxAgeMs: HOUR, scopes: { models: ["gpt-5-mini"] } };

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "made",
    (thrown: AdminError) => thrown.code,
  );

test("the longest path counts, and a path is none of its neighbours", () => {
  const policies = ["/", "/eng", "/eng/interns"].map((path) => ({ ...POLICY, path }));
  const at = (path: string) => policyAt(policies, path)?.path;
  expect([at("/eng/interns/bo"), at("/eng/internship"), at("/engine"), at("/eng")]).toEqual([
    ...["/eng/interns", "/eng", "/", "/eng"],
  ]);
  expect(policyAt([POLICY], "/sales/ann")).toBeUndefined();
});

test("of the restrictions of issuer and policy the narrower ones hold", () => {
  const issuer = { models: ["gpt-5-*"], maxTokens: 100 };
  expect(narrowed(issuer, {})).toEqual(issuer);
  expect(narrowed(issuer, { models: ["gpt-5-mini"], maxTokens: 10, providers: ["openai"] })).toEqual({
    ...{ models: ["gpt-5-mini"], maxTokens: 10, providers: ["openai"] },
  });
  expect(narrowed(issuer, { models: ["*"], maxTokens: 1_000 })).toEqual(issuer);
  expect(narrowed(issuer, { models: ["claude-*"] })).toEqual(issuer);
});

test("a key that has expired makes room for another one, and does not come back by a rotation", async () => {
  const books = new FakeBooks();
  const keys = new OwnKeys([POLICY]);
  const first = await keys.create(books, ANN, "a", NOW);
  await keys.create(books, ANN, "b", NOW);
  expect(await codeOf(keys.create(books, ANN, "c", NOW))).toBe("conflict");
  const later = NOW + HOUR;
  for (const name of ["c", "d"]) await keys.create(books, ANN, name, later);
  expect(await codeOf(keys.rotate(books, ANN, first.key.id, 0, later))).toBe("conflict");
  expect(await codeOf(keys.create(books, ANN, "e", later))).toBe("conflict");
});

test("a rotation takes over the path, the restrictions and the time of today", async () => {
  const books = new FakeBooks();
  const { key } = await new OwnKeys([POLICY]).create(books, ANN, "a", NOW);
  expect(key).toMatchObject({
    ...{ person: "per_ann", path: "/eng/ann", kind: "call", expiresAt: NOW + HOUR },
    scopes: { models: ["gpt-5-mini"] },
  });
  const moved = { ...ANN, path: "/sales/ann" };
  const narrower = { ...POLICY, path: "/sales", maxAgeMs: 2 * HOUR, scopes: { models: ["gpt-5-nano"] } };
  const { key: next } = await new OwnKeys([narrower]).rotate(books, moved, key.id, 0, NOW + 1);
  expect(next).toMatchObject({
    ...{
      person: "per_ann",
      path: "/sales/ann",
      expiresAt: NOW + 1 + 2 * HOUR,
      scopes: { models: ["gpt-5-nano"] },
    },
  });
  // What is within stays as it was.
  const wider = { ...narrower, scopes: {} };
  const { key: last } = await new OwnKeys([wider]).rotate(books, moved, key.id, 0, NOW + 2);
  expect(last.scopes).toEqual({ models: ["gpt-5-nano"] });
});

test("without a policy, a role or a store nobody makes or rotates; everybody deletes its own alone", async () => {
  const books = new FakeBooks();
  const keys = new OwnKeys([POLICY]);
  const { key } = await keys.create(books, ANN, "a", NOW);
  const none = new OwnKeys([]);
  const viewer = { ...ANN, mayUseModels: false };
  for (const [by, owner] of [
    [none, ANN],
    [keys, viewer],
    [keys, { ...ANN, path: "/sales/ann" }],
  ] as const) {
    expect(await codeOf(by.create(books, owner, "b", NOW))).toBe("not_permitted");
    expect(await codeOf(by.rotate(books, owner, key.id, 0, NOW))).toBe("not_permitted");
  }
  books.storesCallKeys = false;
  expect(await codeOf(keys.create(books, ANN, "b", NOW))).toBe("keys_in_file");
  expect(await codeOf(keys.revoke(books, { ...ANN, person: "per_bob" }, key.id, NOW))).toBe("not_found");
  expect(await codeOf(none.revoke(books, viewer, key.id, NOW))).toBe("made");
  expect(await codeOf(keys.revoke(books, ANN, key.id, NOW))).toBe("not_found");
});
