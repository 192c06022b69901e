/** Keys, budgets and limits of a gateway with several workers, managed with the command line while it runs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { until } from "../helpers/serving.ts";
import { type RunningBooks, startBooks } from "./running.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(120_000);

let weir: RunningBooks;
let upstream: Upstream;
/** Requests that wait until they are released. */
let waiting: (() => void)[] = [];
let most = 0;

beforeAll(async () => {
  upstream = startUpstream(async (request) => {
    if (!request.path.endsWith("/chat/completions")) return json({ object: "list", data: [] });
    const { model } = JSON.parse(request.body.toString()) as { model: string };
    most = Math.max(most, upstream.open);
    if (model === "wait") await new Promise<void>((resolve) => waiting.push(resolve));
    return json(completion());
  });
  const host = { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m", "wait"] };
  weir = await startBooks({
    workers: 2,
    config: { providers: { host }, prices: { "host/*": { input: 0, output: 0, request: 0.01 } } },
  });
});

afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

function release(): void {
  for (const go of waiting) go();
  waiting = [];
}

async function ask(key: string | undefined, model = "host/m", stream = false): Promise<Response> {
  return fetch(`${weir.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      // Each connection may reach another worker.
      connection: "close",
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ model, stream, max_tokens: 10, messages: [{ role: "user", content: "hello" }] }),
  });
}

async function statusOf(key: string | undefined, model?: string): Promise<number> {
  const response = await ask(key, model);
  await response.arrayBuffer();
  return response.status;
}

/** The statuses of calls over enough connections that every worker gets some. */
const statuses = async (key: string | undefined, calls = 16): Promise<number[]> => {
  const all = await Promise.all(Array.from({ length: calls }, () => statusOf(key)));
  return [...new Set(all)].sort();
};

const everywhere = async (key: string | undefined, status: number, ms: number) =>
  until(async () => (await statuses(key)).join() === String(status), ms);

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test("the first call key closes the gateway, and revoking the last one does not open it again", async () => {
  expect(await statuses(undefined)).toEqual([200]);
  const { code, output } = weir.run("keys", "create", "first");
  expect(code).toBe(0);
  expect(output).toContain("Every call needs a key from now on");
  expect(await everywhere(undefined, 401, 2_000)).toBe(true);
  expect(weir.run("keys", "revoke", "first").code).toBe(0);
  const secret = output.match(/weir_sk_\w+/)![0];
  expect(await everywhere(secret, 401, 2_000)).toBe(true);
  expect(await statuses(undefined)).toEqual([401]);
});

test("a created key is answered once and is in no file and no log line", async () => {
  const secret = weir.createKey("grepped");
  expect(secret).toStartWith("weir_sk_");
  expect(await everywhere(secret, 200, 2_000)).toBe(true);
  await Bun.sleep(300);
  const shared = readdirSync("/dev/shm").filter((name) => name.startsWith("weir"));
  const folders = [weir.state, weir.folder, ...shared.map((name) => join("/dev/shm", name))];
  const files = folders.flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : [path]));
  expect(files.some((file) => file.endsWith("weir.db"))).toBe(true);
  // Gateways of other tests remove their files at any time.
  const holding = files.filter((file) => existsSync(file) && readFileSync(file).includes(secret));
  expect(holding).toEqual([]);
  expect(weir.log.join("\n")).not.toContain(secret);
  expect(weir.run("keys", "show", "grepped", "--json").output).not.toContain(secret);
});

test("a revoked key is refused by every worker within a second, and running answers go on", async () => {
  const secret = weir.createKey("revoked");
  expect(await everywhere(secret, 200, 2_000)).toBe(true);
  const running = ask(secret, "host/wait");
  expect(await until(() => waiting.length === 1)).toBe(true);
  expect(weir.run("keys", "revoke", "revoked").code).toBe(0);
  expect(await everywhere(secret, 401, 1_000)).toBe(true);
  release();
  expect((await running).status).toBe(200);
});

test("after a rotation both keys work, and without a grace period only the new one", async () => {
  const old = weir.createKey("rotated");
  const next = weir.run("keys", "rotate", "rotated").output.match(/weir_sk_\w+/)![0];
  expect(next).not.toBe(old);
  expect(await everywhere(next, 200, 2_000)).toBe(true);
  expect(await statuses(old)).toEqual([200]);
  const last = weir.run("keys", "rotate", "rotated", "--grace", "0s").output.match(/weir_sk_\w+/)![0];
  expect(await everywhere(last, 200, 2_000)).toBe(true);
  expect(await everywhere(old, 401, 2_000)).toBe(true);
  expect(await everywhere(next, 401, 2_000)).toBe(true);
});

test("an expired key is refused from that second on", async () => {
  const secret = weir.createKey("expiring", "--expires", "3s");
  expect(await everywhere(secret, 200, 2_000)).toBe(true);
  expect(await everywhere(secret, 401, 6_000)).toBe(true);
});

test("a raised budget admits calls within a second, and a lowered one refuses the next", async () => {
  const secret = weir.createKey("budgeted", "--budget", "0.05", "--hard");
  expect(await until(async () => (await statusOf(secret)) === 429, 10_000)).toBe(true);
  const isSpent = async () => (await weir.budget("budgeted")).windows[0]!.spent === 50_000_000;
  expect(await until(isSpent, 5_000)).toBe(true);
  const refusal = await ask(secret);
  expect(refusal.headers.get("x-should-retry")).toBe("false");
  expect(await refusal.text()).toContain("insufficient_quota");
  expect(weir.run("budgets", "raise", "budgeted", "0.07").code).toBe(0);
  expect(await until(async () => (await statusOf(secret)) === 200, 1_000)).toBe(true);
  expect(weir.run("budgets", "set", "budgeted", "0.01").code).toBe(0);
  expect(await everywhere(secret, 429, 1_000)).toBe(true);
});

test("a limit of 5 calls in flight holds over all workers, also after one was killed", async () => {
  const secret = weir.createKey("parallel", "--concurrency", "5");
  // One at a time: more than five at once would be refused.
  const isKnown = async () => {
    for (let calls = 0; calls < 16; calls++) if ((await statusOf(secret)) !== 200) return false;
    return true;
  };
  expect(await until(isKnown, 5_000)).toBe(true);
  const round = async () => {
    most = 0;
    const calls = Array.from({ length: 12 }, () => statusOf(secret, "host/wait").catch(() => 0));
    expect(await until(() => waiting.length === 5, 5_000)).toBe(true);
    await Bun.sleep(300);
    expect(waiting.length).toBe(5);
    return calls;
  };
  const first = await round();
  release();
  const ended = await Promise.all(first);
  expect([
    ended.filter((status) => status === 200).length,
    ended.filter((status) => status === 429).length,
  ]).toEqual([5, 7]);
  const second = await round();
  process.kill(weir.workers()[0]!, "SIGKILL");
  await Bun.sleep(1_000);
  release();
  await Promise.all(second);
  expect(await until(() => weir.workers().length === 2, 10_000)).toBe(true);
  await Bun.sleep(500);
  const third = await round();
  release();
  await Promise.all(third);
  expect(most).toBe(5);
});
