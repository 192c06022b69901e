/** Processes that run batches are killed at any time: each line has one result, and none is paid twice. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { IS_STRESS } from "../../../../test/helpers/effort.ts";
import { type Serving, until } from "../../../../test/helpers/serving.ts";
import { DOLLAR } from "../../../ledger/money.ts";
import { endOf, House, LINE_COST } from "./processes.ts";

setDefaultTimeout(900_000);

const KILLS = IS_STRESS ? 50 : 1;
const LINES = 150;
const BATCHES = 3;

const textOf = (batch: number, line: number) => `${line % 9 === 4 ? "busy" : "line"} ${batch}/${line}`;

async function isWhole(gateway: Serving): Promise<boolean> {
  return until(() => gateway.workers().length === 2 && gateway.keeper() !== undefined, 120_000);
}

test.each(["worker", "keeper", "all"] as const)(
  "while a %s is killed again and again, each line has one result, and is paid once",
  async (which) => {
    const house = new House();
    const { provider } = house;
    try {
      await house.limit(1_000 * DOLLAR);
      let gateway = await house.start();
      expect(await isWhole(gateway)).toBe(true);
      const ids: string[] = [];
      for (let batch = 0; batch < BATCHES; batch++)
        ids.push(
          await house.batch(
            gateway,
            Array.from({ length: LINES }, (_, at) => textOf(batch, at)),
          ),
        );
      for (let kill = 0; kill < KILLS; kill++) {
        await Bun.sleep(300 + Math.random() * 1_500);
        expect(await isWhole(gateway)).toBe(true);
        if (which === "all") {
          gateway.signalGroup("SIGKILL");
          await gateway.exited;
          gateway = await house.start();
        } else process.kill(which === "keeper" ? gateway.keeper()! : gateway.workers()[kill % 2]!, "SIGKILL");
      }
      const batches = [];
      for (const id of ids) batches.push(await endOf(gateway, id));
      gateway.signal("SIGTERM");
      await gateway.exited;
      const { costs, granted, drawn, unexplained } = house.books();
      let lost = 0;
      for (const [at, batch] of batches.entries()) {
        const results = house.results(batch);
        expect([batch.status, results.size]).toEqual(["completed", LINES]);
        for (const [line, result] of results) {
          const paid = provider.paid.get(textOf(at, line)) ?? 0;
          if (result === "upstream_lost") lost++;
          expect([line, result, paid]).toEqual([
            line,
            result === "upstream_lost" ? result : "200",
            result === "upstream_lost" ? Math.min(1, paid) : 1,
          ]);
        }
        const done = [...results.values()].filter((result) => result === "200").length;
        expect(batch.request_counts).toEqual({ total: LINES, completed: done, failed: LINES - done });
        const { cost } = (batch as unknown as { weir: { cost: string } }).weir;
        expect([at, Math.round(Number(cost) * DOLLAR)]).toEqual([at, costs.get(batch.id)!]);
        // A line that was lost is booked at what a line costs, whether or not the provider has answered it.
        expect(costs.get(batch.id)).toBe(LINES * LINE_COST);
        expect(house.files.isHeld(batch.input_file_id.slice(5), batch.id.slice(6))).toBe(false);
      }
      expect([granted, drawn]).toEqual([0, 0]);
      if (which === "keeper") expect(lost).toBe(0);
      console.log(
        `${which}: ${KILLS} kills, ${BATCHES * LINES} lines, ${lost} upstream_lost, ${unexplained / LINE_COST} assumed without a call`,
      );
    } finally {
      await house.end();
    }
  },
);
