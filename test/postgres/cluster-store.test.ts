/** Several nodes on one PostgreSQL: recall, notices, silence, a server that is away, and answers that are lost. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClusterStore } from "../../src/keeper/store/postgres/cluster-store.ts";
import { Postgres } from "../../src/keeper/store/postgres/driver.ts";
import { Nodes } from "../../src/keeper/store/postgres/nodes.ts";
import { type StoreEvents, StoreLost } from "../../src/keeper/store/store.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { startProxy } from "../helpers/postgres-proxy.ts";
import { until } from "../helpers/serving.ts";
import { ACTOR, attempt, batch, budget, call, commit, draw, key, MONTH, NOW } from "../keeper/books/make.ts";

setDefaultTimeout(120_000);

const A = budgetAccount("a", MONTH);
const PATIENT_MS = 15_000;

if (missingPostgres) test.skip(`several nodes on PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("several nodes on PostgreSQL", async () => {
    const server = await startPostgres();
    const folder = mkdtempSync(join(tmpdir(), "weir-cluster-"));
    const stores: ClusterStore[] = [];
    let spools = 0;
    afterAll(async () => {
      for (const store of stores) await store.close();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** A node that returns `free` when it is asked for money. */
    interface TestNode {
      store: ClusterStore;
      free: number;
      faults: (string | undefined)[];
      changes: number;
      /** Budgets that another node has changed. */
      settled: string[];
      /** It answers nobody. */
      isDeaf: boolean;
    }

    async function open(
      url: string,
      changes: Partial<{ spool: string; now: number; queryMs: number; keysMs: number }> = {},
    ) {
      const { spool = join(folder, `${spools++}.db`), now = NOW, ...rest } = changes;
      const store = new ClusterStore(url, {
        spool,
        leaseMs: 900_000,
        connections: 2,
        now: () => now,
        ...rest,
      });
      const node: TestNode = { store, free: 0, faults: [], changes: 0, settled: [], isDeaf: false };
      const events: StoreEvents = {
        changed: () => void (node.changes += 1),
        async recall(account) {
          if (node.isDeaf) throw new Error("a worker has not answered");
          const amount = node.free;
          node.free = 0;
          if (amount > 0) await store.commit(commit({ returns: [{ account, amount }] }));
          return amount;
        },
        async settle(budget) {
          if (node.isDeaf) throw new Error("a worker has not answered");
          node.settled.push(budget);
        },
        state: (fault) => void node.faults.push(fault),
        lost: () => {},
      };
      store.watch(events);
      stores.push(store);
      await store.open();
      return node;
    }

    const fault = (pending: Promise<unknown>): Promise<Error | undefined> =>
      pending.then(
        () => undefined,
        (cause: Error) => cause,
      );
    const isBack = (node: TestNode) => until(() => node.faults.at(-1) === undefined, PATIENT_MS);

    test("money that another node has drawn and nobody holds is recalled before a draw is refused", async () => {
      const url = await server.createDatabase();
      const [one, two, three] = [await open(url), await open(url), await open(url)];
      const [first] = await one.store.draw([draw(A, { need: DOLLAR, want: DOLLAR })]);
      expect(first!.amount).toBe(DOLLAR);
      one.free = DOLLAR / 2;
      const need = DOLLAR / 10;
      const drawn = await Promise.all(
        Array.from({ length: 5 }, () => two.store.draw([draw(A, { need, want: need })])),
      );
      expect(drawn.map(([each]) => each!.amount)).toEqual([need, need, need, need, need]);
      const [refused] = await three.store.draw([draw(A, { need, want: need })]);
      expect(refused!.amount).toBe(0);
      const [row] = await three.store.accounts(NOW);
      expect([row!.granted, row!.own]).toEqual([DOLLAR, 0]);
    });

    test("a draw for which a node that does not answer may have enough is not refused for good", async () => {
      const url = await server.createDatabase();
      const [first, second] = [await open(url), await open(url)];
      await first.store.draw([draw(A, { need: DOLLAR, want: DOLLAR })]);
      first.isDeaf = true;
      expect(await second.store.draw([draw(A)])).toMatchObject([{ amount: 0, isUnclear: true }]);
      const [tooMuch] = await second.store.draw([draw(A, { need: DOLLAR + 1 })]);
      expect(tooMuch).toMatchObject({ amount: 0 });
      expect(tooMuch!.isUnclear).toBeUndefined();
      first.isDeaf = false;
      first.free = DOLLAR;
      expect(await second.store.draw([draw(A)])).toMatchObject([{ amount: 100 }]);
      await Promise.all([first, second].map((node) => node.store.close()));
    });

    test("a changed budget is settled by each node, or the node that has not is named", async () => {
      const url = await server.createDatabase();
      const [first, second, third] = [await open(url), await open(url), await open(url)];
      expect(await first.store.settled("eng")).toEqual([]);
      expect([first.settled, second.settled, third.settled]).toEqual([[], ["eng"], ["eng"]]);
      third.isDeaf = true;
      expect(await first.store.settled("eng")).toEqual([third.store.node]);
      await Promise.all([first, second, third].map((node) => node.store.close()));
    });

    test("a change of keys at one node reaches the other", async () => {
      const url = await server.createDatabase();
      const [one, two] = [await open(url), await open(url)];
      const before = two.changes;
      await one.store.saveKey(key("key_1"), ACTOR);
      expect(await until(() => two.changes > before, PATIENT_MS)).toBe(true);
      expect((await two.store.policy()).keys).toHaveLength(1);
    });

    test("while the server is away commits are spooled and draws fail; when it is back all are in the store, once", async () => {
      const url = await server.createDatabase();
      const node = await open(url);
      await node.store.saveBudget(budget("a"), ACTOR);
      await node.store.policy();
      await node.store.draw([draw(A, { need: DOLLAR, want: DOLLAR })]);
      await server.stop();
      const commits = Array.from({ length: 10 }, (_, n) =>
        commit({ batches: [batch(n + 1, [call({ attempts: [attempt({ accounts: [A] })] })])] }),
      );
      await Promise.all(commits.map((each) => node.store.commit(each)));
      expect(node.store.spooled.commits).toBe(10);
      expect(await fault(node.store.draw([draw(A)]))).toBeInstanceOf(StoreLost);
      expect(await fault(node.store.saveKey(key("key_2"), ACTOR))).toBeInstanceOf(StoreLost);
      expect((await node.store.policy()).budgets).toHaveLength(1);
      expect(node.faults[0]).toContain("PostgreSQL");
      await server.start();
      expect(await isBack(node)).toBe(true);
      const [sums] = await node.store.sql.all("SELECT count(*) AS calls, sum(cost) AS cost FROM calls");
      expect(sums).toEqual({ calls: 10, cost: 2_000_000 });
      expect(await node.store.accounts(NOW)).toMatchObject([
        { spent: 2_000_000, granted: DOLLAR - 2_000_000, own: DOLLAR - 2_000_000 },
      ]);
      expect(node.store.spooled).toEqual({ commits: 0, dropped: 0 });
    });

    test("a commit that the server has made and not acknowledged is applied once", async () => {
      const url = await server.createDatabase();
      const proxy = await startProxy(server.port);
      const node = await open(proxy.through(url), { queryMs: 3_000 });
      await node.store.draw([draw(A, { need: 1_000, want: 1_000 })]);
      proxy.loseAnswerTo("COMMIT");
      await node.store.commit(commit({ returns: [{ account: A, amount: 400 }] }));
      expect(node.faults[0]).toContain("did not answer");
      expect(await isBack(node)).toBe(true);
      expect(await node.store.accounts(NOW)).toMatchObject([{ granted: 600, own: 600 }]);
      proxy.close();
    });

    test("a draw that the server has granted and not acknowledged returns to the store", async () => {
      const url = await server.createDatabase();
      const proxy = await startProxy(server.port);
      const node = await open(proxy.through(url), { queryMs: 3_000 });
      const other = await open(url);
      proxy.loseAnswerTo("COMMIT");
      const lost = fault(node.store.draw([draw(A, { need: DOLLAR, want: DOLLAR })]));
      const granted = async () => (await other.store.accounts(NOW))[0]?.granted;
      expect(await until(async () => (await granted()) === DOLLAR, PATIENT_MS)).toBe(true);
      expect(await lost).toBeInstanceOf(StoreLost);
      expect(await isBack(node)).toBe(true);
      expect(await granted()).toBe(0);
      proxy.close();
    });

    test("a node that is silent has its grants booked as assumed, and takes them back when it returns", async () => {
      const url = await server.createDatabase();
      const silent = await open(url);
      await silent.store.draw([draw(A, { need: 1_000, want: 1_000 })]);
      const other = await open(url);
      const sql = new Postgres(url);
      await sql.run("UPDATE nodes SET seen_at = now() - interval '1 hour' WHERE node = $1", [
        silent.store.node,
      ]);
      const lease = new Nodes(other.store.node, await lifeOf(sql, other.store.node), 900_000);
      await lease.beat(sql);
      expect(await other.store.accounts(NOW)).toMatchObject([{ granted: 0, assumed: 1_000 }]);
      // All of the limit is taken: nothing of the silent node's is granted again.
      const [refused] = await other.store.draw([draw(A, { limit: 1_000, need: 1, want: 1 })]);
      expect(refused!.amount).toBe(0);
      await new Nodes(silent.store.node, await lifeOf(sql, silent.store.node), 900_000).beat(sql);
      expect(await silent.store.accounts(NOW)).toMatchObject([{ granted: 1_000, assumed: 0, own: 1_000 }]);
      await silent.store.commit(
        commit({ batches: [batch(1, [call({ attempts: [attempt({ accounts: [A] }, { cost: 300 })] })])] }),
      );
      expect(await silent.store.accounts(NOW)).toMatchObject([{ granted: 700, assumed: 0, spent: 300 }]);
      const [sum] = await sql.all("SELECT sum(amount) AS amount, count(*) AS entries FROM assumptions");
      expect(sum).toEqual({ amount: 0, entries: 2 });
      await sql.close();
    });

    const lifeOf = async (sql: Postgres, node: string) =>
      (await sql.all<{ life: string }>("SELECT life FROM nodes WHERE node = $1", [node]))[0]!.life;

    test("two gateways with one name are told apart", async () => {
      const url = await server.createDatabase();
      const node = await open(url);
      const sql = new Postgres(url);
      const old = new Nodes(node.store.node, "an earlier life", 900_000);
      expect((await fault(old.beat(sql)))?.message).toContain("another gateway uses the name of this one");
      await sql.close();
    });

    test("each node has a number of its own, and one that ends gives it back", async () => {
      const url = await server.createDatabase();
      const sql = new Postgres(url);
      const nodes = [await open(url), await open(url), await open(url)];
      const slots = async () =>
        (await sql.all<{ slot: number }>("SELECT slot FROM nodes ORDER BY slot")).map(({ slot }) => slot);
      expect(await slots()).toEqual([0, 1, 2]);
      await nodes[1]!.store.close();
      expect(await slots()).toEqual([0, 2]);
      await open(url);
      expect(await slots()).toEqual([0, 1, 2]);
      await sql.close();
    });

    test("a node does not start without the server, and starts when it is back, with what it had spooled", async () => {
      const url = await server.createDatabase();
      const spool = join(folder, "spooled.db");
      const first = await open(url, { spool });
      await server.stop();
      await first.store.commit(commit({ batches: [batch(1, [call()])] }));
      await first.store.close();
      const second = new ClusterStore(url, { spool, leaseMs: 900_000, connections: 2, now: () => NOW });
      stores.push(second);
      expect(second.node).toBe(first.store.node);
      expect((await fault(second.open()))?.message).toContain("PostgreSQL");
      await server.start();
      await second.open();
      expect(await second.sql.all("SELECT count(*) AS calls FROM calls")).toEqual([{ calls: 1 }]);
    });

    test("keys that were read before the server went away are used for a time, then none", async () => {
      const url = await server.createDatabase();
      const node = await open(url, { keysMs: 1_000 });
      await node.store.saveKey(key("key_1"), ACTOR);
      expect((await node.store.policy()).keys).toHaveLength(1);
      await server.stop();
      expect((await node.store.policy()).keys).toHaveLength(1);
      const changes = node.changes;
      expect(await until(() => node.changes > changes, PATIENT_MS)).toBe(true);
      expect(await node.store.policy()).toMatchObject({ keys: [], closed: true });
      await server.start();
      expect(await isBack(node)).toBe(true);
      expect((await node.store.policy()).keys).toHaveLength(1);
    });

    test("a rate limit that no node has used is full; nodes that share it never have more than the limit", async () => {
      const url = await server.createDatabase();
      const [one, two] = [await open(url), await open(url)];
      const demand = (asked: number) => [
        { account: "r:a:rpm", limit: 600, asked, used: 0, periodMs: 60_000 },
      ];
      const first = (await one.store.shareRates(demand(10))).get("r:a:rpm")!;
      expect(first).toEqual({ part: 0.75, credit: 450 });
      expect((await two.store.shareRates(demand(0))).get("r:a:rpm")).toEqual({ part: 0.25, credit: 150 });
      await one.store.shareRates(demand(0));
      await one.store.shareRates(demand(0));
      const jumped = (await two.store.shareRates(demand(100))).get("r:a:rpm")!;
      const left = (await one.store.shareRates(demand(0))).get("r:a:rpm")!;
      const after = (await two.store.shareRates(demand(100))).get("r:a:rpm")!;
      expect(left.part + Math.max(jumped.part, after.part)).toBeLessThanOrEqual(1);
      expect(after.part).toBeGreaterThan(0.7);
      // What the other node has given up was used: it brings only what has refilled since.
      expect(jumped.credit + after.credit).toBeLessThan(150);
    });
  });
