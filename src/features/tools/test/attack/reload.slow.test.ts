/** A reload under calls that run: servers that come, go and change. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../../../../test/helpers/serving.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { fake, membersOf } from "../stdio/place.ts";
import { LegacyClient, messagesOf, ModernClient, type Received, textOf } from "../support/clients.ts";
import { type FakeTool, fakeServer, text } from "../support/servers.ts";
import { connect, ERAS, errorOf, serveTools } from "./place.ts";

setDefaultTimeout(120_000);

const EACH = 5;
const allow = ["*"];
const config = (servers: JsonObject) =>
  JSON.stringify({ log: { format: "json" }, tools: { pin: "off", servers } });

/** What a stream has told so far. */
function heardOn(response: Response): string[] {
  const heard: string[] = [];
  void (async () => {
    for await (const { method } of messagesOf(response)) heard.push(String(method));
    heard.push("end");
  })().catch(() => heard.push("cut"));
  return heard;
}

const names = async (client: ModernClient | LegacyClient) =>
  ((await client.request("tools/list")).message["result"] as { tools: { name: string }[] }).tools.map(
    ({ name }) => name,
  );

test("calls go on but those of the server that is gone, and who listens hears of it", async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const tools: Record<string, FakeTool> = {
    echo: () => text("here"),
    other: () => text("other"),
    waits: async () => (await released, text("whole")),
  };
  const http = { modern: fakeServer("modern", tools), legacy: fakeServer("legacy", tools) };
  const moved = fakeServer("modern", { echo: () => text("moved") });
  const before = {
    gone: { command: fake("gone"), allow },
    narrowed: { command: fake(), allow },
    modern: { url: http.modern.url, allow },
    legacy: { url: http.legacy.url, allow },
    program: { command: fake(), allow },
  };
  const gateway = await serveTools(before);
  const open = (era: (typeof ERAS)[number], server = "") =>
    connect(era, { url: `${gateway.url}/mcp${server === "" ? "" : `/${server}`}` });
  try {
    const all = { modern: await open("modern"), legacy: await open("legacy") };
    const listening = await (all.modern as ModernClient).send("subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    const streamed = await fetch(`${gateway.url}/mcp`, { headers: (all.legacy as LegacyClient).headers() });
    const heard = { modern: heardOn(listening), legacy: heardOn(streamed) };
    expect(await until(() => heard.modern.includes("notifications/subscriptions/acknowledged"))).toBe(true);
    const pids: Record<string, number> = {};
    for (const server of ["gone", "narrowed", "program"])
      pids[server] = Number(textOf(await (await open("modern", server)).call("pid")));
    const calls: { server: string; got: Promise<Received> }[] = [];
    for (const era of ERAS)
      for (const server of Object.keys(before)) {
        const client = await open(era, server);
        const isHttp = server === "modern" || server === "legacy";
        const call = () =>
          isHttp ? client.call("waits") : client.call("slow", { ms: 6_000, said: "whole" });
        for (let at = 0; at < EACH; at++) {
          const got = call();
          got.catch(() => {});
          calls.push({ server, got });
        }
      }
    const running = () =>
      [...http.modern.seen, ...http.legacy.seen].filter((one) => one === "tools/call waits").length;
    expect(await until(() => running() === 4 * EACH, 20_000)).toBe(true);
    await Bun.sleep(500);
    heard.modern.length = heard.legacy.length = 0;
    gateway.configure(
      config({
        narrowed: { ...before.narrowed, only: ["echo", "pid"] },
        modern: { ...before.modern, only: ["echo"] },
        legacy: { url: moved.url, allow },
        program: { command: fake("changed"), allow },
        added: { command: fake(), allow },
      }),
    );
    gateway.signal("SIGHUP");
    for (const era of ERAS)
      expect(await until(() => heard[era].includes("notifications/tools/list_changed"), 10_000)).toBe(true);

    // Those of the server that is gone end at once.
    const began = performance.now();
    for (const { server, got } of calls) if (server === "gone") expect(errorOf(await got).code).toBe(1004);
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(await until(() => membersOf(pids["gone"]!).length === 0)).toBe(true);
    for (const era of ERAS) {
      const listed = await names(all[era]);
      expect(listed.filter((name) => /^(narrowed|modern|legacy)__/.test(name))).toEqual([
        ...["narrowed__echo", "narrowed__pid", "modern__echo", "legacy__echo"],
      ]);
      expect(listed).toContain("added__echo");
      expect(listed.some((name) => name.startsWith("gone__"))).toBe(false);
      expect(textOf(await all[era].call("legacy__echo"))).toBe("moved");
      expect(textOf(await all[era].call("modern__other"))).toBe("error Unknown tool: modern__other");
      expect(textOf(await all[era].call("program__args"))).toBe('["changed"]');
      expect(textOf(await all[era].call("added__echo", { said: "new" }))).toBe("new");
      // A program that has another filter is the same program.
      expect(Number(textOf(await all[era].call("narrowed__pid")))).toBeGreaterThan(0);
    }
    expect(Number(textOf(await (await open("modern", "narrowed")).call("pid")))).toBe(pids["narrowed"]!);
    release();
    for (const { server, got } of calls)
      if (server !== "gone") expect([server, textOf(await got)]).toEqual([server, "whole"]);

    // What was replaced ends after its calls.
    expect(await until(() => membersOf(pids["program"]!).length === 0, 10_000)).toBe(true);
    // The streams go on, at the servers that there are now.
    heard.modern.length = heard.legacy.length = 0;
    moved.tell("notifications/tools/list_changed");
    for (const era of ERAS)
      expect([era, await until(() => heard[era].length > 0), heard[era]]).toEqual([
        ...[era, true],
        ["notifications/tools/list_changed"],
      ]);
  } finally {
    await gateway.end();
    for (const server of [http.modern, http.legacy, moved]) server.stop();
  }
});

test("a call that waits for its client keeps its connection, whatever the isolation", async () => {
  const answers = { action: "accept", content: { name: "Anna" } };
  for (const isolation of ["call", "key"]) {
    const server = { command: fake(), allow, isolation };
    const gateway = await serveTools({ asks: server }, { workers: 1 });
    try {
      const client = new ModernClient({
        ...{ url: `${gateway.url}/mcp/asks`, capabilities: { elicitation: {} } },
        answer: () => answers,
      });
      const params = { method: "elicitation/create", params: { message: "who?", requestedSchema: {} } };
      if (isolation === "call") {
        expect(JSON.parse(textOf(await client.call("ask", params)))).toMatchObject({ result: answers });
        continue;
      }
      const first = (await client.request("tools/call", { name: "ask", arguments: params })).message[
        "result"
      ] as JsonObject;
      gateway.configure(config({ asks: { ...server, command: fake("other") } }));
      gateway.signal("SIGHUP");
      expect(await until(async () => textOf(await client.call("args")) === '["other"]')).toBe(true);
      const [key] = Object.keys(first["inputRequests"] as JsonObject);
      const second = await client.request("tools/call", {
        ...{ name: "ask", arguments: params, requestState: first["requestState"]! },
        inputResponses: { [key!]: answers },
      });
      expect(JSON.parse(textOf(second))).toMatchObject({ result: answers });
    } finally {
      await gateway.end();
    }
  }
});
