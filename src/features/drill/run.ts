/** Runs a drill: the client once without a fault, and then once for each fault. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ClientRun, runClient } from "./client.ts";
import { type Fault, retryAfterOf } from "./faults.ts";
import { Front, RefusingFront } from "./front.ts";
import { type Output, readOutput, shownAnswer } from "./output.ts";
import type { Exchanges } from "./plugin.ts";
import { judge, type Judgement } from "./verdict.ts";
import { FLOOD, type Try, Witness } from "./witness.ts";

/** The command of the client, pointed at an address. */
export interface PointedClient {
  command: readonly string[];
  env: Record<string, string>;
  /** Deletes the files that were written for the client. */
  cleanup(): void;
}

export interface DrillOptions {
  faults: readonly Fault[];
  /** URL of a gateway with the plugin of the drill. */
  gateway: string;
  /** Those of the plugin. */
  exchanges: Exchanges;
  /** Points the client at an address. */
  point(this: void, url: string): PointedClient;
  /** The outputs of the client are kept here, and its working folders while it runs. */
  folder: string;
  /** Working folder of all runs; absent: each run has an empty one. */
  cwd?: string;
  /** Time limit of a run. Seconds. */
  limit: number;
  /** The user set the limit: a client that waits longer is bad. */
  mustEnd: boolean;
  /** Number of runs at once. */
  parallel: number;
  /** Ends the drill; the running faults have no result then. */
  stop: AbortSignal;
  /** Called when the client has passed the run without a fault. */
  onBaseline(run: ClientRun): void;
  onResult(result: DrillResult): void;
}

/** The result of one fault. */
export interface DrillResult extends Judgement {
  fault: Fault;
  tries: readonly Try[];
  run: ClientRun;
}

export type Drilled =
  | { kind: "drilled"; results: DrillResult[] }
  /** The client fails without a fault, so that it cannot be judged. */
  | { kind: "baseline"; run: ClientRun; requests: number };

/** @throws Error if the command cannot be run */
export async function drill(options: DrillOptions): Promise<Drilled> {
  const { faults, parallel, stop, onResult } = options;
  const baseline = await meet(undefined, options);
  const { ending } = baseline.run;
  if (ending.kind !== "exit" || ending.code !== 0 || baseline.tries.length === 0)
    return { kind: "baseline", run: baseline.run, requests: baseline.tries.length };
  options.onBaseline(baseline.run);
  const usual = baseline.tries[0]!.at;
  const results: DrillResult[] = [];
  const left = [...faults];
  const work = async () => {
    for (let fault = left.shift(); fault && !stop.aborted; fault = left.shift()) {
      const met = await meet(fault, options, usual);
      if (stop.aborted) return;
      const result = { fault, ...met, ...judgeRun(fault, met, baseline.run, options) };
      results.push(result);
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  const order = (result: DrillResult) => faults.indexOf(result.fault);
  return { kind: "drilled", results: results.sort((a, b) => order(a) - order(b)) };
}

interface Met {
  run: ClientRun;
  /** The requests, as they were when the client ended or was ended. */
  tries: Try[];
}

/**
 * Runs the client once.
 * @param fault absent in the baseline
 * @param usual time from the start of the client to its first request, in milliseconds
 */
async function meet(fault: Fault | undefined, options: DrillOptions, usual = 0): Promise<Met> {
  const { gateway, exchanges, folder, limit, stop } = options;
  const begun = performance.now();
  const flood = new AbortController();
  const witness = new Witness(
    fault,
    () => performance.now() - begun,
    () => flood.abort("flood"),
  );
  const parts = { gateway, exchanges, fault, witness };
  const front =
    fault?.script.kind === "refuse"
      ? await RefusingFront.open(parts, Math.min(usual + secondsOf(fault) * 1_000, (limit * 1_000) / 2))
      : await Front.listen(parts);
  const name = fault?.name ?? "baseline";
  // Clients print their folder: it must not contain words that the drill looks for.
  const cwd = options.cwd ?? join(folder, `run-${1 + options.faults.findIndex((each) => each === fault)}`);
  await mkdir(cwd, { recursive: true });
  const { command, env, cleanup } = options.point(front.url);
  let tries: Try[] = [];
  try {
    const run = await runClient({
      ...{ command, env, cwd },
      limit: limit * 1_000,
      stop: AbortSignal.any([stop, flood.signal]),
      onEnd: () => (tries = witness.snapshot()),
    });
    await Bun.write(join(folder, `${name}.txt`), describeRun(run));
    return { run, tries };
  } finally {
    cleanup();
    await front.close();
    if (options.cwd === undefined) await rm(cwd, { recursive: true, force: true });
  }
}

function secondsOf({ lasts }: Fault): number {
  return typeof lasts === "object" ? lasts.seconds : Infinity;
}

function judgeRun(
  fault: Fault,
  { run, tries }: Met,
  baseline: Output,
  { limit, mustEnd }: Pick<DrillOptions, "limit" | "mustEnd">,
): Judgement {
  const { script, expects } = fault;
  return judge({
    expects,
    retryAfter: retryAfterOf(fault),
    unseen: script.kind === "refuse",
    midway: expects === "recover-or-fail" && script.kind !== "refuse",
    empty: script.kind === "answer" && script.answer === "empty",
    ending: run.ending,
    limit,
    mustEnd,
    seconds: run.ms / 1_000,
    tries,
    said: readOutput(run, baseline),
    showsAnswers: shownAnswer(baseline) === "whole",
  });
}

/** How a client ended, as the end of a sentence about it. */
export function describeEnding({ ending, ms }: ClientRun): string {
  const time = `after ${(ms / 1_000).toFixed(1)} s`;
  if (ending.kind === "exit") return `ended with exit code ${ending.code} ${time}`;
  if (ending.kind === "signal") return `was ended by ${ending.signal} ${time}`;
  const why = { time: "at the time limit", flood: `after ${FLOOD} requests`, user: "by the user" };
  return `was ended ${why[ending.why]} ${time}`;
}

/** The output of a run, for people. */
export function describeRun(run: ClientRun): string {
  return `The client ${describeEnding(run)}.\n--- standard output\n${run.out}\n--- standard error\n${run.err}\n`;
}
