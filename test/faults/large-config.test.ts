/** A config of 10,000 aliases: how long a start takes, and how long a reload holds up the calls beside it. */
import { beforeAll, expect } from "bun:test";
import { ask, serve } from "../helpers/serving.ts";
import { buildBinary } from "./armour.ts";
import { goal } from "./goals.ts";

const LARGE = `aliases:\n${Array.from({ length: 10_000 }, (_, at) => `  name-${at}: mock/chat\n`).join("")}`;

beforeAll(buildBinary, 180_000);

goal(72, "10,000 aliases at the start and at a reload", "start ≤ 1 s, stall ≤ 50 ms", async () => {
  const began = performance.now();
  const weir = await serve({ config: LARGE, workers: 1, binary: true });
  const start = performance.now() - began;
  try {
    let reloading = true;
    let longest = 0;
    const probes = (async () => {
      while (reloading) {
        const sent = performance.now();
        expect((await fetch(`${weir.url}/health`)).status).toBe(200);
        longest = Math.max(longest, performance.now() - sent);
      }
    })();
    weir.configure(`${LARGE}  one-more: mock/chat\n`);
    weir.signal("SIGHUP");
    const isLoaded = () => weir.log.some((line) => line.includes("the configuration was reloaded"));
    for (const until = performance.now() + 30_000; !isLoaded() && performance.now() < until;)
      await Bun.sleep(5);
    reloading = false;
    await probes;
    const answer = await ask(weir.url, "one-more");
    return {
      measured: `start ${Math.round(start)} ms, longest answer of /health during the reload ${Math.round(longest)} ms`,
      holds: answer.status === 200,
      inTime: start <= 1_000 && longest <= 50,
    };
  } finally {
    await weir.end();
  }
});
