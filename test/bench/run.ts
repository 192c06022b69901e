/**
 * `bun run bench`: the compiled binary against nginx, a bare pass-through and nothing at all, in one run.
 * `bun run bench --help` says what can be asked of it.
 */
import { cpus, release } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { withPart } from "../helpers/documents.ts";
import { direct, startNginx, startPassthrough, startWeir } from "./fronts.ts";
import type { Results } from "./goals.ts";
import type { BenchOptions } from "./measures.ts";
import * as measures from "./measures.ts";
import { binaryMegabytes, freePort, Rig, ROOT } from "./rig.ts";
import { writeResults } from "./table.ts";

const GROUPS = ["calls", "streams", "memory", "start", "burst", "soak", "workers", "transports"] as const;
const README = "test/bench/README.md";
type Group = (typeof GROUPS)[number];

const HELP = `bun run bench [options]

  --only GROUPS   some of: ${GROUPS.join(", ")} (with commas between)
  --quick         one short round of everything but the soak, in two minutes
  --soak MINUTES  how long the soak goes on (default 3)
  --json FILE     where the figures go (default dist/bench.json)
  --from FILE     takes the figures of an earlier run instead of measuring
  --readme        writes the table into test/bench/README.md`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    soak: { type: "string", default: "3" },
    json: { type: "string", default: join(ROOT, "dist/bench.json") },
    from: { type: "string" },
    readme: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(HELP);
  process.exit(0);
}

const groups = chosenGroups(values.only, values.quick);
const rig = new Rig();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    rig.stop();
    process.exit(1);
  });

try {
  const results = values.from ? ((await Bun.file(values.from).json()) as Results) : await measureAll();
  const text = writeResults(results);
  if (!values.from) await Bun.write(values.json, `${JSON.stringify(results, null, 2)}\n`);
  if (values.readme) await Bun.write(join(ROOT, README), withPart(README, "bench", text));
  console.log(text);
} finally {
  rig.stop();
}

function chosenGroups(only: string | undefined, quick: boolean): ReadonlySet<Group> {
  const known = new Set<string>(GROUPS);
  const asked = only?.split(",") ?? GROUPS.filter((group) => !quick || group !== "soak");
  const unknown = asked.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new Error(`There is no group "${unknown}"; there are ${GROUPS.join(", ")}.`);
  return new Set(asked as Group[]);
}

async function measureAll(): Promise<Results> {
  rig.build();
  const upstream = await freePort();
  rig.startUpstream(upstream);
  await Bun.sleep(200);
  const weir = await startWeir(rig, upstream);
  const nginx = await startNginx(rig, upstream);
  if (!nginx) console.error("There is no nginx here: its rows stay empty (apt-get install nginx-light).");
  const passthrough = await startPassthrough(rig, upstream);
  const options: BenchOptions = {
    rig,
    upstream,
    weir,
    fronts: [direct(upstream), ...(nginx ? [nginx] : []), passthrough, weir],
    rounds: values.quick ? 1 : 3,
    seconds: values.quick ? 1.5 : 2,
    progress: (text) => console.error(`${new Date().toTimeString().slice(0, 8)}  ${text}`),
  };
  const when = async <Value>(group: Group, measure: () => Promise<Value>) =>
    groups.has(group) ? measure() : undefined;
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: machine(),
    rounds: options.rounds,
    pinned: rig.pinned,
    binaryMegabytes: binaryMegabytes(),
    calls: await when("calls", () => measures.measureCalls(options)),
    streams: await when("streams", () => measures.measureStreams(options)),
    memory: await when("memory", () => measures.measureMemory(options)),
    startMs: await when("start", () => measures.measureStart(options)),
    burstSeconds: await when("burst", () => measures.measureBurst(options)),
    soak: await when("soak", () => measures.measureSoak(options, Number(values.soak))),
    workers: await when("workers", () => measures.measureWorkers(options)),
    transports: await when("transports", () => measures.measureTransports(options)),
  };
}

function machine(): string {
  const [first] = cpus();
  return `${cpus().length} cores of ${first?.model.trim() ?? "unknown"}, Linux ${release()}, Bun ${Bun.version}`;
}
