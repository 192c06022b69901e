/** Thousands of names of tools, listed and invented: the metrics stay within their limit, and lose no call. */
import { readFileSync } from "node:fs";
import { expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../../../../test/helpers/serving.ts";
import { fakeServer, type FakeTool, text } from "../support/servers.ts";
import { ModernClient } from "../support/clients.ts";
import { serveTools } from "./place.ts";

setDefaultTimeout(240_000);

const LISTED = 1_500;
const INVENTED = 1_500;
/** The least that a config may say. */
const MOST_SERIES = 1_000;
const AT_ONCE = 20;

test("3,000 names of tools are at most 1,000 series, whose sum is the number of calls", async () => {
  const echo: FakeTool = () => text("here");
  const fake = fakeServer(
    "modern",
    Object.fromEntries(Array.from({ length: LISTED }, (_, at) => [`tool-${at}`, echo])),
  );
  const metrics = { maxSeries: MOST_SERIES };
  const gateway = await serveTools({ fake: { url: fake.url, allow: ["*"] } }, { workers: 2, metrics });
  const [file] = new Bun.Glob("run/**/*.json").scanSync({ cwd: gateway.folder, absolute: true, dot: true });
  const { admin } = JSON.parse(readFileSync(file!, "utf8")) as { admin: { url: string; credential: string } };
  const scrape = async () => {
    const headers = { authorization: `Bearer ${admin.credential}` };
    const lines = (await (await fetch(`${admin.url}/metrics`, { headers })).text()).split("\n");
    const all = lines.filter((line) => line !== "" && !line.startsWith("#"));
    const tools = all.filter((line) => line.startsWith("weir_tool_calls_total{"));
    const sum = tools.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" "))), 0);
    return { all, tools, sum };
  };
  try {
    const client = new ModernClient({ url: `${gateway.url}/mcp/fake` });
    let next = 0;
    const run = async () => {
      for (let at = next++; at < LISTED + INVENTED; at = next++)
        await client.request("tools/call", { name: at < LISTED ? `tool-${at}` : `invented-${at}` });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, run));
    const isCounted = async () => (await scrape()).sum >= LISTED + INVENTED;
    expect(await until(isCounted, 20_000)).toBe(true);
    const { all, tools, sum } = await scrape();
    console.log(`${all.length} series in all, ${tools.length} of calls of tools`);
    expect(sum).toBe(LISTED + INVENTED);
    expect(all.length).toBeLessThanOrEqual(MOST_SERIES);
    expect(tools.length).toBeGreaterThan(10);
    expect(tools.some((line) => line.includes('tool="other"'))).toBe(true);
  } finally {
    await gateway.end();
    fake.stop();
  }
});
