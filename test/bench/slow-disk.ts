/** Whether calls notice a disk whose syncs take 50 ms: the same load in turns with such a disk and with the machine's own. */
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { WeirFront } from "./fronts.ts";
import { startWeir } from "./fronts.ts";
import type { BenchOptions } from "./measures.ts";
import { median, writeBody } from "./measures.ts";
import { buildPreload } from "./rig.ts";

export interface SlowDisk {
  /** p99 of calls on the slow disk, for each of that on the machine's disk. */
  p99: number;
  /** Delays of the event loop above 2 ms in a minute, more than on the machine's disk. */
  stalls: number;
  /** The longest delay on each disk. Milliseconds. */
  longestSlow: number;
  longestOwn: number;
}

const SECONDS = 5;
const CONNECTIONS = 4;
const STALL_MS = 2;

/** Runs in the process of the gateway, and counts how often a timer of 1 ms comes late. */
const PLUGIN = `import { definePlugin } from "weir";
import { writeFileSync } from "node:fs";
let due = performance.now() + 1, stalls = 0, longest = 0;
setInterval(() => {
  const late = performance.now() - due;
  due = performance.now() + 1;
  if (late > ${STALL_MS}) stalls++;
  if (late > longest) longest = late;
}, 1).unref();
setInterval(() => writeFileSync(process.env["STALLS_FILE"], JSON.stringify({ stalls, longest })), 250).unref();
export default definePlugin({ name: "stalls" });
`;

interface Counted {
  stalls: number;
  longest: number;
}

interface Side {
  weir: WeirFront;
  file: string;
  p99: number[];
}

export async function measureSlowDisk(options: BenchOptions): Promise<SlowDisk> {
  const { rig, rounds, progress } = options;
  const body = await writeBody(rig, { model: "openai/bench", stream: false, kilobytes: 1 });
  const slow = await startSide(options, { LD_PRELOAD: buildPreload("slow-sync") });
  const own = await startSide(options, {});
  const turn = async ({ weir, p99 }: Side) => {
    const load = await rig.load("calls", {
      port: weir.port,
      connections: CONNECTIONS,
      seconds: SECONDS,
      body,
    });
    p99.push(load.p99);
  };
  const turns = rounds === 1 ? 2 : 6;
  for (let at = 0; at < turns; at++) {
    progress(`slow disk, ${at + 1} of ${turns}`);
    await turn(slow);
    await turn(own);
  }
  await Bun.sleep(500);
  const [counted, usual] = await Promise.all(
    [slow, own].map(({ file }) => Bun.file(file).json() as Promise<Counted>),
  );
  await Promise.all([slow, own].map(({ weir }) => weir.program.stop()));
  const minutes = (turns * SECONDS) / 60;
  return {
    p99: median(slow.p99) / median(own.p99),
    stalls: (counted!.stalls - usual!.stalls) / minutes,
    longestSlow: counted!.longest,
    longestOwn: usual!.longest,
  };
}

async function startSide(
  { rig, upstream, binaries }: BenchOptions,
  env: Record<string, string>,
): Promise<Side> {
  const folder = mkdtempSync(join(rig.folder, "disk-"));
  mkdirSync(join(folder, "plugins"));
  await Bun.write(join(folder, "plugins/stalls.ts"), PLUGIN);
  const file = join(folder, "stalls.json");
  const settings = {
    WEIR_STATE: join(folder, "state"),
    WEIR_PLUGINS: join(folder, "plugins"),
    STALLS_FILE: file,
  };
  const weir = await startWeir(rig, upstream, binaries.at(-1)!, 1, { ...settings, ...env });
  return { weir, file, p99: [] };
}
