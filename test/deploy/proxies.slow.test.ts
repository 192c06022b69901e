/**
 * nginx and Caddy in front of two gateways, with the files that the page names: streams pass on at once, and gateways that are
 * restarted in turn under load lose no call. What is not installed is not tried: Debian has nginx; CADDY names caddy.
 */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentIn } from "../helpers/environment.ts";
import { DEPLOY } from "../helpers/manifests.ts";
import { nginx, startNginx } from "../helpers/nginx.ts";
import { freePort, serve, type Serving, until } from "../helpers/serving.ts";

setDefaultTimeout(180_000);

const caddy = process.env["CADDY"] ?? Bun.which("caddy");

const KEY = "weir-test-app-key-0001";
/** What the page says: about twice the time in which a proxy notices. */
const CONFIG = `keys: ["app:${KEY}"]\nnames: [llm.example.com]\nstop: { delayMs: 2500 }\ngraceMs: 20000\n`;
const CALLERS = 8;
const STREAMS = 3;

const gateways = new Set<Serving>();
let proxy: Bun.Subprocess | undefined;
let stopNginx: (() => Promise<void>) | undefined;
let folder = "";

afterEach(async () => {
  proxy?.kill();
  await proxy?.exited;
  proxy = undefined;
  await stopNginx?.();
  stopNginx = undefined;
  for (const gateway of gateways) await gateway.end();
  gateways.clear();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

async function gateway(port: number): Promise<Serving> {
  const running = await serve({ config: CONFIG, workers: 1, port });
  gateways.add(running);
  return running;
}

function nginxBefore(ports: readonly number[]): string {
  const started = startNginx(ports);
  stopNginx = started.stop;
  return started.url;
}

function startCaddy(ports: readonly number[]): string {
  folder = mkdtempSync(join(tmpdir(), "weir-caddy-"));
  const port = freePort();
  const file = join(DEPLOY, "Caddyfile");
  const env = environmentIn(folder, {
    GATEWAY_DOMAIN: `http://llm.example.com:${port}`,
    GATEWAY_ADDRESSES: ports.map((one) => `127.0.0.1:${one}`).join(" "),
  });
  const own = join(folder, "Caddyfile");
  // Another test may use the port of its admin API.
  writeFileSync(own, `{\n\tadmin off\n}\n${readFileSync(file, "utf8")}`);
  const judged = Bun.spawnSync([caddy!, "validate", "--config", file, "--adapter", "caddyfile"], { env });
  expect([judged.exitCode, judged.stderr.toString()]).toEqual([
    0,
    expect.not.stringContaining("not formatted"),
  ]);
  proxy = Bun.spawn([caddy!, "run", "--config", own, "--adapter", "caddyfile"], {
    env,
    stdout: "ignore",
    stderr: "ignore",
  });
  return `http://127.0.0.1:${port}`;
}

function call(url: string, model: string, stream = false): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { host: "llm.example.com", authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hello" }] }),
    tls: { rejectUnauthorized: false },
  });
}

const PROXIES: [string, string | null, (ports: readonly number[]) => string][] = [
  ["nginx", nginx, nginxBefore],
  ["caddy", caddy, startCaddy],
];

describe.each(PROXIES)("%s", (name, program, startProxy) => {
  test("passes chunks of a stream on at once, and loses no call while the gateways are restarted in turn", async () => {
    if (!program) return console.log(`${name} was not tried: it is not installed.`);
    const ports = [freePort(), freePort()];
    const running = await Promise.all(ports.map(gateway));
    const url = startProxy(ports);
    expect(
      await until(async () => (await call(url, "mock/chat").catch(() => undefined))?.status === 200, 20_000),
    ).toBe(true);
    const began = performance.now();
    const arrived: number[] = [];
    for await (const _ of (await call(url, "mock/pace-300", true)).body!)
      arrived.push(performance.now() - began);
    expect(arrived.length).toBeGreaterThan(5);
    expect(arrived[0]!).toBeLessThan(arrived.at(-1)! / 2);
    const lost: string[] = [];
    let [answered, streamed, isOver] = [0, 0, false];
    const again = async (work: () => Promise<void>) => {
      while (!isOver) {
        await work().catch((cause: unknown) => void lost.push(String(cause)));
        await Bun.sleep(10);
      }
    };
    const load = [
      ...Array.from({ length: CALLERS }, () =>
        again(async () => {
          const response = await call(url, "mock/chat");
          const text = await response.text();
          if (response.status !== 200) throw new Error(`${response.status}: ${text.slice(0, 200)}`);
          answered++;
        }),
      ),
      ...Array.from({ length: STREAMS }, () =>
        again(async () => {
          const text = await (await call(url, "mock/pace-200", true)).text();
          if (!text.endsWith("data: [DONE]\n\n")) throw new Error(`a stream ends with ${text.slice(-100)}`);
          streamed++;
        }),
      ),
    ];
    for (const [index, port] of ports.entries()) {
      await Bun.sleep(1_000);
      const old = running[index]!;
      old.signal("SIGTERM");
      expect(await old.exited).toBe(0);
      await gateway(port);
      // Until the proxy takes it for well again.
      await Bun.sleep(4_500);
    }
    isOver = true;
    await Promise.all(load);
    console.log(`${name}: ${answered} calls and ${streamed} streams over 2 restarts: ${lost.length} lost`);
    expect(lost).toEqual([]);
    expect(answered).toBeGreaterThan(100);
    expect(streamed).toBeGreaterThan(STREAMS);
  });
});
