/** Two nodes with one PostgreSQL and one folder of journals: the other one goes on when one is killed. */
import { expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingPostgres, startPostgres } from "../../../../test/helpers/postgres.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { endOf, House } from "./processes.ts";

setDefaultTimeout(300_000);

test.skipIf(missingPostgres !== undefined)(
  "a node is killed, and the other one runs its batches on",
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.close());
    const house = new House();
    onTestFinished(() => house.end());
    const folder = mkdtempSync(join(tmpdir(), "weir-journals-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const url = await server.createDatabase();
    const node = (name: string) =>
      house.start(1, { store: { url }, batches: { concurrency: 8, yield: false, folder } }, name);
    const [one, two] = [await node("one"), await node("two")];
    const texts = (batch: number) => Array.from({ length: 200 }, (_, at) => `nodes ${batch}/${at}`);
    house.provider.delay = [200, 400];
    // Nodes look every five seconds: the one that made a batch has it first.
    const ids = [await house.batch(one, texts(0)), await house.batch(two, texts(1))];
    const asked = (text: string) => house.provider.asked.get(text) ?? 0;
    expect(await until(() => texts(0).some((text) => asked(text) > 0), 60_000)).toBe(true);
    await Bun.sleep(1_500);
    one.signalGroup("SIGKILL");
    await one.exited;
    for (const [at, id] of ids.entries()) {
      const results = house.results(await endOf(two, id));
      const lost = [...results.values()].filter((result) => result === "upstream_lost").length;
      expect([results.size, lost <= 8]).toEqual([200, true]);
      expect(Math.max(...texts(at).map(asked))).toBe(1);
      console.log(`batch ${at}: ${lost} of 200 upstream_lost`);
    }
  },
);
