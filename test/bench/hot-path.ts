/**
 * The hot path as a company runs weir: a key with a budget of its own, two hard budgets above it and two limits, a state folder, and a
 * provider that reports cached tokens. Fronts are warm and take turns in each round; CPU is that of all threads.
 */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { agentBody, messagesBody } from "./bodies.ts";
import { BUDGETS } from "./books.ts";
import { findBusbar, MESSAGES_PREFIX, startBusbar } from "./busbar.ts";
import { type Front, startNginx, startWeir, type Weir } from "./fronts.ts";
import { type BenchOptions, medians } from "./measures.ts";
import { isWorse, type Ratio, ratioOf } from "./ratios.ts";
import { cpuOf, type Rig } from "./rig.ts";

/** From which format to which: of the client, of the provider. */
type Lane = "native" | "to messages" | "from messages";

interface Row {
  name: string;
  kind: "calls" | "streams";
  connections: number;
  kilobytes: number;
  lane: Lane;
  model: string;
  /** What is compared with the binary before. */
  judged: readonly (keyof HotFigures)[];
}

/** Of one front in one row. Times in microseconds; CPU of a call, or of a chunk of a stream. */
export interface HotFigures {
  perSecond: number;
  cpu: number;
  p50: number;
  p99: number;
  firstP99: number;
  delayP99: number;
  failed: number;
}

const MORE_IS_BETTER: ReadonlySet<keyof HotFigures> = new Set(["perSecond"]);

const CALL = { kind: "calls", connections: 64, kilobytes: 1, lane: "native", model: "bench" } as const;
const STREAM = { ...CALL, kind: "streams", connections: 200, model: "bench-100-10000" } as const;

export const ROWS: readonly Row[] = [
  { ...CALL, name: "1 KB", judged: ["perSecond", "cpu"] },
  { ...CALL, name: "20 KB", kilobytes: 20, judged: ["perSecond", "cpu"] },
  { ...CALL, name: "200 KB", kilobytes: 200, judged: ["perSecond", "cpu"] },
  { ...CALL, name: "1 KB, one connection", connections: 1, judged: ["p50", "p99"] },
  { ...CALL, name: "chat to messages", lane: "to messages", judged: ["perSecond", "cpu"] },
  { ...CALL, name: "messages to chat", lane: "from messages", judged: ["perSecond", "cpu"] },
  { ...STREAM, name: "200 streams", judged: ["cpu", "delayP99", "firstP99"] },
  { ...STREAM, name: "200 streams, chat to messages", lane: "to messages", judged: ["cpu"] },
  { ...STREAM, name: "200 streams, messages to chat", lane: "from messages", judged: ["cpu"] },
  { ...STREAM, name: "flood", connections: 16, model: "bench-400-0", judged: ["perSecond", "cpu"] },
];

export interface HotRow {
  name: string;
  /** Medians by front. */
  fronts: Record<string, HotFigures>;
  /** This binary against the one before, by figure. Absent without one. */
  against?: Partial<Record<keyof HotFigures, Ratio>>;
}

export interface HotPath {
  rounds: number;
  rows: HotRow[];
  /** Rows of other gateways that are absent, and why. */
  skipped: string[];
  /** Figures that are worse than those of the binary before in two measurements. */
  worse: string[];
}

const ROUNDS = 10;
const QUICK_ROUNDS = 3;
/** Of all rows together, in their shares. The compiler of the runtime needs that long for the common lane. */
const WARM_SECONDS = 10;
/** What is written behind the answers is paid within this time. Milliseconds. */
const AFTER_MS = 150;

/** A gateway with what each lane calls its models and its path there; undefined for what it does not translate. */
interface HotFront extends Front {
  modelOf(lane: Lane, model: string): string | undefined;
}

export async function measureHotPath(options: BenchOptions): Promise<HotPath> {
  const { fronts, skipped } = await startFronts(options);
  const rounds = options.rounds === 1 ? QUICK_ROUNDS : ROUNDS;
  for (const front of fronts) await warm(options, front);
  const rows: HotRow[] = [];
  const worse: string[] = [];
  for (const row of ROWS) {
    let measured = await measureRow(options, row, fronts, rounds);
    if (worseIn(row, measured).length > 0) {
      // Of so many intervals some leave the truth by chance: what is worse is worse twice.
      const suspects = new Set(worseIn(row, measured));
      measured = await measureRow(options, row, fronts, rounds);
      for (const figure of worseIn(row, measured).filter((one) => suspects.has(one)))
        worse.push(`${row.name}: ${figure}`);
    }
    rows.push(measured);
  }
  for (const { program } of fronts) await program?.stop();
  return { rounds, rows, skipped, worse };
}

async function startFronts({
  rig,
  upstream,
  binaries,
}: BenchOptions): Promise<{ fronts: HotFront[]; skipped: string[] }> {
  const prices = { "openai/*": { input: 1, output: 2 }, "anthropic/*": { input: 1, output: 2 } };
  const books = await rig.write("hot-books.yaml", JSON.stringify({ ...BUDGETS, prices }));
  const withBooks = (binary: Weir) =>
    startWeir(rig, upstream, binary, 1, { ...stateIn(rig), WEIR_CONFIG: books, WEIR_API_KEYS: undefined });
  const open = { WEIR_STATE: "none", WEIR_API_KEYS: undefined };
  const fronts: HotFront[] = [];
  for (const binary of binaries) fronts.push({ ...(await withBooks(binary)), modelOf: weirModel });
  fronts.push({
    ...(await startWeir(rig, upstream, binaries.at(-1)!, 1, open)),
    name: "weir, no books",
    modelOf: weirModel,
  });
  const nginx = await startNginx(rig, upstream);
  if (nginx) fronts.push({ ...nginx, modelOf: (lane, model) => (lane === "native" ? model : undefined) });
  const busbar = findBusbar();
  if (busbar === undefined)
    return { fronts, skipped: ["Busbar: its binary is not here (BUSBAR=FILE says where it is)"] };
  const models = [...new Set(ROWS.map(({ model }) => model))];
  fronts.push({
    ...(await startBusbar(rig, busbar, upstream, models)),
    modelOf: (lane, model) => (lane === "to messages" ? MESSAGES_PREFIX + model : model),
  });
  return { fronts, skipped: [] };
}

function stateIn(rig: Rig): { WEIR_STATE: string } {
  return { WEIR_STATE: mkdtempSync(join(rig.folder, "state-")) };
}

function weirModel(lane: Lane, model: string): string {
  return `${lane === "to messages" ? "anthropic" : "openai"}/${model}`;
}

async function warm(options: BenchOptions, front: HotFront): Promise<void> {
  options.progress(`hot path: warm-up of ${front.name}`);
  const seconds = options.rounds === 1 ? WARM_SECONDS / 5 : WARM_SECONDS;
  for (const row of ROWS)
    if (front.modelOf(row.lane, row.model) !== undefined)
      await runRow(options, row, front, row === ROWS[0] ? seconds : seconds / 3);
}

async function measureRow(
  options: BenchOptions,
  row: Row,
  fronts: readonly HotFront[],
  rounds: number,
): Promise<HotRow> {
  const able = fronts.filter((front) => front.modelOf(row.lane, row.model) !== undefined);
  const found = new Map<string, HotFigures[]>(able.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    options.progress(`hot path: ${row.name}, ${round + 1} of ${rounds}`);
    // Every second round goes backwards, so that no front always follows the same other one.
    for (const front of round % 2 === 0 ? able : able.toReversed())
      found.get(front.name)!.push(await runRow(options, row, front, options.seconds));
  }
  const before = found.get("weir before");
  const now = found.get("weir")!;
  return {
    name: row.name,
    fronts: Object.fromEntries([...found].map(([name, figures]) => [name, medians(figures)])),
    ...(before && {
      against: Object.fromEntries(
        row.judged.map((figure) => [figure, ratioOf(now.map(valueOf(figure)), before.map(valueOf(figure)))]),
      ),
    }),
  };
}

const valueOf = (figure: keyof HotFigures) => (one: HotFigures) => one[figure];

async function runRow(
  { rig }: BenchOptions,
  { kind, connections, kilobytes, lane, model }: Row,
  front: HotFront,
  seconds: number,
): Promise<HotFigures> {
  const named = front.modelOf(lane, model)!;
  const stream = kind === "streams";
  const text =
    lane === "from messages"
      ? messagesBody({ model: named, stream })
      : agentBody({ model: named, stream, bytes: kilobytes * 1000 });
  const body = await rig.write("hot-body.json", text);
  const { port, program, key } = front;
  const path = lane === "from messages" ? "/v1/messages" : "/v1/chat/completions";
  const before = program ? await cpuOf(program.pid) : 0;
  const load = await rig.load(kind, {
    port,
    connections,
    seconds,
    body,
    path,
    ...(key !== undefined && { key }),
  });
  await Bun.sleep(AFTER_MS);
  const spent = program ? (await cpuOf(program.pid)) - before : 0;
  const done = stream ? load.chunks : load.answered;
  if (done === 0)
    throw new Error(`${front.name} answered nothing of "${model}", ${lane}; ${load.failed} failed.`);
  const { p50, p99, firstP99, delayP99, failed } = load;
  return { perSecond: done / load.seconds, cpu: spent / done, p50, p99, firstP99, delayP99, failed };
}

/** The figures of a row whose whole interval is worse than that of the binary before. */
export function worseIn({ judged }: Pick<Row, "judged">, { against = {} }: HotRow): (keyof HotFigures)[] {
  return judged.filter((figure) => against[figure] && isWorse(against[figure], MORE_IS_BETTER.has(figure)));
}
