/** Refresh tokens over time: lost answers, theft, and what is swept away. */
import { expect, test } from "bun:test";
import { Families } from "../own/families.ts";
import { Mac } from "../own/mac.ts";
import { PeopleBook } from "../people-book.ts";
import { openStore } from "./support/store.ts";

const APPROVAL = {
  person: "per_1",
  provider: "corp",
  client: "c",
  scope: "models",
  audience: "https://weir",
};
const DAY = 86_400_000;

function world() {
  const { sql, host, audit } = openStore();
  let now = 1_000_000_000_000;
  const families = new Families({
    ...{ host, people: new PeopleBook(host), mac: new Mac("s".repeat(40)), refreshMs: 30 * DAY },
    now: () => now,
  });
  const begin = () => host.write((inner) => families.begin(inner, APPROVAL));
  const deadOf = async (token: string) => (await families.find(token))?.dead;
  return { sql, audit, families, begin, deadOf, later: (ms: number) => void (now += ms) };
}

test("a hundred lost answers: the same next token again, for 30 s", async () => {
  const { families, begin, deadOf, later } = world();
  for (let round = 0; round < 100; round++) {
    const { refresh } = await begin();
    const next = await families.rotate(refresh);
    later(29_000);
    expect(await families.rotate(refresh)).toBe(next!);
    expect(await deadOf(next!)).toBeUndefined();
    later(2_000);
    expect([await deadOf(refresh), await families.rotate(refresh)]).toEqual(["reused", undefined]);
  }
});

test("a family that ends takes all its tokens with it, and the audit log says why", async () => {
  const { families, begin, deadOf, audit } = world();
  const { family, refresh } = await begin();
  const next = (await families.rotate(refresh))!;
  const other = await begin();
  await families.revoke({ actor: "per_1", address: "192.0.2.1" }, family.id, "refresh_reuse");
  expect([await deadOf(refresh), await deadOf(next), await deadOf(other.refresh)]).toEqual([
    ...(["revoked", "revoked"] as const),
    undefined,
  ]);
  expect(await families.rotate(next)).toBeUndefined();
  expect(audit).toEqual([`tokens revoked: refresh_reuse people/${family.id}`]);
});

test("tokens expire; what is over is swept away with the next sign-in; no token is in the store", async () => {
  const { families, begin, deadOf, later, sql } = world();
  const { refresh } = await begin();
  const next = (await families.rotate(refresh))!;
  const stored = JSON.stringify([
    await sql.all("SELECT * FROM identity_refresh"),
    await sql.all("SELECT * FROM identity_families"),
  ]);
  for (const token of [refresh, next]) expect(stored).not.toContain(token.slice(8));
  later(30 * DAY);
  expect(await deadOf(next)).toBe("expired");
  later(8 * DAY);
  await begin();
  await begin();
  expect(await families.find(next)).toBeUndefined();
  const [{ count } = { count: -1 }] = await sql.all<{ count: number }>(
    "SELECT COUNT(*) AS count FROM identity_families",
  );
  expect(count).toBe(2);
});
