/** Programs that flood: this process stays small, and others have their turn. */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../../core/json.ts";
import { Children } from "../../servers/stdio/children.ts";
import { CLIENT, fake, Place, said, tool } from "./place.ts";

setDefaultTimeout(60_000);

const MB = 1024 * 1024;
const FLOOD_MS = 2500;

/** What a program does for some seconds, the slowest of the answers of another one meanwhile, and the growth of this process. */
async function during(name: string, given: JsonObject) {
  using place = new Place();
  const children = new Children(place, { grace: [100, 100] });
  const connect = (owner: string) =>
    children.connect(
      {
        ...{ server: "fake", principal: owner, client: CLIENT, preferred: "modern" },
        config: { command: fake(), env: {}, era: "auto" },
      },
      { notified: () => void notified++, ended: (why) => void ends.push(why) },
    );
  let notified = 0;
  const ends: string[] = [];
  const [calm, wild] = await Promise.all([connect("calm"), connect("wild")]);
  await said(calm, "echo", { said: "warm" });
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let grown = 0;
  let slowest = 0;
  const flood = tool(name, given);
  const outcome = wild.request(flood.outgoing).then(
    () => "answered",
    (cause) => String(cause),
  );
  for (const end = performance.now() + FLOOD_MS; performance.now() < end; await Bun.sleep(5)) {
    const began = performance.now();
    expect(await said(calm, "echo", { said: "calm" })).toBe("calm");
    slowest = Math.max(slowest, performance.now() - began);
    grown = Math.max(grown, process.memoryUsage.rss() - before);
  }
  const told = notified;
  await children.close();
  const figures = JSON.stringify({
    name,
    slowest: Math.round(slowest),
    grownMB: Math.round(grown / MB),
    told,
  });
  expect(grown, figures).toBeLessThan(64 * MB);
  expect(slowest, figures).toBeLessThan(500);
  return { outcome: await outcome, ends, told };
}

test("a line without end", async () => {
  const { outcome } = await during("endless", {});
  expect(outcome).toContain("it printed a line of more than 16777216 bytes");
});

test("a line of 20 MiB", async () => {
  const { outcome } = await during("big", { bytes: 20 * MB });
  expect(outcome).toContain("it printed a line of more than 16777216 bytes");
});

test("notifications as fast as it can", async () => {
  const { told } = await during("flood", {});
  // The burst, and the rate for the rest of the time.
  expect(told).toBeWithin(4000, 4000 + 2000 * (FLOOD_MS / 1000 + 1));
});

test("notifications of a megabyte as fast as it can", async () => {
  const { told } = await during("flood", { bytes: MB });
  expect(told).toBeWithin(10, 100);
});

test("6,000 notifications arrive, and the answer behind them", async () => {
  const { outcome, told } = await during("flood", { count: 6000 });
  // They come in blocks.
  expect(told).toBeWithin(6000, 7000);
  expect(outcome).toBe("answered");
});

test("lines that are not UTF-8, and lines that are no JSON", async () => {
  for (const name of ["invalid", "other"]) {
    const { ends } = await during(name, { lines: 1_000_000 });
    expect(ends[0]).toBe("it printed 100 lines that are no messages");
  }
});

test("a message that is nested 10,000 and 4,000,000 deep", async () => {
  for (const depth of [10_000, 4_000_000]) {
    const { outcome, ends } = await during("deep", { depth });
    expect(outcome).toContain("with a message that is nested too deeply");
    expect(ends.some((why) => why.includes("no messages"))).toBe(false);
  }
});

test("a message of five million values", async () => {
  const { outcome } = await during("many", { values: 5_000_000 });
  expect(outcome).toContain("with a message that has too many values");
});

test("a standard error without end", async () => {
  await during("errors", { bytes: 200 * MB });
});
