/** The figures of a budget that one gateway shows while others spend: in the admin API and in the metrics. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { NodeAdmin } from "../../src/admin/node-admin.ts";
import { openBooks } from "../../src/keeper/books/index.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { until } from "../helpers/serving.ts";
import { budgetOf, declaredOf, TestWorker } from "../keeper/books/simulation.ts";

setDefaultTimeout(60_000);

const LIMIT = 1_000 * DOLLAR;
const ACCOUNT = budgetAccount("one", 0);

async function openNode(url: string) {
  const settings = { url, cluster: true, syncMs: 0, leaseMs: 900_000 };
  const { keeper, books, upkeep, host } = await openBooks(settings, []);
  const options = { books, upkeep, offers: host.offers, version: "0", isProcess: false };
  const admin = new NodeAdmin({ ...options, metrics: { keys: false, maxSeries: 1_000 } });
  keeper.open();
  await books.opened;
  const worker = new TestWorker(books, 1, declaredOf([budgetOf({ limit: LIMIT })]));
  const spend = async (cost: number) => {
    expect(await worker.hold([{ account: ACCOUNT, need: cost }])).toBeUndefined();
    worker.settle(ACCOUNT, cost, cost);
    worker.flush();
    await until(() => worker.unstored === 0);
  };
  const figures = async () => (await admin.accounts()).find(({ account }) => account === ACCOUNT);
  const gauge = () => /^weir_budget_dollars\{budget="one",part="spent"\} (\S+)$/m.exec(admin.metrics())?.[1];
  return { keeper, spend, figures, gauge };
}

if (missingPostgres) test.skip(`figures of two gateways: ${missingPostgres}`, () => {});
else {
  const server = await startPostgres();
  afterAll(() => server.close());

  test("what another gateway has spent is in the figures of one that has drawn before", async () => {
    const [one, two] = [await openNode(server.url), await openNode(server.url)];
    for (const node of [one, two]) await node.spend(DOLLAR);
    await two.spend(5 * DOLLAR);
    for (const node of [one, two]) {
      const found = await node.figures();
      expect(found).toMatchObject({ spent: 7 * DOLLAR, assumed: 0, overrun: 0 });
      // A scrape does not wait for the store: the next one has it.
      expect(await until(() => node.gauge() === "7")).toBe(true);
    }
    const [first, second] = [await one.figures(), await two.figures()];
    expect(first!.granted).toBe(second!.granted);
    for (const node of [one, two]) await node.keeper.close();
  });
}
