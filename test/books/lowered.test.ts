/** A hard budget is lowered under load: no call that begins after the answer passes beyond the new limit. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { json, startUpstream } from "../helpers/upstream.ts";
import { until } from "../helpers/serving.ts";
import { startBooks } from "./running.ts";
import { call, completion } from "./stress.ts";

setDefaultTimeout(300_000);

const host = (url: string) => ({ baseUrl: `${url}/v1`, speaks: "chat-completions", models: ["*"] });
const CALL = { model: "host/m", stream: false, abort: false };
const CLIENTS = 12;

test.each([1, 2, 4])("of %p workers", async (workers) => {
  const upstream = startUpstream(({ path }) =>
    path.endsWith("/models") ? json({ object: "list", data: [] }) : json(completion()),
  );
  const weir = await startBooks({
    workers,
    config: {
      providers: { host: host(upstream.url) },
      prices: { "host/*": { input: 0, output: 0, request: 0.01 } },
    },
  });
  try {
    const key = weir.createKey("lowered", "--budget", "500", "--hard");
    const { id } = await weir.budget("lowered");
    let answeredAt = Infinity;
    const late: number[] = [];
    const other: string[] = [];
    let passed = 0;
    const end = performance.now() + 60_000;
    const loop = async () => {
      while (performance.now() < Math.min(end, answeredAt + 1_500)) {
        const began = performance.now();
        const { result, text } = await call(weir, key, CALL);
        if (result === "answered") {
          passed++;
          if (began > answeredAt) late.push(began - answeredAt);
        } else if (result !== "refused") other.push(text);
      }
    };
    const loops = Array.from({ length: CLIENTS }, loop);
    expect(await until(() => passed >= 100, 30_000)).toBe(true);
    await weir.api.send("PATCH", `/budgets/${id}`, { body: { limit: 100_000_000 } });
    answeredAt = performance.now();
    await Promise.all(loops);
    expect(late).toEqual([]);
    expect(other).toEqual([]);
    // What is left of a limit between what is spent and what it was can be used up, and no more.
    const spent = (await weir.budget("lowered")).windows[0]!.spent;
    await weir.api.send("PATCH", `/budgets/${id}`, { body: { limit: spent + 30_000_000 } });
    const results = await Promise.all(Array.from({ length: 40 }, () => call(weir, key, CALL)));
    expect(results.filter(({ result }) => result === "answered")).toHaveLength(3);
    expect(results.filter(({ result }) => result === "refused")).toHaveLength(37);
  } finally {
    await weir.end();
    upstream.stop();
  }
});
