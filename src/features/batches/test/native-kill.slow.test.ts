/** Gateways with batches at a provider are killed and stopped at any time: the provider gets no twin, and runs each line once. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { type Serving, until } from "../../../../test/helpers/serving.ts";
import { DOLLAR } from "../../../ledger/money.ts";
import { FakeOpenAI } from "./fake-openai.ts";
import { clientOf, endOf, House } from "./processes.ts";

setDefaultTimeout(600_000);

const BATCHES = 12;
const LINES = 20;
/** What a line holds, in nano-dollars: the output that its model permits, at half of the price. */
const HELD = 32_045_000;

async function isWhole(gateway: Serving): Promise<boolean> {
  return until(() => gateway.workers().length === 2 && gateway.keeper() !== undefined, 120_000);
}

test("no twin, and each line once", async () => {
  const house = new House();
  const host = new FakeOpenAI();
  host.looks = 4;
  // Some lines are refused at first, and go into further batches.
  host.busy = (said) => (said.endsWith("7") ? [429, 500] : []);
  const config = {
    providers: { p: { speaks: "chat-completions", baseUrl: host.url, apiKey: "k-1", models: ["m"] } },
    prices: { "p/m": { input: 1, output: 2 } },
    batches: { native: { p: { api: "openai" } }, poll: 1, retries: 2, limits: { perKey: 100 } },
  };
  try {
    await house.limit(1_000 * DOLLAR);
    let gateway = await house.start(2, config);
    const ids: string[] = [];
    for (const end of ["SIGKILL", "SIGTERM", "SIGKILL"] as const) {
      expect(await isWhole(gateway)).toBe(true);
      await until(
        () =>
          clientOf(gateway)
            .models.list()
            .then(
              () => true,
              () => false,
            ),
        60_000,
      );
      // Of some creations the answer is lost; some batches are at the provider when the gateway ends, some are not.
      host.loses = ["rst", "502", "rst"];
      for (let batch = 0; batch < BATCHES / 3; batch++) {
        const texts = Array.from({ length: LINES }, (_, at) => `${ids.length}/${at}`);
        ids.push(await house.batch(gateway, texts));
        await Bun.sleep(350);
      }
      if (end === "SIGKILL") gateway.signalGroup(end);
      else gateway.signal(end);
      await gateway.exited;
      gateway = await house.start(2, config);
    }
    let lost = 0;
    for (const [at, id] of ids.entries()) {
      const batch = await endOf(gateway, id);
      const results = house.results(batch);
      expect([at, batch.status, results.size]).toEqual([at, "completed", LINES]);
      for (const [line, result] of results) {
        if (result === "upstream_lost") lost++;
        const billed = host.billed.get(`${at}/${line}`);
        expect([at, line, result, billed]).toEqual([at, line, result, result === "200" ? 1 : undefined]);
      }
    }
    expect(lost).toBe(0);
    expect(host.called).toEqual([]);
    // Lines that wait for the books enter later, so there may be more than three for each.
    expect(new Set(host.batches.map(({ metadata }) => metadata["weir_batch"])).size).toBe(
      host.batches.length,
    );
    gateway.signal("SIGTERM");
    await gateway.exited;
    const { costs, granted, drawn, unexplained } = house.books();
    for (const [at, id] of ids.entries()) {
      const batch = [...host.billed.keys()].filter((text) => text.startsWith(`${at}/`)).length;
      // 30 tokens in and 50 out at $1 and $2 a million, and half of it.
      expect([id, costs.get(id)]).toEqual([id, (batch * 65 * DOLLAR) / 1_000_000]);
    }
    expect([granted, drawn]).toEqual([0, 0]);
    // What was assumed for the lines of gateways that were killed has become what lines hold that went on: all but some at most,
    // whose journal did not yet say that they held it.
    expect(unexplained).toBeLessThan(LINES * HELD);
    console.log(
      `${ids.length * LINES} lines, ${lost} upstream_lost, ${host.batches.length} batches, ${unexplained / DOLLAR} dollars assumed without a call`,
    );
  } finally {
    await house.end();
    host.stop();
  }
});
