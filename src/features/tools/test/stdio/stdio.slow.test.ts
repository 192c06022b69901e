/** Connections to programs: both eras, and whom each message reaches. */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../../core/json.ts";
import type { Era } from "../../wire/revisions.ts";
import { RunningChild } from "../../servers/stdio/child.ts";
import { StdioConnection } from "../../servers/stdio/stdio.ts";
import { CLIENT, failureOf, fake, Place, said, textOf, tool, until, wish } from "./place.ts";

setDefaultTimeout(60_000);

interface Wanted {
  args?: string[];
  era?: "auto" | Era;
  preferred?: Era;
  probeMs?: number;
  startMs?: number;
  isMixed?: boolean;
  capabilities?: JsonObject;
}

async function connect(
  place: Place,
  { args = [], isMixed = false, capabilities = {}, ...wanted }: Wanted = {},
) {
  const notified: { method: string; params: JsonObject }[] = [];
  const ends: string[] = [];
  const connection = new StdioConnection(
    { server: "fake", isMixed },
    (events) => {
      const program = { server: "fake", command: fake(...args), env: {}, folder: place.root };
      return new RunningChild(place, program, events, [300, 300]);
    },
    {
      notified: (method, params) => void notified.push({ method, params }),
      ended: (why) => void ends.push(why),
    },
  );
  const client = { ...CLIENT, capabilities };
  const began = performance.now();
  await connection.open({
    ...{ era: "auto", preferred: "modern", client, probeMs: 3000, startMs: 5000 },
    ...wanted,
  });
  return { connection, notified, ends, ms: performance.now() - began };
}

test("the era is found out, whatever the program answers, or nothing", async () => {
  using place = new Place();
  const eraOf = async (wanted: Wanted) => {
    const { connection, ms } = await connect(place, wanted);
    const { era, facts } = connection;
    expect(facts.info["name"]).toBe("fake");
    expect(facts.instructions).toBe("ask me");
    expect(await said(connection, "echo", { said: "a" })).toBe("a");
    await connection.close();
    return [era, facts.version, Math.round(ms / 250)];
  };
  expect(await eraOf({})).toEqual(["legacy", "2025-11-25", expect.any(Number)]);
  expect(await eraOf({ args: ["old", "banner"] })).toEqual(["legacy", "2024-11-05", expect.any(Number)]);
  expect(await eraOf({ args: ["modern"] })).toEqual(["modern", "2026-07-28", expect.any(Number)]);
  expect(await eraOf({ args: ["dual"] })).toEqual(["modern", "2026-07-28", expect.any(Number)]);
  expect(await eraOf({ args: ["dual"], era: "legacy" })).toEqual([
    "legacy",
    "2025-11-25",
    expect.any(Number),
  ]);
  expect(await eraOf({ args: ["dual"], era: "modern" })).toEqual([
    "modern",
    "2026-07-28",
    expect.any(Number),
  ]);
  expect(await eraOf({ args: ["dual"], preferred: "legacy" })).toEqual([
    ...["legacy", "2025-11-25", expect.any(Number)],
  ]);
  expect(await eraOf({ args: ["modern"], preferred: "legacy" })).toEqual([
    ...["modern", "2026-07-28", expect.any(Number)],
  ]);
  const [era, , quarters] = await eraOf({ args: ["mute"], probeMs: 750 });
  expect(era).toBe("legacy");
  expect(quarters).toBeGreaterThanOrEqual(3);
  // It answers the probe when weir has given it up already, and refuses the handshake.
  expect((await eraOf({ args: ["modern", "late"], probeMs: 300 }))[0]).toBe("modern");
  expect((await eraOf({ args: ["dual", "late"], probeMs: 300 }))[0]).toBe("legacy");
});

test("a program that weir has no revision in common with, or that is silent, is told apart", async () => {
  using place = new Place();
  const why = (wanted: Wanted) => failureOf(connect(place, wanted));
  const cannot = "1002 server fake cannot be reached: ";
  expect(await why({ args: ["future"] })).toBe(`${cannot}it speaks only the revisions 2027-01-01`);
  expect(await why({ era: "modern" })).toBe(`${cannot}it does not speak revision 2026-07-28`);
  expect(await why({ args: ["modern"], era: "legacy" })).toBe(`${cannot}it refused: no`);
  expect(await why({ args: ["mute"], era: "modern", startMs: 400 })).toBe(
    `${cannot}it did not answer in 400 ms`,
  );
  expect(await why({ args: ["deaf"], probeMs: 100, startMs: 400 })).toBe(
    `${cannot}it did not answer in 400 ms`,
  );
  expect(await why({ args: ["dies"] })).toBe(
    "1004 server fake ended before it had answered: it ended with exit code 7",
  );
});

test("a modern request says version, client and capabilities; a legacy one is as the client sent it", async () => {
  using place = new Place();
  const sentBy = async (era: Era) => {
    const { connection } = await connect(place, { args: ["dual"], era });
    const { outgoing } = tool(
      "params",
      {},
      { client: { capabilities: { roots: {} }, logLevel: "info" } },
      { a: 1 },
    );
    const sent = JSON.parse(textOf(await connection.request(outgoing))) as JsonObject;
    await connection.close();
    return sent["_meta"];
  };
  expect(await sentBy("legacy")).toEqual({ a: 1 });
  expect(await sentBy("modern")).toEqual({
    a: 1,
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "probe", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": { roots: {} },
    "io.modelcontextprotocol/logLevel": "info",
  });
});

test("1,000 calls at 50 in parallel get their own answers", async () => {
  using place = new Place();
  const { connection } = await connect(place);
  let at = 0;
  let wrong = 0;
  const work = async () => {
    for (let mine = at++; mine < 1000; mine = at++) {
      const mark = `mark ${mine}`;
      const answer = await said(connection, "slow", { ms: (mine * 7) % 13, said: mark });
      if (answer !== mark) wrong++;
    }
  };
  await Promise.all(Array.from({ length: 50 }, work));
  expect([at >= 1000, wrong, connection.running]).toEqual([true, 0, 0]);
  await connection.close();
});

test("errors and wrong answers reach the request that they answer", async () => {
  using place = new Place();
  const { connection } = await connect(place);
  expect(await connection.request(tool("fails").outgoing)).toEqual({
    error: { code: -32602, message: "no", data: { at: 1 } },
  });
  expect(await failureOf(said(connection, "wrong"))).toBe(
    "1005 server fake answered tools/call with neither a result nor an error",
  );
  expect(await failureOf(said(connection, "deep", { depth: 10_000 }))).toBe(
    "1005 server fake answered tools/call with a message that is nested too deeply",
  );
  expect(await said(connection, "big", { bytes: 15_000_000 })).toHaveLength(15_000_000);
  expect(await said(connection, "echo", { said: "still here" })).toBe("still here");
  await connection.close();
});

test("progress reaches its request with the client's token, does not go back, and ends with the result", async () => {
  using place = new Place();
  const { connection } = await connect(place);
  // Twenty clients that all use token 1, and those of other types.
  const tokens = [...Array.from({ length: 20 }, () => 1), 0, "", "0", "x"];
  const calls = tokens.map((token, at) =>
    tool(
      "progress",
      { values: [at * 100 + 1, at * 100 + 3, at * 100 + 2, at * 100 + 4] },
      {},
      { progressToken: token },
    ),
  );
  const none = tool("progress", { values: [1] });
  const late = tool("afterwards", {}, {}, { progressToken: "late" });
  await Promise.all([...calls, none, late].map(({ outgoing }) => connection.request(outgoing)));
  await said(connection, "echo", { said: "all has come" });
  calls.forEach(({ heard }, at) =>
    expect(heard).toEqual(
      [1, 3, 4].map((step) => ({
        method: "notifications/progress",
        params: { progressToken: tokens[at]!, progress: at * 100 + step },
      })),
    ),
  );
  expect([...none.heard, ...late.heard]).toEqual([]);
  await connection.close();
});

test("log messages reach a request that wants them", async () => {
  using place = new Place();
  const { connection, notified } = await connect(place);
  const log = async (level: string, logLevel?: string) => {
    const call = tool("log", { level, data: "said" }, { client: logLevel === undefined ? {} : { logLevel } });
    await connection.request(call.outgoing);
    return call.heard.length;
  };
  expect(await log("info", "info")).toBe(1);
  expect(await log("debug", "info")).toBe(0);
  // Who says no level gets all: what the client does not want, its own side holds back.
  expect(await log("error")).toBe(1);
  const waiting = tool("slow", { ms: 400 }, { client: { logLevel: "debug" } });
  const waits = connection.request(waiting.outgoing);
  expect(await log("debug", "error")).toBe(0);
  await waits;
  expect(waiting.heard).toEqual([
    { method: "notifications/message", params: { level: "debug", data: "said" } },
  ]);
  expect(notified).toEqual([]);
  await connection.close();
});

const ASK = { method: "elicitation/create", params: { message: "who?" } };

test("a request of the program reaches the client that runs it, or the newest that can answer", async () => {
  using place = new Place();
  const { connection } = await connect(place);
  const answer = { result: { action: "accept" } };
  const alone = tool("ask", ASK, { answer });
  expect(JSON.parse(textOf(await connection.request(alone.outgoing)))).toMatchObject(answer);
  expect(alone.asked).toEqual([ASK]);
  const can = { client: { capabilities: { elicitation: {} } }, answer };
  const older = tool("slow", { ms: 500 }, can);
  const newer = tool("slow", { ms: 500 }, can);
  const waits = [older, newer].map(({ outgoing }) => connection.request(outgoing));
  const cannot = tool("ask", ASK);
  expect(JSON.parse(textOf(await connection.request(cannot.outgoing)))).toMatchObject(answer);
  expect([older, newer, cannot].map(({ asked }) => asked.length)).toEqual([0, 1, 0]);
  await Promise.all(waits);
  const failing = tool("ask", ASK, { answer: { error: { code: -1, message: "User rejected" } } });
  expect(JSON.parse(textOf(await connection.request(failing.outgoing)))).toMatchObject({
    error: { code: -1, message: "User rejected" },
  });
  const throwing = { ...tool("ask", ASK).outgoing, ask: () => Promise.reject(new Error("secret")) };
  expect(textOf(await connection.request(throwing))).not.toContain("secret");
  const odd = await said(connection, "ask", { method: "tasks/list", params: {} });
  expect(JSON.parse(odd)).toMatchObject({ error: { code: -32601 } });
  expect(JSON.parse(await said(connection, "ask", { method: "ping", params: {} }))).toMatchObject({
    result: {},
  });
  await connection.close();
});

test("what could belong to several callers of a shared program belongs to none", async () => {
  using place = new Place();
  const { connection } = await connect(place, { isMixed: true });
  const can = { client: { capabilities: { elicitation: {} }, logLevel: "debug" } };
  const other = tool("slow", { ms: 300 }, can);
  const waits = connection.request(other.outgoing);
  const own = tool("ask", ASK, can);
  expect(JSON.parse(textOf(await connection.request(own.outgoing)))).toMatchObject({
    error: { code: -32600 },
  });
  const logs = tool("log", { level: "error", data: "secret" }, can);
  await connection.request(logs.outgoing);
  await waits;
  expect([other.asked, own.asked, other.heard, logs.heard]).toEqual([[], [], [], []]);
  await connection.request(tool("log", { level: "error", data: "own" }, can).outgoing);
  await connection.close();
});

test("a modern program has no requests to the client", async () => {
  using place = new Place();
  const { connection } = await connect(place, { args: ["modern"] });
  const call = tool("ask", ASK, { client: { capabilities: { elicitation: {} } } });
  expect(JSON.parse(textOf(await connection.request(call.outgoing)))).toMatchObject({
    error: { code: -32601 },
  });
  expect(call.asked).toEqual([]);
  await connection.close();
});

test("a request that is stopped is cancelled at the server, and others go on", async () => {
  using place = new Place();
  for (const args of [[], ["modern"]]) {
    const { connection } = await connect(place, { args });
    const stopped = tool("never");
    const fails = failureOf(connection.request(stopped.outgoing));
    const other = said(connection, "slow", { ms: 100, said: "other" });
    await Bun.sleep(20);
    stopped.stop.abort();
    expect(await fails).toBe("1003 the request to server fake was stopped");
    expect(await other).toBe("other");
    // 1 is `server/discover`, 2 `initialize` in the legacy era.
    expect(JSON.parse(await said(connection, "cancelled"))).toEqual([args.length === 0 ? 3 : 2]);
    const before = tool("echo", {}, { stop: stopped.stop });
    expect(await failureOf(connection.request(before.outgoing))).toContain("1003");
    expect(connection.running).toBe(0);
    await connection.close();
  }
});

test("the end of a program fails what runs, once, and what comes later", async () => {
  using place = new Place();
  for (const [name, why] of [
    ["die", "it ended with exit code 5"],
    ["killed", "it was ended by the signal SIGKILL"],
    ["endless", "it printed a line of more than 16777216 bytes"],
  ] as const) {
    const { connection, ends } = await connect(place);
    const waits = ["never", name].map((each) => failureOf(said(connection, each, { code: 5 })));
    const cut = `1004 server fake ended before it had answered: ${why}`;
    expect(await Promise.all(waits)).toEqual([cut, cut]);
    expect(ends).toEqual([why]);
    expect(await failureOf(said(connection, "echo"))).toBe(`1002 server fake cannot be reached: ${why}`);
    await connection.close();
    expect(ends).toEqual([why]);
  }
  const { connection, ends } = await connect(place);
  const waits = failureOf(said(connection, "never"));
  await connection.close();
  expect(await waits).toBe("1004 server fake ended before it had answered: weir stopped it");
  expect(ends).toEqual([]);
});

test("changes are told: unasked by a legacy program, asked by a modern one", async () => {
  using place = new Place();
  const legacy = await connect(place);
  expect(legacy.connection.listen).toBeUndefined();
  await said(legacy.connection, "changed");
  expect(legacy.notified).toEqual([{ method: "notifications/tools/list_changed", params: {} }]);
  await legacy.connection.close();
  const { connection, notified } = await connect(place, { args: ["modern"] });
  const stop = new AbortController();
  let opened = 0;
  const listens = connection.listen!({ toolsListChanged: true }, stop.signal, () => void opened++);
  await until(() => notified.length > 0);
  expect(notified).toEqual([{ method: "notifications/tools/list_changed", params: {} }]);
  expect([opened, connection.running]).toEqual([1, 0]);
  stop.abort();
  await listens;
  expect(JSON.parse(await said(connection, "cancelled"))).toEqual([2]);
  const again = connection.listen!({}, new AbortController().signal, () => {});
  const cut = failureOf(again);
  await connection.close();
  expect(await cut).toContain("1004");
});

test("lists and unknown methods pass", async () => {
  using place = new Place();
  const { connection } = await connect(place);
  const list = await connection.request(wish("tools/list").outgoing);
  expect("result" in list && (list.result["tools"] as object[]).length).toBeGreaterThan(20);
  expect(await connection.request(wish("what/ever").outgoing)).toMatchObject({ error: { code: -32601 } });
  connection.notify("notifications/roots/list_changed");
  await connection.close();
});
