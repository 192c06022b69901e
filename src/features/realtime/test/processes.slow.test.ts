/** Sessions over several workers: one that is killed, client secrets, a reload. */
import { Database } from "bun:sqlite";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type Serving, serve } from "../../../../test/helpers/serving.ts";
import { startVendor, type Vendor } from "./support/vendor.ts";

setDefaultTimeout(120_000);

const KEY = "weir_sk_voicekey0123456789abcdefghijklmnopqrst";

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0).toReversed()) await started.stop();
});

function configOf(vendor: Vendor, more: object = {}): string {
  return JSON.stringify({
    ...{ state: "state", port: 0, keys: [{ name: "voice", key: KEY }] },
    budgets: { all: { on: "all", every: "total", limit: 50, mode: "hard" } },
    providers: { openai: { baseUrl: `${vendor.url}/v1`, apiKey: "upstream-key" } },
    ...more,
  });
}

async function start(workers: number): Promise<{ vendor: Vendor; gateway: Serving }> {
  const vendor = startVendor();
  const gateway = await serve({ config: configOf(vendor), workers });
  running.push(vendor, { stop: () => gateway.end() });
  return { vendor, gateway };
}

interface Opened {
  socket: WebSocket;
  got: Record<string, unknown>[];
  closed: Promise<number>;
}

function open({ url }: Serving, credential = KEY): Promise<Opened> {
  const headers = { authorization: `Bearer ${credential}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/realtime?model=gpt-realtime`, {
    headers,
  } as never);
  const got: Record<string, unknown>[] = [];
  socket.onmessage = ({ data }) => void got.push(JSON.parse(String(data)) as Record<string, unknown>);
  const closed = new Promise<number>((resolve) => (socket.onclose = ({ code }) => resolve(code)));
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve({ socket, got, closed });
    socket.onerror = () => reject(new Error("refused"));
  });
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let waited = 0; !holds(); waited += 20) {
    if (waited > 60_000) throw new Error(`waited in vain: ${what}`);
    await Bun.sleep(20);
  }
}

const isDone = ({ type }: Record<string, unknown>) => type === "response.done";

interface Account {
  spent: number;
  assumed: number;
}

function booksOf({ folder }: Serving): { accounts: Account[]; costs: number[] } {
  const db = new Database(join(folder, "state", "weir.db"), { readonly: true });
  const accounts = db.query<Account, []>("SELECT spent, assumed FROM accounts").all();
  const costs = db.query<{ cost: number }, []>("SELECT cost FROM calls WHERE status = 200").all();
  db.close();
  return { accounts, costs: costs.map(({ cost }) => cost) };
}

test("a worker that is killed in mid-session leaves what was settled, and assumes the open answer", async () => {
  const { vendor, gateway } = await start(2);
  const one = await open(gateway);
  for (let number = 1; number <= 5; number++) {
    one.socket.send(JSON.stringify({ type: "response.create" }));
    await until(() => one.got.filter(isDone).length === number, `answer ${number}`);
  }
  vendor.script = (event, session) => {
    session.send(JSON.stringify({ type: "response.created", response: { id: "open" } }));
    return event["type"] === "response.create";
  };
  one.socket.send(JSON.stringify({ type: "response.create" }));
  await until(() => JSON.stringify(one.got.at(-1)).includes('"open"'), "the beginning of the sixth");
  // The records of what was settled are on their way.
  await until(() => booksOf(gateway).costs.length === 5, "five records");
  for (const pid of gateway.workers()) process.kill(pid, "SIGKILL");
  await one.closed;
  await until(() => booksOf(gateway).accounts.some(({ assumed }) => assumed > 0), "the assumption");
  const { accounts, costs } = booksOf(gateway);
  expect(costs).toHaveLength(5);
  expect(costs.reduce((sum, cost) => sum + cost, 0)).toBe(vendor.bill);
  expect(accounts.reduce((sum, { spent }) => sum + spent, 0)).toBe(vendor.bill);
  // A new worker goes on.
  vendor.script = undefined;
  await until(() => gateway.workers().length === 2, "new workers");
  let again: Opened | undefined;
  for (let tries = 0; !again; tries++) {
    again = await open(gateway).catch(() => undefined);
    expect(tries).toBeLessThan(200);
    await Bun.sleep(100);
  }
  const next = again;
  next.socket.send(JSON.stringify({ type: "response.create" }));
  await until(() => next.got.some(isDone), "an answer after the restart");
  next.socket.close();
});

test("a client secret is known in all workers, and each opens one session", async () => {
  const { gateway } = await start(3);
  const secretOf = async () => {
    const response = await fetch(`${gateway.url}/v1/realtime/client_secrets`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ session: { type: "realtime", model: "gpt-realtime" } }),
    });
    return ((await response.json()) as { value: string }).value;
  };
  const secrets = await Promise.all(Array.from({ length: 12 }, secretOf));
  expect(new Set(secrets).size).toBe(12);
  // Twice at once: one of both is refused, whichever worker gets them.
  const both = await Promise.all(
    secrets.map((secret) => Promise.allSettled([open(gateway, secret), open(gateway, secret)])),
  );
  for (const pair of both)
    expect(pair.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  for (const one of both.flat()) if (one.status === "fulfilled") one.value.socket.close();
});

test("a reload keeps sessions, and a key that is removed ends its own", async () => {
  const { vendor, gateway } = await start(1);
  const one = await open(gateway);
  one.socket.send(JSON.stringify({ type: "response.create" }));
  await until(() => one.got.some(isDone), "an answer");
  gateway.configure(configOf(vendor, { log: { level: "info" } }));
  gateway.signal("SIGHUP");
  await until(() => gateway.log.some((line) => /reload/i.test(line)), "the reload");
  one.socket.send(JSON.stringify({ type: "response.create" }));
  await until(() => one.got.filter(isDone).length === 2, "an answer after the reload");
  gateway.configure(configOf(vendor, { keys: [{ name: "other", key: `${KEY}x` }] }));
  gateway.signal("SIGHUP");
  expect(await one.closed).toBe(1008);
  expect(one.got.at(-1)).toMatchObject({ type: "error", error: { type: "authentication_error" } });
});

test("a gateway that stops waits for the grace, and ends its sessions with an error event and 1012", async () => {
  const vendor = startVendor();
  const gateway = await serve({ config: configOf(vendor, { graceMs: 1_500 }), workers: 1 });
  running.push(vendor, { stop: () => gateway.end() });
  const one = await open(gateway);
  gateway.signal("SIGTERM");
  await Bun.sleep(300);
  one.socket.send(JSON.stringify({ type: "response.create" }));
  await until(() => one.got.some(isDone), "an answer within the grace");
  expect(await one.closed).toBe(1012);
  expect(one.got.at(-1)).toMatchObject({ type: "error", error: { code: "shutting_down" } });
  await gateway.exited;
  await until(() => vendor.sessions[0]!.closed !== undefined, "the vendor's end");
  expect(booksOf(gateway).costs).toEqual([vendor.bill]);
});
