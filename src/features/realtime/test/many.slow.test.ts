/** Many sessions at once: what each costs in memory, and what they leave behind. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Serving, serve } from "../../../../test/helpers/serving.ts";
import { startVendor, type Vendor } from "./support/vendor.ts";

setDefaultTimeout(240_000);

const KEY = "weir_sk_voicekey0123456789abcdefghijklmnopqrst";
const SESSIONS = 500;
/** Ten times the promise would hide everything: memory does not depend on how busy the machine is. */
const MOST_BYTES = 60_000;

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0).toReversed()) await started.stop();
});

async function start(workers: number): Promise<{ vendor: Vendor; gateway: Serving }> {
  const vendor = startVendor();
  const config = {
    ...{ state: "state", port: 0, keys: [{ name: "voice", key: KEY }] },
    budgets: { all: { on: "all", every: "total", limit: 500, mode: "hard" } },
    providers: { openai: { baseUrl: `${vendor.url}/v1`, apiKey: "upstream-key" } },
  };
  const gateway = await serve({ config: JSON.stringify(config), workers });
  running.push(vendor, { stop: () => gateway.end() });
  return { vendor, gateway };
}

interface Opened {
  socket: WebSocket;
  answers: number;
}

function open({ url }: Serving): Promise<Opened> {
  const headers = { authorization: `Bearer ${KEY}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/realtime?model=gpt-realtime`, {
    headers,
  } as never);
  const opened: Opened = { socket, answers: 0 };
  socket.onmessage = ({ data }) => void (opened.answers += String(data).includes('"response.done"') ? 1 : 0);
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(opened);
    socket.onerror = () => reject(new Error("refused"));
  });
}

/** In groups: a burst of connections would overflow the queue of the socket. */
async function openMany(gateway: Serving, count: number): Promise<Opened[]> {
  const all: Opened[] = [];
  while (all.length < count)
    all.push(...(await Promise.all(Array.from({ length: 50 }, () => open(gateway)))));
  return all;
}

/** Bytes in memory of a process. */
function residentOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024;
}

function socketsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

interface Booked {
  spent: number;
  assumed: number;
  /** Of the records, and how many answers they are. */
  cost: number;
  answers: number;
}

function booked({ folder }: Serving): Booked {
  const db = new Database(join(folder, "state", "weir.db"), { readonly: true });
  const account = db.query<Pick<Booked, "spent" | "assumed">, []>(
    "SELECT coalesce(sum(spent), 0) AS spent, coalesce(sum(assumed), 0) AS assumed FROM accounts",
  );
  const calls = db.query<Pick<Booked, "cost" | "answers">, []>(
    "SELECT coalesce(sum(cost), 0) AS cost, count(*) AS answers FROM calls WHERE status = 200",
  );
  const found = { ...account.get()!, ...calls.get()! };
  db.close();
  return found;
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let waited = 0; !holds(); waited += 50) {
    if (waited > 60_000) throw new Error(`waited in vain: ${what}`);
    await Bun.sleep(50);
  }
}

test(`${SESSIONS} idle sessions cost at most ${MOST_BYTES / 1000} kB each, and leave nothing`, async () => {
  const { vendor, gateway } = await start(1);
  const { pid } = gateway;
  // What the first sessions load and what the runtime keeps ready is not that of a session.
  for (const { socket } of await openMany(gateway, 100)) socket.close();
  await until(() => vendor.sessions.every(({ closed }) => closed), "the end of the first");
  const [bytes, sockets] = [residentOf(pid), socketsOf(pid)];
  const all = await openMany(gateway, SESSIONS);
  await Bun.sleep(1_000);
  const each = (residentOf(pid) - bytes) / SESSIONS;
  console.log(`${Math.round(each / 1000)} kB a session`);
  expect(each).toBeLessThan(MOST_BYTES);
  for (const { socket } of all) socket.close();
  await until(() => vendor.sessions.every(({ closed }) => closed), "the end of all");
  await until(() => socketsOf(pid) <= sockets + 5, "the sockets of the gateway");
});

test("an hour's events over two workers, with reloads and a worker that is killed: what was settled is in the books", async () => {
  const { vendor, gateway } = await start(2);
  const all = await openMany(gateway, 50);
  /** 400 events a session are those of an hour in which both sides talk every nine seconds. */
  const talk = async (one: Opened) => {
    for (let number = 1; number <= 40 && one.socket.readyState === WebSocket.OPEN; number++) {
      for (let append = 0; append < 8; append++)
        one.socket.send(JSON.stringify({ type: "input_audio_buffer.append", audio: "AAAA".repeat(200) }));
      one.socket.send(JSON.stringify({ type: "response.create" }));
      for (let waited = 0; one.answers < number && one.socket.readyState === WebSocket.OPEN; waited++) {
        if (waited > 6_000) throw new Error("no answer");
        await Bun.sleep(5);
      }
    }
  };
  const talking = Promise.all(all.map(talk));
  await Bun.sleep(300);
  gateway.signal("SIGHUP");
  await Bun.sleep(300);
  const [first] = gateway.workers();
  process.kill(first!, "SIGKILL");
  await talking;
  const survivors = all.filter(({ socket }) => socket.readyState === WebSocket.OPEN);
  for (const { answers } of survivors) expect(answers).toBe(40);
  for (const { socket } of survivors) socket.close();
  await until(() => vendor.sessions.every(({ closed }) => closed), "the end of all");
  // What the killed worker had settled and not sent is assumed: nothing is booked too low.
  await until(() => booked(gateway).spent + booked(gateway).assumed >= vendor.bill, "the books");
  const { spent, cost, answers } = booked(gateway);
  expect(answers).toBeGreaterThanOrEqual(survivors.length * 40);
  expect(spent).toBe(cost);
  expect(cost).toBeLessThanOrEqual(vendor.bill);
});
