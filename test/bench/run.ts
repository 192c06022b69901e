/**
 * `bun run bench`: the compiled binary against nginx, a bare pass-through and nothing at all, in one run, and against
 * other gateways and an earlier binary of weir where they are named.
 * `bun run bench --help` says what can be asked of it.
 */
import { cpus, loadavg, release } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { withPart } from "../helpers/documents.ts";
import type { Front, Weir, WeirFront } from "./fronts.ts";
import { assertPasses, direct, readPeer, startNginx, startPassthrough, startWeir } from "./fronts.ts";
import * as fresh from "./fresh.ts";
import type { Results } from "./goals.ts";
import type { BenchOptions } from "./measures.ts";
import * as measures from "./measures.ts";
import { measureBooks } from "./books.ts";
import { measureGuards } from "./guards.ts";
import { measureHotPath } from "./hot-path.ts";
import { measureOutlines } from "./outlines.ts";
import { measureRanking } from "./ranking.ts";
import { measureResponses } from "./responses.ts";
import { assertBinary, BINARY, binaryMegabytes, freePort, KEY, Rig, ROOT } from "./rig.ts";
import { measureSlowDisk } from "./slow-disk.ts";
import { writeResults } from "./table.ts";

const GROUPS = [
  "hot",
  "calls",
  "streams",
  "memory",
  "unread",
  "responses",
  "ranking",
  "books",
  "guards",
  "outlines",
  "disk",
  "start",
  "burst",
  "soak",
  "workers",
  "transports",
] as const;
const README = "test/bench/README.md";
type Group = (typeof GROUPS)[number];

const HELP = `bun run bench [options]

  --only GROUPS     some of: ${GROUPS.join(", ")} (with commas between)
  --quick           one short round of everything but the soak, in two minutes
  --against BINARY  another binary of weir, such as that of the commit before, beside this one in the same run: the table of
                    goals then has its figure, this one's, and how many times better this one's is; a goal counts as held
                    if its figure is reached, or the same factor. Exits with 1 if a figure of the hot path is worse: if
                    its whole 95 % interval is, in two measurements
  --peer NAME=URL   another gateway, which already runs and has the bench's upstream as its provider; may be repeated. The
                    calls and streams are sent to it too, and the calls are counted at the upstream. Start it on the
                    first core: taskset -c 0. Its CPU time is not measured. A path in the URL replaces
                    /v1/chat/completions, a fragment precedes the model names: http://127.0.0.1:8080#openai/
  --upstream PORT   port of the bench's upstream, for the settings of peers (default with peers: 9340, otherwise a free one)
  --soak MINUTES    how long the soak goes on (default 3)
  --json FILE       where the figures go (default dist/bench.json)
  --from FILE       takes the figures of an earlier run instead of measuring
  --readme          writes the tables of what was measured into test/bench/README.md

The key of the load is "${KEY}". Upstream and load need a C compiler; without nginx its rows stay empty.`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    against: { type: "string" },
    peer: { type: "string", multiple: true, default: [] },
    upstream: { type: "string" },
    soak: { type: "string", default: "3" },
    json: { type: "string", default: join(ROOT, "dist/bench.json") },
    from: { type: "string" },
    readme: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** Port of the upstream for peers. */
const PEERS_UPSTREAM = 9340;

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
  const parts = writeResults(results);
  if (!values.from) await Bun.write(values.json, `${JSON.stringify(results, null, 2)}\n`);
  if (values.readme)
    for (const [name, text] of parts) await Bun.write(join(ROOT, README), withPart(README, name, text));
  console.log([...parts.values()].join("\n\n"));
  if (results.hotPath && results.hotPath.worse.length > 0) process.exitCode = 1;
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
  const peers = values.peer.map(readPeer);
  const { against } = values;
  const binaries: Weir[] = [
    ...(against === undefined ? [] : [{ name: "weir before", binary: resolve(against) } as const]),
    { name: "weir", binary: BINARY },
  ];
  for (const { binary } of binaries) assertBinary(binary);
  const began = loadavg()[0]!;
  rig.build();
  const wanted = values.upstream ?? (peers.length > 0 ? PEERS_UPSTREAM : undefined);
  const upstream = wanted === undefined ? await freePort() : Number(wanted);
  rig.startUpstream(upstream);
  await Bun.sleep(200);
  for (const peer of peers) await assertPasses(peer, upstream);
  const nginx = await startNginx(rig, upstream);
  if (!nginx) console.error("There is no nginx here: its rows stay empty (apt-get install nginx-light).");
  const passthrough = await startPassthrough(rig, upstream);
  const weirs: WeirFront[] = [];
  for (const binary of binaries) weirs.push(await startWeir(rig, upstream, binary));
  const fronts: Front[] = [direct(upstream), ...(nginx ? [nginx] : []), passthrough, ...weirs, ...peers];
  const options: BenchOptions = {
    rig,
    upstream,
    fronts,
    weirs,
    binaries,
    rounds: values.quick ? 1 : 3,
    seconds: values.quick ? 1.5 : 2,
    progress: (text) => console.error(`${new Date().toTimeString().slice(0, 8)}  ${text}`),
  };
  const when = async <Value>(group: Group, measure: () => Promise<Value>) =>
    groups.has(group) ? measure() : undefined;
  const results = {
    hotPath: await when("hot", () => measureHotPath(options)),
    calls: await when("calls", () => measures.measureCalls(options)),
    streams: await when("streams", () => measures.measureStreams(options)),
    memory: await when("memory", () => fresh.measureMemory(options)),
    unread: await when("unread", () => fresh.measureUnread(options)),
    responses: await when("responses", () => measureResponses(options)),
    ranking: await when("ranking", () => measureRanking(options)),
    books: await when("books", () => measureBooks(options)),
    guards: await when("guards", () => measureGuards(options)),
    outlines: await when("outlines", () => measureOutlines(options)),
    slowDisk: await when("disk", () => measureSlowDisk(options)),
    startMs: await when("start", () => fresh.measureStart(options)),
    burstSeconds: await when("burst", () => fresh.measureBurst(options)),
    soak: await when("soak", () => fresh.measureSoak(options, Number(values.soak))),
    workers: await when("workers", () => fresh.measureWorkers(options)),
    transports: await when("transports", () => measures.measureTransports(options)),
  };
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: machine(),
    load: [began, loadavg()[0]!],
    rounds: options.rounds,
    pinned: rig.pinned,
    binaryMegabytes: binaryMegabytes(),
    ...results,
  };
}

function machine(): string {
  const [first] = cpus();
  return `${cpus().length} cores of ${first?.model.trim() ?? "unknown"}, Linux ${release()}, Bun ${Bun.version}`;
}
