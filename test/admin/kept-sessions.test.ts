/** S9: sessions of the console in the store: a keeper that starts again, and the keepers of other nodes, know them. */
import { expect, test } from "bun:test";
import { AdminError } from "../../src/operator/errors.ts";
import { digestOf } from "../../src/ledger/keys/form.ts";
import { Sessions } from "../../src/admin/session/sessions.ts";
import { storedSessions } from "../../src/admin/session/stored-sessions.ts";
import { FakeBooks } from "../helpers/admin.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const given = (now: number) => ({ address: "127.0.0.1", policy: { keys: [] }, now });
const failed = () => Promise.reject(new AdminError(503, "store_failed", "The books cannot be used."));

async function begun() {
  const books = new FakeBooks();
  const first = new Sessions(storedSessions(books));
  const { secret } = first.useLink(first.addLink(NOW).token, NOW)!;
  await first.keep(secret, NOW);
  return { books, first, secret, next: new Sessions(storedSessions(books)) };
}

async function actorOf(sessions: Sessions, secret: string, now: number) {
  await sessions.recall(secret, now);
  const found = sessions.find(secret, given(now));
  return found && "caller" in found ? found.caller.actor : undefined;
}

test("S9: the next keeper knows a session for its twelve hours, and its text is nowhere in the store", async () => {
  const { books, next, secret } = await begun();
  expect(await actorOf(next, secret, NOW + HOUR)).toBe("console");
  expect(await actorOf(next, secret, NOW + 12 * HOUR)).toBeUndefined();
  const rows = await books.read((sql) => sql.all<{ hash: string }>("SELECT hash FROM console_sessions"));
  expect(rows).toEqual([{ hash: digestOf(secret) }]);
});

test("S9: a sign-out at one node holds at the other within a second", async () => {
  const { first, next, secret } = await begun();
  expect(await actorOf(next, secret, NOW)).toBe("console");
  await first.end(secret);
  expect(await actorOf(first, secret, NOW)).toBeUndefined();
  expect(await actorOf(next, secret, NOW + 1_000)).toBeUndefined();
});

test("S9: a session goes on while the store is away; an unknown one is not called wrong", async () => {
  const { books, first, next, secret } = await begun();
  books.read = failed;
  expect(await actorOf(first, secret, NOW + HOUR)).toBe("console");
  expect(next.recall(secret, NOW)).rejects.toThrow("The books cannot be used.");
});

test("S9: one that could not be written works until the keeper ends, and does not sign out in silence", async () => {
  const books = new FakeBooks();
  const sessions = new Sessions(storedSessions(books));
  books.write = failed;
  const { secret } = sessions.useLink(sessions.addLink(NOW).token, NOW)!;
  expect(sessions.keep(secret, NOW)).rejects.toThrow("The books cannot be used.");
  expect(await actorOf(sessions, secret, NOW + HOUR)).toBe("console");
  expect(sessions.end(secret)).rejects.toThrow("The books cannot be used.");
});

test("S9: sessions that have ended leave the store", async () => {
  const { books, first } = await begun();
  const later = NOW + 12 * HOUR;
  const { secret } = first.begin("0".repeat(64), later);
  await first.keep(secret, later);
  const rows = await books.read((sql) => sql.all("SELECT hash, key_hash FROM console_sessions"));
  expect(rows).toEqual([{ hash: digestOf(secret), key_hash: "0".repeat(64) }]);
});
