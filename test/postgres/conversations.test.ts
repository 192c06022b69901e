/** Conversations over two gateways on one PostgreSQL, while keepers are killed and the server stops and comes back. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { runConversations, startRepeater } from "../faults/conversations.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { until } from "../helpers/serving.ts";
import { startTwoNodes } from "./two-nodes.ts";

setDefaultTimeout(120_000);

const IS_LONG = process.env["LONG_POSTGRES"] === "1";

if (missingPostgres) test.skip(`conversations over two gateways: ${missingPostgres}`, () => {});
else
  describe("conversations over two gateways", async () => {
    const server = await startPostgres({ listen: "*" });
    afterAll(() => server.close());

    test("no turn is lost, twice or torn", async () => {
      const nodes = await startTwoNodes(server, { provider: startRepeater });
      const kill = (node: number) => {
        const pid = nodes.gateways[node]!.keeper();
        if (pid !== undefined) process.kill(pid, "SIGKILL");
      };
      const restart = async () => {
        await server.stop();
        await Bun.sleep(500);
        // Its children may still end, and a new server waits for none of them.
        const start = () =>
          server.start().then(
            () => true,
            () => false,
          );
        expect(await until(start, 60_000)).toBe(true);
      };
      try {
        const { added, refused, unclear, struck, ...faults } = await runConversations({
          urls: nodes.gateways.map(({ url }) => url),
          keys: [nodes.keys[0]!, nodes.keys[1]!],
          ...{ conversations: 6, turns: IS_LONG ? 1_000 : 60 },
          faults: [
            { at: 0.2, strike: () => kill(0) },
            { at: 0.4, strike: restart },
            { at: 0.6, strike: () => kill(1) },
            { at: 0.8, strike: restart },
          ],
        });
        console.log(`${added} turns added, ${refused} refused, ${unclear} unclear`);
        expect(faults).toEqual({ lost: [], extra: [], twice: [], torn: [], foreign: 0 });
        expect(struck).toBe(4);
        expect(added).toBeGreaterThan(50);
      } finally {
        await nodes.end();
      }
    }, 600_000);
  });
