/**
 * What a stranger has after the page of Kubernetes: two pods of the manifests on one PostgreSQL, their metrics and the console, and
 * an update under load that loses no call. The pods run in network namespaces; the test is the cluster around them: it creates
 * pods, asks probes, and takes a pod out of the endpoints some time after it has told it to end.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { blockOf } from "../helpers/documents.ts";
import { environmentIn } from "../helpers/environment.ts";
import { plainManifests } from "../helpers/manifests.ts";
import { type Machine, makeMachines } from "../helpers/namespaces.ts";
import { type Pod, podsRoot, startPod } from "../helpers/pods.ts";
import { missingPostgres, startPostgres, type TestPostgres } from "../helpers/postgres.ts";
import { until } from "../helpers/serving.ts";

setDefaultTimeout(300_000);

const KEY = "weir-test-app-key-0001";
const ADMIN = "weir-test-admin-key-0001";
const METRICS = "weir-test-metrics-key-0001";

/** How long a node of the cluster still sends calls to a pod that has been told to end. Milliseconds. */
const LATE_MS = 3_500;
/** Calls that run at once, and streams beside them. */
const CALLERS = 12;
const STREAMS = 6;
/** Two pods are replaced this often. */
const ROLLS = Number(process.env["ROLLS"] ?? 1);

const resources = [...plainManifests().values()];
const root = podsRoot();
const pods = new Set<Pod>();

let server: TestPostgres;
let machines: Machine[] = [];
let areSeparate = false;
let removeMachines = () => {};

beforeAll(async () => {
  if (missingPostgres) return console.log(`Pods were not rolled: ${missingPostgres}.`);
  server = await startPostgres({ listen: "*" });
  ({ machines, areSeparate, remove: removeMachines } = makeMachines(3));
}, 600_000);

afterEach(async () => {
  for (const pod of pods) await stop(pod);
});

afterAll(async () => {
  await server?.close();
  removeMachines();
  rmSync(root, { recursive: true, force: true });
}, 60_000);

/** Starts pods at once. @param database its URL on this machine */
async function start(database: string, on: readonly Machine[]): Promise<Pod[]> {
  const started = on.map((machine) =>
    startPod({
      ...{ resources, machine, root, isSeparate: areSeparate },
      secrets: {
        "admin-key": ADMIN,
        "metrics-key": METRICS,
        "key-app": KEY,
        "store-url": database.replace("127.0.0.1", machine.test),
      },
      config: { keys: [{ name: "app", key: "${file:../secrets/key-app}", path: "/apps" }] },
    }),
  );
  for (const pod of started) pods.add(pod);
  await Promise.all(started.map((pod) => pod.ready()));
  return started;
}

async function stop(pod: Pod): Promise<void> {
  pods.delete(pod);
  await pod.end();
}

function call(url: string, model: string, stream = false): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hello" }] }),
  });
}

const asks = (url: string, key: string) => fetch(url, { headers: { authorization: `Bearer ${key}` } });

/** Calls in the books, as the admin API of a pod counts them. */
async function recorded({ admin }: Pod): Promise<number> {
  const answer = await asks(`${admin}/admin/v1/usage`, ADMIN);
  return ((await answer.json()) as { total: { calls: number } }).total.calls;
}

/** Makes a role and a database by the statements of the page, under names that are free. @returns the URL of the role */
function createAsTold(): string {
  const told = blockOf(".github/deploy/kubernetes.md", "sql", "CREATE ROLE")
    .replace("CREATE ROLE weir", "CREATE ROLE told")
    .replaceAll(/(DATABASE|\\connect) weir/g, "$1 told")
    .replace("AUTHORIZATION weir", "AUTHORIZATION told");
  const { exitCode, stderr } = Bun.spawnSync(
    ["psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", server.url],
    { stdin: new Blob([told]) as never, env: environmentIn(root) },
  );
  expect({ exitCode, said: stderr.toString() }).toEqual({ exitCode: 0, said: "" });
  const url = new URL(server.url);
  [url.username, url.pathname] = ["told", "/told"];
  return url.href;
}

describe.skipIf(missingPostgres !== undefined)("two pods on an empty database", () => {
  test("start at once, have their keys, metrics and console without a command, and reload a swapped config map", async () => {
    const [first, second] = (await start(createAsTold(), machines.slice(0, 2))) as [Pod, Pod];
    for (const pod of [first, second]) {
      if (pod.isConfined) {
        const status = await Bun.file(`/proc/${pod.pid}/status`).text();
        expect(status).toMatch(/^Uid:\s+65532\s+65532\s/m);
        expect(status).toMatch(/^CapBnd:\s+0+$/m);
        expect(await Bun.file(`/proc/${pod.pid}/mounts`).text()).toMatch(/^\S+ \/ \S+ ro[, ]/m);
      }
      expect((await call(pod.url, "mock/chat")).status).toBe(200);
      expect((await asks(`${pod.admin}/admin/v1/keys`, ADMIN)).status).toBe(200);
      const metrics = await asks(`${pod.admin}/metrics`, METRICS);
      expect([metrics.status, (await metrics.text()).includes("weir_inflight")]).toEqual([200, true]);
      expect((await fetch(`${pod.admin}/metrics`)).status).toBe(401);
      expect(await (await fetch(`${pod.admin}/console`)).text()).toContain("<html");
    }
    // A key that one pod makes admits calls at the other.
    const made = await fetch(`${first.admin}/admin/v1/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "later" }),
    });
    const { secret: key } = (await made.json()) as { secret: string };
    expect(key).toStartWith("weir_sk_");
    expect(await until(async () => (await asks(`${second.url}/v1/models`, key)).status === 200)).toBe(true);
    const text = await Bun.file(second.config.path("weir.yaml")).text();
    second.config.swap({ "weir.yaml": `aliases: { fast: mock/chat }\n${text}` });
    expect(await until(async () => (await call(second.url, "fast")).status === 200, 20_000)).toBe(true);
  });

  test("are replaced under load one after another, and no call is lost", async () => {
    const database = await server.createDatabase();
    const running = await start(database, machines.slice(0, 2));
    const free = [...machines.slice(2)];
    const place = new Map(running.map((pod, index) => [pod, machines[index]!]));
    /** Where the service leads. */
    const endpoints = [...running];
    const lost: string[] = [];
    let answered = 0;
    let streamed = 0;
    let isOver = false;
    const pick = () => endpoints[Math.floor(Math.random() * endpoints.length)]!.url;
    const failed = (what: string) => void lost.push(`${what} with ${endpoints.length} pods`);
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!isOver) {
        try {
          const response = await call(pick(), "mock/chat");
          const body = await response.text();
          if (response.status === 200) answered++;
          else failed(`${response.status} ${body.slice(0, 200)}`);
        } catch (cause) {
          failed(String(cause));
        }
        await Bun.sleep(20);
      }
    });
    const streams = Array.from({ length: STREAMS }, async () => {
      while (!isOver) {
        try {
          const response = await call(pick(), "mock/pace-200", true);
          const text = await response.text();
          if (response.status === 200 && text.endsWith("data: [DONE]\n\n")) streamed++;
          else failed(`a stream of ${response.status} ends with ${JSON.stringify(text.slice(-200))}`);
        } catch (cause) {
          failed(`a stream: ${String(cause)}`);
        }
      }
    });
    const stops: { code: number; ms: number }[] = [];
    await Bun.sleep(1_000);
    for (let roll = 0; roll < ROLLS; roll++)
      for (const old of [...endpoints]) {
        const machine = free.shift()!;
        // maxSurge 1, maxUnavailable 0: the new pod first, and it counts when it has answered for minReadySeconds.
        const [next] = (await start(database, [machine])) as [Pod];
        place.set(next, machine);
        endpoints.push(next);
        await Bun.sleep(1_000);
        const ends = old.terminate();
        await Bun.sleep(LATE_MS);
        endpoints.splice(endpoints.indexOf(old), 1);
        stops.push(await ends);
        free.push(place.get(old)!);
        await stop(old);
      }
    isOver = true;
    await Promise.all([...callers, ...streams]);
    console.log(
      `${answered} calls and ${streamed} streams over ${2 * ROLLS} replaced pods${areSeparate ? "" : " on one network"}: ${lost.length} lost; stops took ${stops.map(({ ms }) => (ms / 1_000).toFixed(1)).join(", ")} s`,
    );
    expect(lost).toEqual([]);
    expect(answered).toBeGreaterThan(100);
    expect(streamed).toBeGreaterThan(STREAMS);
    for (const { code, ms } of stops) {
      expect(code).toBe(0);
      expect(ms).toBeLessThan(25_000);
    }
    // Each call is in the books once, those of the pods that are gone too.
    const [pod] = endpoints as [Pod];
    await until(async () => (await recorded(pod)) === answered + streamed, 20_000);
    expect(await recorded(pod)).toBe(answered + streamed);
  });
});
