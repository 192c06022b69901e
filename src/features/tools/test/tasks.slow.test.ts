/** Calls that become tasks: whose they are, and that all of them passes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { type RunningGateway, startGateway, TARGET } from "../../../../test/helpers/gateway.ts";
import type { JsonObject } from "../../../core/json.ts";
import { LegacyClient, messagesOf, ModernClient, textOf } from "./support/clients.ts";
import { definition, type FakeServer, fakeServer } from "./support/servers.ts";
import { type TaskServer, taskServer } from "./support/task-server.ts";

setDefaultTimeout(60_000);

const ALICE = "sk-alice-of-the-tasks-0123456789";
const BOB = "sk-bob-of-the-tasks-0123456789ab";
const CAROL = "sk-carol-of-the-tasks-0123456789";
const extensions = { "io.modelcontextprotocol/tasks": {} };

let upstream: TaskServer;
let silent: TaskServer;
let legacy: FakeServer;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = taskServer();
  silent = taskServer();
  silent.declares = false;
  legacy = fakeServer("legacy", { forges: () => ({ resultType: "task", taskId: "t", status: "working" }) });
  legacy.tools = [definition("forges")];
  const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
  const allow = ["*"];
  gateway = await startGateway({
    target: TARGET === "source" ? "process" : TARGET,
    config: {
      log: { format: "json" },
      keys: [
        { name: "alice", sha256: sha256(ALICE) },
        { name: "bob", sha256: sha256(BOB) },
        { name: "carol", sha256: sha256(CAROL), tools: ["jobs__greet"] },
      ],
      tools: {
        pin: "off",
        servers: {
          jobs: { url: upstream.url, allow },
          silent: { url: silent.url, allow },
          legacy: { url: legacy.url, allow },
        },
      },
    },
  });
});

afterAll(async () => {
  await gateway?.stop();
  for (const server of [upstream, silent, legacy]) server?.stop();
});

const client = (server = "jobs", key = ALICE, capabilities: JsonObject = { extensions }) =>
  new ModernClient({ url: `${gateway.url}/mcp${server && `/${server}`}`, key, capabilities });

const named = (taskId: string) => ({ headers: { "mcp-name": taskId } });
const ask = async (one: ModernClient, method: string, taskId: string, more: JsonObject = {}) =>
  (await one.request(method, { taskId, ...more }, named(taskId))).message;
const resultOf = ({ result }: JsonObject) => result as JsonObject;
const begin = async (one: ModernClient, name: string, args: JsonObject = {}) =>
  resultOf((await one.request("tools/call", { name, arguments: args })).message);
const idOf = async (one: ModernClient, name: string, args?: JsonObject) =>
  String((await begin(one, name, args))["taskId"]);

test("a task has another id outside, and its state and result pass", async () => {
  const one = client();
  const created = await begin(one, "slow_compute", { seconds: 0 });
  expect(created).toMatchObject({ resultType: "task", status: "working", ttlMs: 600_000 });
  const taskId = String(created["taskId"]);
  expect(taskId).toMatch(/^jobs\+[\w-]{40,}$/);
  await Bun.sleep(50);
  const got = resultOf(await ask(one, "tasks/get", taskId));
  expect(got).toMatchObject({ resultType: "complete", taskId, status: "completed" });
  expect(got["result"]).toEqual({ content: [{ type: "text", text: "computed" }] });
});

test("questions of a task pass with its answers, one after the other, at both endpoints", async () => {
  const one = client();
  const taskId = await idOf(one, "multi_input");
  const merged = client("");
  expect(resultOf(await ask(merged, "tasks/get", taskId))["inputRequests"]).toHaveProperty("b");
  const answers = (key: string) => ({ inputResponses: { [key]: { action: "accept", content: {} } } });
  expect(resultOf(await ask(one, "tasks/update", taskId, answers("a")))["resultType"]).toBe("complete");
  const rest = resultOf(await ask(one, "tasks/get", taskId));
  expect([rest["status"], Object.keys(rest["inputRequests"] as JsonObject)]).toEqual([
    "input_required",
    ["b"],
  ]);
  await ask(merged, "tasks/update", taskId, answers("b"));
  expect(resultOf(await ask(one, "tasks/get", taskId))["status"]).toBe("completed");
});

test("a call of `/mcp` becomes a task too, which its client cancels", async () => {
  const one = client("");
  const discovered = resultOf((await one.request("server/discover")).message)["capabilities"];
  expect(discovered).toMatchObject({ extensions });
  const taskId = await idOf(one, "jobs__slow_compute", { seconds: 60 });
  expect(resultOf(await ask(one, "tasks/cancel", taskId))).toMatchObject({ resultType: "complete" });
  expect(resultOf(await ask(one, "tasks/get", taskId))["status"]).toBe("cancelled");
});

test("a task of another caller is as unknown as one that never was", async () => {
  const one = client();
  const taskId = await idOf(one, "slow_compute", { seconds: 60 });
  const before = upstream.seen.length;
  const flipped = taskId.slice(0, -1) + (taskId.endsWith("A") ? "B" : "A");
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const more = method === "tasks/update" ? { inputResponses: {} } : {};
    const foreign = await client("jobs", BOB).request(method, { taskId, ...more }, named(taskId));
    const unknown = await client("jobs", BOB).request(method, { taskId: "none", ...more }, named("none"));
    expect(foreign.status).toBe(unknown.status);
    expect(JSON.stringify(foreign.message["error"])).toBe(
      JSON.stringify(unknown.message["error"]).replace("none", taskId),
    );
    expect(foreign.message["error"]).toMatchObject({ code: -32602 });
    for (const other of [flipped, "task-1", "jobs+task-1", taskId.replace("jobs+", "silent+")])
      expect((await ask(one, method, other, more))["error"]).toMatchObject({ code: -32602 });
    expect((await ask(client("silent"), method, taskId, more))["error"]).toMatchObject({ code: -32602 });
  }
  // None of them came to the server, which would have answered.
  expect(upstream.seen.slice(before).filter((one) => one.startsWith("tasks/"))).toEqual([]);
  expect(resultOf(await ask(one, "tasks/get", taskId))["status"]).toBe("working");
});

test("a task that the server does not know any more is unknown, by the id of the client", async () => {
  const one = client();
  const taskId = await idOf(one, "slow_compute", { seconds: 60 });
  (upstream.tasks as Map<string, unknown>).clear();
  expect((await ask(one, "tasks/get", taskId))["error"]).toEqual({
    code: -32602,
    message: `Unknown task: ${taskId}`,
  });
  const { error } = await ask(one, "tasks/update", taskId, { inputResponses: {} });
  expect(error).toEqual({ code: -32602, message: `there is no task ${taskId}` });
});

test("who has not declared the extension gets no tasks", async () => {
  const plain = client("jobs", ALICE, {});
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const { status, message } = await plain.request(method, { taskId: "none" }, named("none"));
    expect([status, message["error"]]).toEqual([
      400,
      expect.objectContaining({ code: -32021, data: { requiredCapabilities: { extensions } } }),
    ]);
  }
  expect(await begin(plain, "slow_compute", { seconds: 0 })).toMatchObject({ resultType: "complete" });
  // Servers that give one all the same.
  for (const one of [plain, client("silent"), client("legacy")]) {
    const { message } = await one.request("tools/call", { name: "forges", arguments: {} });
    expect(message["error"]).toMatchObject({ code: 1005 });
  }
});

test("a legacy client gets the plain behaviour, also one that says it has tasks", async () => {
  const one = await LegacyClient.open({
    url: `${gateway.url}/mcp/jobs`,
    ...{ key: ALICE, capabilities: { extensions, tasks: { requests: {} } } },
  });
  expect(textOf(await one.call("slow_compute", { seconds: 0 }))).toContain("computed");
  expect((await one.request("tasks/get", { taskId: "task-1" })).message["error"]).toMatchObject({
    code: -32601,
  });
  await one.request("tools/list");
});

test("the id of a request's header is that of the task", async () => {
  const one = client();
  const taskId = await idOf(one, "slow_compute", { seconds: 60 });
  const { status, message } = await one.request("tasks/get", { taskId }, named("other"));
  expect([status, (message["error"] as JsonObject)["code"]]).toEqual([400, -32020]);
});

test("who listens hears of its own tasks alone, by its ids", async () => {
  const one = client();
  const taskId = await idOf(one, "confirm_delete");
  const stop = new AbortController();
  const listen = async (who: ModernClient) => {
    const notifications = { taskIds: [taskId, "jobs+task-1"] };
    return messagesOf(await who.send("subscriptions/listen", { notifications }, { signal: stop.signal }));
  };
  const [mine, other] = [await listen(one), await listen(client("jobs", BOB))];
  const honoured = async (stream: typeof mine) =>
    ((await stream.next()).value as { params: JsonObject }).params["notifications"];
  expect(await honoured(mine)).toEqual({ taskIds: [taskId] });
  expect(await honoured(other)).toEqual({ taskIds: [] });
  await ask(one, "tasks/update", taskId, { inputResponses: { ok: { action: "accept" } } });
  const { value } = await mine.next();
  expect(value).toMatchObject({
    method: "notifications/tasks",
    params: { taskId, status: "completed", result: { content: [{ text: "deleted" }] } },
  });
  expect(JSON.stringify(value)).not.toContain("task-");
  const heard = await Promise.race([other.next().then(() => "heard"), Bun.sleep(300)]);
  expect(heard).toBeUndefined();
  stop.abort();
});

test("a call that becomes a task is one record, and asking for it is none", async () => {
  const one = client();
  const records = () => gateway.log.filter((line) => line.includes("jobs__slow_compute")).length;
  const before = records();
  const taskId = await idOf(one, "slow_compute", { seconds: 60 });
  for (let times = 0; times < 3; times++) await ask(one, "tasks/get", taskId);
  await Bun.sleep(300);
  expect(records() - before).toBe(1);
});
