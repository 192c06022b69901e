/**
 * `bun run bench`: weir's compiled binary against a bare pass-through on the same runtime, in one run. Figures drift on
 * shared machines: read the ratios. Upstream and load share a core, the gateway has the other where `taskset` is there.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");
const BINARY = join(ROOT, "dist/weir");
const HERE = import.meta.dir;
const PORTS = { upstream: 19470, passthrough: 19471, weir: 19472 };
const SECONDS = "3";
const ROUNDS = 3;

const pinned = Bun.which("taskset") !== null && navigator.hardwareConcurrency > 1;
const on = (core: number, command: string[]) =>
  pinned ? ["taskset", "-c", String(core), ...command] : command;

interface Figures {
  perSecond: number;
  pieces: number;
  p50: number;
  p99: number;
  failures: number;
}

const children: Bun.Subprocess[] = [];

function start(core: number, command: string[], env: Record<string, string> = {}): Bun.Subprocess {
  const child = Bun.spawn(on(core, command), {
    cwd: HERE,
    env: { PATH: process.env["PATH"] ?? "", BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", ...env },
    stdout: "ignore",
    stderr: "ignore",
  });
  children.push(child);
  return child;
}

async function ready(port: number): Promise<number> {
  const started = performance.now();
  for (let tries = 0; tries < 2000; tries++) {
    const open = await fetch(`http://127.0.0.1:${port}/health`, { method: "POST", body: "{}" }).then(
      () => true,
      () => false,
    );
    if (open) return performance.now() - started;
    await Bun.sleep(2);
  }
  throw new Error(`Nothing answers on port ${port}.`);
}

async function load(port: number, kind: string, connections: number, bytes: number): Promise<Figures> {
  const url = `http://127.0.0.1:${port}`;
  const command = [
    process.execPath,
    join(HERE, "load.ts"),
    url,
    kind,
    String(connections),
    SECONDS,
    String(bytes),
  ];
  const child = Bun.spawn(on(1, command), { stdout: "pipe", stderr: "inherit" });
  return JSON.parse(await new Response(child.stdout).text()) as Figures;
}

/** User and system time a process has used so far, milliseconds (Linux). */
async function cpu(pid: number): Promise<number> {
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function memory(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const CASES: readonly [name: string, kind: string, connections: number, bytes: number][] = [
  ["1 KB, 1 connection", "json", 1, 1024],
  ["1 KB, 64 connections", "json", 64, 1024],
  ["1 KB, 256 connections", "json", 256, 1024],
  ["20 KB, 64 connections", "json", 64, 20 * 1024],
  ["200 KB, 64 connections", "json", 64, 200 * 1024],
  ["200 streams", "stream", 200, 1024],
];

if (!existsSync(BINARY)) throw new Error("There is no dist/weir; run `bun run build` first.");
const rows: Record<string, unknown>[] = [];
try {
  start(1, [process.execPath, join(HERE, "upstream.ts"), String(PORTS.upstream)]);
  await ready(PORTS.upstream);
  const upstream = `http://127.0.0.1:${PORTS.upstream}`;
  const passthrough = start(0, [
    process.execPath,
    join(HERE, "passthrough.ts"),
    String(PORTS.passthrough),
    upstream,
  ]);
  await ready(PORTS.passthrough);
  const env = { OPENAI_API_KEY: "bench", OPENAI_BASE_URL: `${upstream}/v1` };
  const weir = start(0, [BINARY, "--port", String(PORTS.weir)], env);
  const firstAnswer = await ready(PORTS.weir);
  const idle = await memory(weir.pid);
  for (const [name, kind, connections, bytes] of CASES) {
    const bare: Figures[] = [];
    const own: Figures[] = [];
    const spent = { bare: 0, own: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const before = [await cpu(passthrough.pid), await cpu(weir.pid)] as const;
      bare.push(await load(PORTS.passthrough, kind, connections, bytes));
      own.push(await load(PORTS.weir, kind, connections, bytes));
      spent.bare += (await cpu(passthrough.pid)) - before[0];
      spent.own += (await cpu(weir.pid)) - before[1];
    }
    const of = (list: Figures[], read: (figures: Figures) => number) => median(list.map(read));
    const units = (list: Figures[]) =>
      list.reduce((sum, one) => sum + (kind === "stream" ? one.pieces : one.perSecond * Number(SECONDS)), 0);
    rows.push({
      case: name,
      "pass-through/s": Math.round(of(bare, (one) => one.perSecond)),
      "weir/s": Math.round(of(own, (one) => one.perSecond)),
      ratio: (of(own, (one) => one.perSecond) / of(bare, (one) => one.perSecond)).toFixed(2),
      "p50 ms": `${of(bare, (one) => one.p50).toFixed(2)} / ${of(own, (one) => one.p50).toFixed(2)}`,
      "p99 ms": `${of(bare, (one) => one.p99).toFixed(2)} / ${of(own, (one) => one.p99).toFixed(2)}`,
      [`µs CPU each`]: `${((spent.bare * 1000) / units(bare)).toFixed(1)} / ${((spent.own * 1000) / units(own)).toFixed(1)}`,
      failures: own.reduce((sum, one) => sum + one.failures, 0),
    });
  }
  console.table(rows);
  console.log(`memory idle ${idle.toFixed(0)} MB, after the load ${(await memory(weir.pid)).toFixed(0)} MB`);
  console.log(`exec to first answer ${firstAnswer.toFixed(0)} ms`);
  console.log(`pinned to cores: ${pinned}; pieces of a stream counted as units in its row of CPU`);
} finally {
  for (const child of children) child.kill();
}
