/**
 * What unused servers cost: starts of a gateway with 50 configured servers and without, in turns.
 * `bun src/features/tools/test/costs.ts [STARTS] [BINARY]`; the binary is dist/weir by default.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { freePort } from "../../../../test/helpers/serving.ts";

const [starts = "10", binary = resolve(import.meta.dir, "../../../../dist/weir")] = Bun.argv.slice(2);
const SERVERS = 50;

interface Cost {
  /** Until `/health` answers. Milliseconds. */
  readonly ms: number;
  /** Memory of all its processes that no file backs. Megabytes. */
  readonly mb: number;
  readonly processes: number;
}

const server = (at: number) =>
  at % 2 === 0
    ? { url: `http://127.0.0.1:${20_000 + at}/mcp`, allow: ["*"] }
    : { command: ["node", `server-${at}.js`], allow: ["*"] };
const servers = Object.fromEntries(Array.from({ length: SERVERS }, (_, at) => [`server-${at}`, server(at)]));

const seen = { with: [] as Cost[], without: [] as Cost[] };
for (let round = 0; round < Number(starts); round++)
  for (const kind of round % 2 === 0 ? (["with", "without"] as const) : (["without", "with"] as const)) {
    seen[kind].push(await costOf(kind === "with" ? { tools: { servers } } : {}));
    process.stderr.write(`\r${seen.with.length + seen.without.length} of ${2 * Number(starts)} starts`);
  }
process.stderr.write("\n");
for (const member of ["ms", "mb", "processes"] as const) {
  const [whole, bare] = [
    median(seen.with.map((one) => one[member])),
    median(seen.without.map((one) => one[member])),
  ];
  console.log(
    `${member.padEnd(9)} with ${whole.toFixed(1)}, without ${bare.toFixed(1)}, difference ${(whole - bare).toFixed(1)}`,
  );
}

async function costOf(config: object): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), "weir-costs-"));
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify(config));
  const port = freePort();
  const began = performance.now();
  const child = Bun.spawn([binary, "serve", "--port", String(port), "--workers", "1"], {
    ...{ cwd: folder, env: environmentIn(folder, {}) },
    stdio: ["ignore", "ignore", "ignore"],
  });
  try {
    while (
      !(await fetch(`http://127.0.0.1:${port}/health`).then(
        (got) => got.ok,
        () => false,
      ))
    )
      await Bun.sleep(1);
    const ms = performance.now() - began;
    await Bun.sleep(1_000);
    const all = [child.pid, ...childrenOf(child.pid)];
    return { ms, mb: all.reduce((sum, pid) => sum + memoryOf(pid), 0), processes: all.length };
  } finally {
    child.kill("SIGTERM");
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  }
}

function childrenOf(pid: number): number[] {
  const own = readdirSync("/proc").filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]!.split(" ")[1] === String(pid)
      );
    } catch {
      return false;
    }
  });
  return own.flatMap((name) => [Number(name), ...childrenOf(Number(name))]);
}

function memoryOf(pid: number): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
