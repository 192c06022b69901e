/** The process that owns the tools is killed under two workers while calls run. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../../../../test/helpers/serving.ts";
import { fake, membersOf } from "../stdio/place.ts";
import { type FakeTool, fakeServer, text } from "../support/servers.ts";
import {
  type AnyClient,
  bookedCalls,
  connect,
  ERAS,
  errorOf,
  follow,
  parentOf,
  serveTools,
} from "./place.ts";
import { LegacyClient, textOf } from "../support/clients.ts";

setDefaultTimeout(120_000);

const EACH = 25;

const waits: FakeTool = ({ stop }) =>
  new Promise((resolve) => stop.addEventListener("abort", () => resolve(text("late"))));
const tools: Record<string, FakeTool> = {
  echo: () => text("here"),
  waits,
  /** Its answer has begun when it waits. */
  tells: (call) => {
    const { progressToken } = call.params["_meta"] as { progressToken: number };
    call.notify("notifications/progress", { progressToken, progress: 1 });
    return waits(call);
  },
};

test("each of 200 calls ends with an error in two seconds, and nothing is left or booked twice", async () => {
  const servers = { modern: fakeServer("modern", tools), legacy: fakeServer("legacy", tools) };
  const allow = ["*"];
  const gateway = await serveTools({
    program: { command: fake(), allow },
    modern: { url: servers.modern.url, allow },
    legacy: { url: servers.legacy.url, allow },
  });
  try {
    let heard = 0;
    const open = (era: (typeof ERAS)[number], server: string) =>
      connect(era, { url: `${gateway.url}/mcp/${server}`, notified: () => heard++ });
    const pid = Number(textOf(await (await open("modern", "program")).call("pid")));
    const calls: { what: string; client: AnyClient; tool: string }[] = [];
    for (const era of ERAS)
      for (const [server, tool] of [
        ["program", "never"],
        ["modern", "waits"],
        ["modern", "tells"],
        ["legacy", "tells"],
      ] as const) {
        const client = await open(era, server);
        for (let at = 0; at < EACH; at++) calls.push({ what: `${era} at ${server}`, client, tool });
      }
    const started = calls.map(async ({ what, client, tool }) => {
      const got = await follow(client, tool, {});
      return { what, at: performance.now(), error: errorOf(got) };
    });
    const running = () =>
      [servers.modern, servers.legacy]
        .flatMap(({ seen }) => seen)
        .filter((one) => one.startsWith("tools/call")).length;
    expect(await until(() => running() === 6 * EACH && heard >= 4 * EACH, 20_000)).toBe(true);
    await Bun.sleep(300);
    const before = running();
    const killed = performance.now();
    process.kill(parentOf(pid), "SIGKILL");
    const ended = await Promise.all(started);
    const slowest = Math.max(...ended.map(({ at }) => at - killed));
    expect(ended.filter(({ error }) => error.code !== 1004)).toEqual([]);
    expect(slowest).toBeLessThan(2_000);
    console.log(`200 calls ended after ${Math.round(slowest)} ms at most`);
    expect(await until(() => membersOf(pid).length === 0, 5_000)).toBe(true);
    for (const era of ERAS) {
      const program = await open(era, "program");
      expect(textOf(await program.call("echo", { said: "again" }))).toBe("again");
      for (const server of ["modern", "legacy"])
        expect(textOf(await (await open(era, server)).call("echo"))).toBe("here");
    }
    // A session has gone with the process, and weir says so.
    const old = calls.find(({ client }) => client instanceof LegacyClient)!.client as LegacyClient;
    expect((await old.request("ping")).status).toBe(404);
    expect(running()).toBe(before + 4);
    gateway.signal("SIGTERM");
    expect(await gateway.exited).toBe(0);
    // One to find the program, those that ended, and six afterwards.
    expect(bookedCalls(gateway.folder)).toBe(1 + 8 * EACH + 6);
  } finally {
    await gateway.end();
    for (const server of Object.values(servers)) server.stop();
  }
});
