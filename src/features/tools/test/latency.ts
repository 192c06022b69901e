/**
 * What weir adds to a call of a tool over HTTP: calls at a fixed rate, in turns straight at an echo server and through a gateway.
 * `bun src/features/tools/test/latency.ts [CALLS] [PER_SECOND] [BINARY]`; without a binary the source runs.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { freePort } from "../../../../test/helpers/serving.ts";
import { LegacyClient, ModernClient } from "./support/clients.ts";
import { fakeServer, text } from "./support/servers.ts";

const [calls = "3000", perSecond = "50", binary] = Bun.argv.slice(2);
const ROOT = resolve(import.meta.dir, "../../../..");
const ERAS = ["modern", "legacy"] as const;
type ServerEra = (typeof ERAS)[number];
const WARM = 500;

/** As a process of its own this file is the echo server. */
const SERVE = "--echo";
if (calls === SERVE)
  console.log(fakeServer(perSecond as ServerEra, { echo: ({ args }) => text(String(args["said"])) }).url);
else for (const era of ERAS) await measure(era);

async function measure(era: ServerEra): Promise<void> {
  const echo = Bun.spawn([process.execPath, import.meta.path, SERVE, era], { stdout: "pipe" });
  const { value } = await echo.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  const folder = mkdtempSync(join(tmpdir(), "weir-latency-"));
  const servers = { echo: { url, allow: ["*"] } };
  writeFileSync(
    join(folder, "weir.yaml"),
    JSON.stringify({ log: { level: "warn" }, tools: { pin: "off", servers } }),
  );
  const port = freePort();
  const program = binary === undefined ? [process.execPath, join(ROOT, "src/main.ts")] : [resolve(binary)];
  const gateway = Bun.spawn([...program, "serve", "--port", String(port), "--workers", "1"], {
    ...{ cwd: folder, env: environmentIn(folder, {}), stdio: ["ignore", "ignore", "ignore"] as const },
  });
  try {
    await untilHealthy(port);
    const open = (at: string) =>
      era === "modern" ? Promise.resolve(new ModernClient({ url: at })) : LegacyClient.open({ url: at });
    const ways = { direct: await open(url), weir: await open(`http://127.0.0.1:${port}/mcp/echo`) };
    const times = { direct: [] as number[], weir: [] as number[] };
    const call = async (way: keyof typeof ways) => {
      const began = performance.now();
      const { message } = await ways[way].call("echo", { said: "hello" });
      if (!message["result"]) throw new Error(JSON.stringify(message));
      return performance.now() - began;
    };
    for (let at = 0; at < WARM; at++) for (const way of ["direct", "weir"] as const) await call(way);
    const pause = 1_000 / Number(perSecond);
    const running: Promise<void>[] = [];
    const began = performance.now();
    for (let at = 0; at < 2 * Number(calls); at++) {
      await Bun.sleep(Math.max(0, began + (at * pause) / 2 - performance.now()));
      const way = at % 2 === 0 ? "direct" : "weir";
      running.push(call(way).then((ms) => void times[way].push(ms)));
    }
    await Promise.all(running);
    const row = [0.5, 0.9, 0.99].map((share) => {
      const [direct, weir] = [quantile(times.direct, share), quantile(times.weir, share)];
      return `p${share * 100} ${direct.toFixed(2)} + ${(weir - direct).toFixed(2)}`;
    });
    console.log(`${era.padEnd(7)} ${row.join("   ")}   (ms direct + added by weir)`);
  } finally {
    gateway.kill("SIGTERM");
    await gateway.exited;
    echo.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function untilHealthy(port: number): Promise<void> {
  const isHealthy = () =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isHealthy())) await Bun.sleep(20);
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
}
