/** What a call of the Responses format costs: beside a chat call, and when weir stores the answer. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { WeirFront } from "./fronts.ts";
import { startWeir } from "./fronts.ts";
import type { BenchOptions } from "./measures.ts";
import { median, writeBody } from "./measures.ts";
import { cpuOf } from "./rig.ts";

export interface ResponsesCost {
  /** CPU of a native responses call, for each of a native chat call. */
  againstChat: number;
  /** What storing adds to the p50 at one connection. Milliseconds. */
  storedMs: number;
}

const PATH = "/v1/responses";
/** Short turns, one of each kind after the other, so that what drifts on the machine drifts for both. */
const TURNS = 8;
const SECONDS = 0.7;

/** Measures the newest binary: earlier ones have no such route. */
export async function measureResponses(options: BenchOptions): Promise<ResponsesCost> {
  const { rig, upstream, binaries, rounds, progress } = options;
  progress("calls of the Responses format");
  const env = { WEIR_STATE: mkdtempSync(join(rig.folder, "state-")) };
  const weir = await startWeir(rig, upstream, binaries.at(-1)!, 1, env);
  const model = "openai/bench";
  const chat = await writeBody(rig, { model, stream: false, kilobytes: 1 });
  const input = [{ role: "user", content: "x".repeat(900) }];
  const unstored = await rig.write("responses.json", JSON.stringify({ model, input, store: false }));
  const stored = await rig.write("responses-stored.json", JSON.stringify({ model, input, store: true }));
  const ratios: number[] = [];
  const added: number[] = [];
  for (let turn = 0; turn < TURNS * rounds; turn++) {
    const cost = await cpuOfCalls(options, weir, chat);
    ratios.push((await cpuOfCalls(options, weir, unstored, PATH)) / cost);
    const plain = await p50Of(options, weir, unstored);
    added.push(((await p50Of(options, weir, stored)) - plain) / 1000);
  }
  await weir.program.stop();
  return { againstChat: median(ratios), storedMs: median(added) };
}

/** Microseconds of CPU for each call. */
async function cpuOfCalls(
  { rig }: BenchOptions,
  { port, program }: WeirFront,
  body: string,
  path?: string,
): Promise<number> {
  const before = await cpuOf(program.pid);
  const load = await rig.load("calls", { port, connections: 64, seconds: SECONDS, body, path });
  if (load.failed > 0 || load.answered === 0) throw new Error(`${load.failed} calls of ${path} failed.`);
  return ((await cpuOf(program.pid)) - before) / load.answered;
}

/** Microseconds. */
async function p50Of({ rig }: BenchOptions, { port }: WeirFront, body: string): Promise<number> {
  const load = await rig.load("calls", { port, connections: 1, seconds: SECONDS, body, path: PATH });
  if (load.failed > 0 || load.answered === 0) throw new Error(`${load.failed} calls of ${PATH} failed.`);
  return load.p50;
}
