/** Where the loop meets calls: around them it takes out what is meant for weir, and as a hook it answers them. */
import type { Call } from "../../../core/call.ts";
import type { CallView } from "../../../core/call-view.ts";
import type { ChatRequest } from "../../../core/chat.ts";
import type { ChatEvent } from "../../../core/events.ts";
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { HostedCodec } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Interception } from "../../../core/plugin.ts";
import { Slot } from "../../../core/slot.ts";
import type { Around, Edited, Entry, Seams } from "../../../gateway/seams.ts";
import { scanBody } from "../../../stream/scan.ts";
import { mayHold } from "../../../stream/spelling.ts";
import type { Bench } from "../bench.ts";
import { listsIn, pastReader } from "./history.ts";
import { Exchanges } from "./exchanges.ts";
import { Loop, type RunLimits, type RunOf } from "./loop.ts";
import { makeOffer } from "./offer.ts";
import { type Asked, readHeader, sortServers, TOOLS_HEADER } from "./references.ts";

/** A call whose tools weir runs. */
interface Job extends Asked {
  readonly call: Call;
  readonly codec: HostedCodec | undefined;
  /** Members of the request that weir has changed, as the client wrote them. */
  readonly written: JsonObject;
  loop?: Loop;
}

const JOB = new Slot<Job>();

interface Tools {
  readonly bench: Bench;
  readonly limits: RunLimits;
  readonly exchanges: Exchanges;
}

/** They outlive a reload. */
const EXCHANGES = new WeakMap<Bench, Exchanges>();

/** The seams of a gateway that runs tools for models. */
export function loopSeams(bench: Bench, limits: RunLimits): Pick<Seams, "around" | "hooks"> {
  let exchanges = EXCHANGES.get(bench);
  if (!exchanges) EXCHANGES.set(bench, (exchanges = new Exchanges()));
  const tools: Tools = { bench, limits, exchanges };
  return {
    around: { at: "loop", run: (entry, next) => (entry.operation === "ask" ? turn : enter)(entry, next) },
    hooks: { intercept: (view) => answerOf(view, tools) },
  };
}

/** A request of a client. Most say nothing of tools that weir runs, and are not parsed for that. */
const enter: Around = async (entry, next) => {
  const { call, arrival, bytes } = entry;
  if (!arrival) return next();
  const codec = arrival.client.beside.hosted;
  const named = readHeader(call.headers.get(TOOLS_HEADER));
  const ask = codec && mayHold(bytes, codec.mark) ? codec.asked(entry.body) : undefined;
  const { references, foreign } = sortServers(ask?.servers ?? [], new URL(arrival.http.url).host);
  const all = [...references, ...named];
  if (foreign.length > 0) {
    if (all.length > 0) throw mixed(foreign[0]!);
    // A format that shows no calls has no provider that runs such tools itself.
    if (codec!.shows(call.headers).length === 0) throw foreignServer(foreign[0]!);
    return next().catch((thrown: unknown) => {
      throw isRefusal(thrown) ? foreignServer(foreign[0]!) : thrown;
    });
  }
  if (all.length === 0) return next();
  if (entry.operation === "generate") {
    const written = ask ? changed(entry.body, ask.rest) : {};
    JOB.set(call, { call, codec, references: all, written, ...(ask?.choice && { choice: ask.choice }) });
  }
  return next(ask && editedTo(ask.rest));
};

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
  const { bench, limits, exchanges } = tools;
  const job = JOB.get(view);
  if (!job) return undefined;
  const { call, codec, choice } = job;
  const given = view.request;
  if (!given) throw notCarried();
  const owner = call.principal?.id ?? "";
  const request = { ...given, turns: exchanges.replay(owner, given.turns) };
  const readPast = pastReader(call.format, codec);
  const listed = listsIn(request.turns, readPast);
  const references = job.references.map((one) => {
    const earlier = one.listed ?? listed.get(one.label);
    return { ...one, ...(earlier && { listed: earlier }) };
  });
  const offer = await makeOffer(bench, call.principal, { references, ...(choice && { choice }) });
  for (const { path, reason } of offer.missing) call.reportLoss("dropped", path, reason);
  const shows = codec?.shows(call.headers) ?? [];
  const unfinished = codec?.unfinished ?? "length";
  const keep: RunOf["keep"] = (calls, turns) => exchanges.keep(owner, calls, turns);
  job.loop = new Loop(bench, limits, {
    call,
    view,
    request,
    offer,
    shows,
    unfinished,
    listed,
    readPast,
    keep,
  });
  return { answer: answering(job, job.loop) };
}

async function* answering({ call, written }: Job, loop: Loop): AsyncGenerator<ChatEvent> {
  // An answer that repeats its request has it as the client wrote it.
  const { echo } = call.attempt?.request?.style ?? {};
  if (echo) Object.assign(echo, written);
  yield* loop.events();
}

function changed(body: JsonObject, rest: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => rest[name] !== value));
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

/** No body that weir has accepted nests deeper. */
const MAX_DEPTH = 1_000;

function editedTo(body: JsonObject): Edited {
  const bytes = Buffer.from(JSON.stringify(body));
  const { members } = scanBody(bytes, MAX_DEPTH);
  return { bytes, body, spanOf: (name) => members.get(name) };
}
