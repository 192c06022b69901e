/** Where the loop meets calls: around them it takes out what is meant for weir, and as a hook it answers them. */
import type { Call } from "../../../core/call.ts";
import type { CallView } from "../../../core/call-view.ts";
import type { ChatRequest } from "../../../core/chat.ts";
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Interception } from "../../../core/plugin.ts";
import { Slot } from "../../../core/slot.ts";
import type { Around, Entry, Seams } from "../../../gateway/seams.ts";
import type { Bench } from "../bench.ts";
import { Exchanges } from "./exchanges.ts";
import { foreseeLoop } from "./foresee.ts";
import { Loop, type RunLimits, type RunOf } from "./loop.ts";
import { FORGOTTEN, keepTurns, type Memory, replayed } from "./memory.ts";
import { prepare } from "./prepare.ts";
import { type ReadJob, readJob } from "./read-job.ts";
import type { OfferedByModel } from "./references.ts";

/** A call whose tools weir runs. */
interface Job extends ReadJob {
  readonly call: Call;
  loop?: Loop;
}

const JOB = new Slot<Job>();

/** The options `tools.run`. */
export interface RunOptions extends RunLimits {
  readonly models: OfferedByModel;
}

interface Tools {
  readonly bench: Bench;
  readonly limits: RunLimits;
  readonly memory: Memory;
}

/** Where the loop meets calls. */
export interface LoopSeams {
  readonly around: NonNullable<Seams["around"]>;
  readonly hooks: { intercept(this: void, view: CallView): Promise<Interception | undefined> };
  readonly foresee: NonNullable<Seams["foresee"]>;
}

/** The seams of a gateway that runs tools for models. @param memory outlives a reload; default: that of the worker */
export function loopSeams(bench: Bench, limits: RunOptions, memory: Memory = ownMemory()): LoopSeams {
  const tools: Tools = { bench, limits, memory };
  return {
    around: {
      at: "loop",
      run: (entry, next) =>
        entry.operation === "ask" ? turn(entry, next) : enter(entry, next, limits.models),
    },
    hooks: { intercept: (view) => answerOf(view, tools) },
    foresee: async (incoming) => {
      const job = readJob(incoming, limits.models);
      return job && job.references.length > 0 ? foreseeLoop(job, incoming.call.principal, bench) : undefined;
    },
  };
}

function ownMemory(): Memory {
  const exchanges = new Exchanges();
  return {
    keep: async (owner, calls, text) => exchanges.keep(owner, calls, text),
    find: async (owner, calls) => exchanges.find(owner, calls),
  };
}

/** A request of a client. */
async function enter(entry: Entry, next: Parameters<Around>[1], models: OfferedByModel): ReturnType<Around> {
  const { call, arrival, operation } = entry;
  const job = arrival && readJob(entry, models);
  if (!job) return next();
  const [foreign] = job.foreign;
  if (foreign !== undefined) {
    if (job.references.length > 0) throw mixed(foreign);
    // A format that shows no calls has no provider that runs such tools itself.
    if (job.codec!.shows(call.headers).length === 0) throw foreignServer(foreign);
    return next().catch((thrown: unknown) => {
      throw isRefusal(thrown) ? foreignServer(foreign) : thrown;
    });
  }
  if (operation === "generate" && job.references.length > 0) JOB.set(call, { ...job, call });
  return next(job.edited);
}

/** The provider runs no tools of servers. */
function isRefusal(thrown: unknown): boolean {
  return thrown instanceof GatewayError && /^(tools\[|mcp_servers)/.test(thrown.param ?? "");
}

/** A turn of the model: its losses are those of the call. */
const turn: Around = async (entry, next) => {
  const { call } = entry;
  const job = call.parent && JOB.get(call.parent);
  if (!job?.loop || !isTurnOf(job.loop, entry)) return next();
  const strict = job.call.headers.get(STRICT);
  if (strict !== null) call.headers.set(STRICT, strict);
  const opened = await next();
  for (const { code, path, note } of call.attempt?.losses ?? [])
    job.call.attempt?.reportLoss(code, path, note);
  return opened;
};

const STRICT = "x-weir-strict";

/** Other plugins may ask for the same call. */
function isTurnOf({ tools }: Loop, entry: Entry): boolean {
  return (entry.body as unknown as ChatRequest).tools === tools;
}

async function answerOf(view: CallView, tools: Tools): Promise<Interception | undefined> {
  const { bench, limits, memory } = tools;
  const job = JOB.get(view);
  if (!job) return undefined;
  const { call, codec } = job;
  const given = view.request;
  if (!given) throw notCarried();
  const owner = call.principal?.id ?? "";
  const { turns, isLossy } = await replayed(memory, owner, given.turns);
  if (isLossy) call.reportLoss("dropped", "tools.run.memory", FORGOTTEN);
  const request = { ...given, turns };
  const prepared = await prepare(job, request, call, bench);
  for (const { path, reason } of prepared.offer.missing) call.reportLoss("dropped", path, reason);
  // The caller may use none of what the config offers.
  if (prepared.offer.byName.size === 0 && job.references.every(({ isOptional }) => isOptional))
    return undefined;
  const maxCalls = Math.min(limits.maxCalls, job.most ?? Infinity);
  const shown = codec?.shows(call.headers) ?? [];
  const of: RunOf = {
    ...{ call, view, request, ...prepared },
    shows: isDetailed(job) ? ["call"] : shown,
    unfinished: codec?.unfinished ?? "length",
    ...(shown.length === 0 && { keep: (calls, turns) => keepTurns(memory, owner, calls, turns) }),
  };
  job.loop = new Loop(bench, { ...limits, maxCalls }, of);
  return { answer: answering(job, job.loop) };
}

/** The client wants to see what ran, though its format has no words for that. */
function isDetailed({ codec, call }: Job): boolean {
  const isSilent = codec?.shows(call.headers).length === 0;
  return isSilent && call.headers.get("x-weir-tools-detail") === "yes";
}

async function* answering(job: Job, loop: Loop): AsyncGenerator<ChatEvent> {
  const { style } = job.call.attempt?.request ?? {};
  // An answer that repeats its request has it as the client wrote it.
  if (style?.echo) Object.assign(style.echo, job.written);
  if (style && isDetailed(job)) style.showHosted = true;
  yield* loop.events();
}

function foreignServer(path: string) {
  return invalidRequest(
    `${path}: weir connects to no server that a request names. Configure it under tools.servers, and name it as weir/NAME.`,
    path,
    "unknown_server",
  );
}

function mixed(path: string) {
  return invalidRequest(
    `${path}: a request names either servers of weir (weir/NAME) or servers that the provider connects to, not both.`,
    path,
    "invalid_value",
  );
}

function notCarried() {
  return invalidRequest(
    "weir runs tools only for requests that it can translate for any provider: this one has parts that only its own vendor reads, or continues an answer that weir does not have.",
  );
}
