/** What the store of the books promises: what is drawn, what a commit writes, and what is kept of keys and budgets. */
import { describe, expect, test } from "bun:test";
import { VersionConflict } from "../../../src/keeper/store/policies.ts";
import { TooLate } from "../../../src/keeper/store/savepoint.ts";
import type { Sql } from "../../../src/keeper/store/sql.ts";
import type { SqlStore } from "../../../src/keeper/store/sql-store.ts";
import { DOLLAR } from "../../../src/ledger/money.ts";
import { budgetAccount } from "../../../src/ledger/record.ts";
import { ACTOR, attempt, batch, budget, call, commit, draw, key, MONTH, NOW, rule } from "./make.ts";

const A = budgetAccount("a", MONTH);
const B = budgetAccount("b", MONTH);

/**
 * Describes a kind of store.
 * @param open opens a store at the time {@link NOW}: an empty one, or the one that is at a place @param fresh an unused place
 */
export function describeBooks(
  open: (place?: string) => Promise<SqlStore>,
  fresh: () => Promise<string>,
): void {
  describe("draws", () => {
    test("of a hard budget never pass its limit, for 500 draws at once", async () => {
      const store = await open();
      const need = DOLLAR / 100;
      const drawn = await Promise.all(
        Array.from({ length: 500 }, () => store.draw([draw(A, { need, want: need })])),
      );
      expect(drawn.filter(([one]) => one!.amount === need)).toHaveLength(100);
      expect(drawn.filter(([one]) => one!.amount === 0)).toHaveLength(400);
      const [account] = await store.accounts(NOW);
      expect(account).toMatchObject({ granted: DOLLAR, own: DOLLAR, spent: 0 });
    });

    test("are granted all or none", async () => {
      const store = await open();
      const drawn = await store.draw([
        draw(A, { need: 10, want: 10 }),
        draw(B, { limit: 5, need: 10, want: 10 }),
      ]);
      expect(drawn.map(({ amount }) => amount)).toEqual([0, 0]);
      expect(drawn[0]!.row).toMatchObject({ account: A, granted: 0, own: 0 });
    });

    test("grant what is wanted, or what is left if that suffices", async () => {
      const store = await open();
      const of = async (need: number, want: number) =>
        (await store.draw([draw(A, { limit: 100, need, want })]))[0]!;
      expect((await of(10, 60)).amount).toBe(60);
      expect((await of(10, 60)).amount).toBe(40);
      expect((await of(1, 1)).amount).toBe(0);
    });

    test("of what is assumed take no more than that, and each part once", async () => {
      const store = await open();
      await store.draw([draw(A, { need: 100, want: 100 })]);
      await store.commit(commit({ assumptions: [{ account: A, amount: 40, why: "ended" }] }));
      expect(await store.reclaim(A, 15, "goes on")).toBe(15);
      const both = await Promise.all([store.reclaim(A, 20, "goes on"), store.reclaim(A, 20, "goes on")]);
      expect(both.toSorted((a, b) => a - b)).toEqual([5, 20]);
      expect(await store.reclaim(A, 15, "goes on")).toBe(0);
      expect(await store.reclaim(B, 15, "goes on")).toBe(0);
      expect(await store.accounts(NOW)).toMatchObject([
        { account: A, spent: 0, assumed: 0, granted: 100, own: 100 },
      ]);
    });

    test("of a soft budget are granted while anything is left", async () => {
      const store = await open();
      const of = async (need: number) =>
        (await store.draw([draw(A, { limit: 100, hard: false, need, want: need })]))[0]!;
      expect((await of(99)).amount).toBe(99);
      expect((await of(50)).amount).toBe(50);
      expect((await of(1)).amount).toBe(0);
    });

    test("count what was spent and assumed against the limit", async () => {
      const store = await open();
      await store.draw([draw(A, { limit: 100, need: 80, want: 80 })]);
      const spent = call({ attempts: [attempt({ accounts: [A], held: 50 }, { cost: 50 })] });
      await store.commit(
        commit({
          batches: [batch(1, [spent])],
          assumptions: [{ account: A, amount: 20, why: "worker 1 ended" }],
          returns: [{ account: A, amount: 10 }],
        }),
      );
      const [account] = await store.accounts(NOW);
      expect(account).toMatchObject({ spent: 50, assumed: 20, granted: 0, own: 0 });
      const of = async (need: number) =>
        (await store.draw([draw(A, { limit: 100, need, want: need })]))[0]!.amount;
      expect(await of(31)).toBe(0);
      expect(await of(30)).toBe(30);
    });

    test("an ended window is listed while this node has money of it", async () => {
      const store = await open();
      await store.draw([draw(A, { need: 10, want: 10 })]);
      const later = Date.UTC(2026, 11, 2);
      expect(await store.accounts(later)).toHaveLength(1);
      await store.commit(commit({ returns: [{ account: A, amount: 10 }] }));
      expect(await store.accounts(later)).toHaveLength(0);
      expect(await store.accounts(NOW)).toHaveLength(1);
    });

    test("a budget that only watches draws nothing, and its account has the end of its window", async () => {
      const store = await open();
      await store.saveBudget(budget("a", { mode: "watch" }), ACTOR);
      await store.commit(
        commit({ batches: [batch(1, [call({ attempts: [attempt({ accounts: [A], held: 0 })] })])] }),
      );
      expect(await store.accounts(NOW)).toEqual([
        {
          account: A,
          budget: "a",
          startsAt: MONTH,
          endsAt: Date.UTC(2026, 11, 1),
          spent: 200_000,
          assumed: 0,
          overrun: 200_000,
          granted: 0,
          own: 0,
          alerted: 0,
        },
      ]);
    });
  });

  describe("a commit", () => {
    test("applies each batch once, and a newer one after it", async () => {
      const store = await open();
      const first = batch(1, [call({ attempts: [attempt({ accounts: [A] })] })]);
      await store.commit(commit({ batches: [first] }));
      await store.commit(commit({ batches: [first, batch(2, [call()])] }));
      expect(await store.sql.all("SELECT count(*) AS calls, sum(cost) AS cost FROM calls")).toEqual([
        { calls: 2, cost: 400_000 },
      ]);
      expect(await store.accounts(NOW)).toMatchObject([{ spent: 200_000 }]);
      expect(await store.positions()).toEqual(new Map([["life", 2]]));
    });

    test("that has a number is applied once, with what it returns and assumes", async () => {
      const store = await open();
      await store.draw([draw(A, { need: 100, want: 100 })]);
      const once = commit({
        once: { life: "keeper", seq: 1 },
        returns: [{ account: A, amount: 30 }],
        assumptions: [{ account: A, amount: 20, why: "worker 1 ended" }],
      });
      await store.commit(once);
      await store.commit(once);
      await store.commit({ ...once, once: { life: "keeper", seq: 2 }, assumptions: [] });
      expect(await store.accounts(NOW)).toMatchObject([{ assumed: 20, granted: 20, own: 20 }]);
    });

    test("keeps levels of rate limits, margins and alerts", async () => {
      const store = await open();
      await store.draw([draw(A)]);
      await store.commit(
        commit({
          rates: [{ account: "r:one:rpm", level: 1.5, at: NOW }],
          margins: [{ target: "mock/echo", kind: "words", factor: 1.9 }],
          alerted: [{ account: A, percent: 80 }],
        }),
      );
      await store.commit(
        commit({
          margins: [{ target: "mock/echo", kind: "words", factor: 1.1 }],
          alerted: [{ account: A, percent: 50 }],
        }),
      );
      expect(await store.rates()).toEqual([{ account: "r:one:rpm", level: 1.5, at: NOW }]);
      expect(await store.margins()).toEqual([
        { target: "mock/echo", kind: "words", factor: 1.9, at: expect.any(Number) },
      ]);
      expect(await store.accounts(NOW)).toMatchObject([{ alerted: 80 }]);
    });
  });

  describe("keys, budgets and limits", () => {
    test("survive a restart as they were saved", async () => {
      const path = await fresh();
      const saved = {
        key: key("key_1", {
          path: "/eng/search",
          tags: ["x"],
          scopes: { models: ["gpt-*"], maxCost: DOLLAR },
          expiresAt: NOW + 1,
          digests: [
            { sha256: "ab".repeat(32), hint: "weir_sk_Ab…9x" },
            { sha256: "cd".repeat(32), until: NOW + 5 },
          ],
        }),
        budget: budget("b1", { window: { hours: 5 }, zone: "Europe/Berlin", onEmpty: { use: "small" } }),
        rate: {
          id: "r1",
          name: "r1",
          on: { kind: "key" as const, what: "key_1" },
          limits: { rpm: 60 },
          burst: { rpm: 5 },
          source: "store" as const,
        },
      };
      const store = await open(path);
      await store.saveKey(saved.key, ACTOR);
      await store.saveBudget(saved.budget, ACTOR);
      await store.saveRate(saved.rate, ACTOR);
      await store.close();
      const { keys, budgets, rates, closed, version } = await (await open(path)).policy();
      expect({ key: keys[0], budget: budgets[0], rate: rates[0] }).toEqual({
        ...saved,
        key: { ...saved.key, digests: expect.arrayContaining([...saved.key.digests]) as never },
      });
      expect([keys.length, budgets.length, rates.length, closed, version]).toEqual([1, 1, 1, true, 3]);
    });

    test("the gateway stays closed when its last call key is revoked, and an admin key does not close it", async () => {
      const store = await open();
      await store.saveKey(key("key_admin", { kind: "admin" }), ACTOR);
      expect((await store.policy()).closed).toBe(false);
      await store.saveKey(key("key_1"), ACTOR);
      await store.saveKey(key("key_1", { revokedAt: NOW }), ACTOR);
      expect((await store.policy()).closed).toBe(true);
    });

    test("a change that expects another version is refused and changes nothing", async () => {
      const store = await open();
      const version = await store.saveBudget(budget("a"), ACTOR);
      await store.saveBudget(budget("a", { limit: 2 * DOLLAR }), ACTOR, { version });
      const late = store.saveBudget(budget("a", { limit: 3 * DOLLAR }), ACTOR, { version });
      await expect(late).rejects.toThrow(VersionConflict);
      expect((await store.policy()).budgets).toMatchObject([{ limit: 2 * DOLLAR }]);
    });

    test("what a config declares is no part of the stored policy, and is replaced by the next declaration", async () => {
      const store = await open();
      const declared = {
        keys: [key("config:ci", { name: "ci" })],
        budgets: [budget("c", { source: "config" })],
        rates: [],
      };
      await store.declare(declared, [rule("p9")]);
      await store.declare({ ...declared, budgets: [] }, []);
      expect(await store.policy()).toMatchObject({ keys: [], budgets: [], closed: false });
      expect(await store.sql.all("SELECT id, deleted_at FROM budgets")).toEqual([
        { id: "c", deleted_at: NOW },
      ]);
      expect(await store.sql.all("SELECT * FROM key_digests")).toEqual([]);
    });

    test("each change is an audit entry, and the audit log refuses updates and deletions", async () => {
      const store = await open();
      await store.saveKey(key("key_1"), { actor: "cli", address: "127.0.0.1" });
      await store.saveBudget(budget("a"), ACTOR);
      await store.saveBudget(budget("a", { limit: 5 }), ACTOR);
      await store.deleteBudget("a", ACTOR);
      const entries = await store.sql.all("SELECT actor, address, action, subject FROM audit ORDER BY id");
      expect(entries).toEqual([
        { actor: "cli", address: "127.0.0.1", action: "create", subject: "keys/key_1" },
        { actor: "console", address: null, action: "create", subject: "budgets/a" },
        { actor: "console", address: null, action: "change", subject: "budgets/a" },
        { actor: "console", address: null, action: "delete", subject: "budgets/a" },
      ]);
      for (const text of ["UPDATE audit SET actor = 'x'", "DELETE FROM audit"])
        await expect(store.sql.run(text)).rejects.toThrow("append-only");
      expect(await store.sql.all("SELECT count(*) AS rows FROM audit WHERE actor = 'x'")).toEqual([
        { rows: 0 },
      ]);
    });
  });

  describe("a part of a transaction", () => {
    const put = (sql: Sql, name: string) => sql.run("INSERT INTO meta (name, value) VALUES ($1, 1)", [name]);
    const names = async (sql: Sql) =>
      (await sql.all<{ name: string }>("SELECT name FROM meta WHERE name LIKE 'test_%' ORDER BY name")).map(
        ({ name }) => name,
      );

    test("that fails takes back what it did, and nothing else", async () => {
      const { sql } = await open();
      const undone = await sql.transaction(async (tx) => {
        await put(tx, "test_a");
        const parts = [
          await tx.savepoint(async (part) => void (await put(part, "test_b")), 1_000),
          await tx.savepoint(async (part) => {
            await put(part, "test_c");
            await put(part, "test_a");
          }, 1_000),
          await tx.savepoint(() => Promise.reject(new Error("of its own")), 1_000),
        ];
        await put(tx, "test_d");
        return parts;
      });
      expect(undone).toEqual([
        undefined,
        { cause: expect.any(Error) },
        { cause: expect.objectContaining({ message: "of its own" }) },
      ]);
      expect(await names(sql)).toEqual(["test_a", "test_b", "test_d"]);
    });

    test("that takes too long is undone, and its later statements are refused", async () => {
      const { sql } = await open();
      const late = Promise.withResolvers<unknown>();
      const undone = await sql.transaction(async (tx) => {
        await put(tx, "test_a");
        const part = tx.savepoint(async (inner) => {
          await put(inner, "test_b");
          await Bun.sleep(60);
          await put(inner, "test_c").catch(late.resolve);
        }, 20);
        const cause = await part;
        await late.promise;
        return cause;
      });
      expect(undone).toEqual({ cause: new TooLate(20) });
      expect(await late.promise).toEqual(new TooLate(20));
      expect(await names(sql)).toEqual(["test_a"]);
    });
  });
}
