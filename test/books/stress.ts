/**
 * Load on one hard budget: calls, streams, aborted streams, retries and fallbacks, while workers are killed. A sampler reads
 * the budget ten times a second.
 */
import type { Nano } from "../../src/ledger/money.ts";
import { json, paced, sse, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";
import type { RunningBooks } from "./running.ts";

/** Tokens that the fake provider counts for each call. */
export const USAGE = { prompt_tokens: 50, completion_tokens: 500, total_tokens: 550 };

/** What one answer costs at one dollar a million tokens of input, and two of output. Nano-dollars. */
export const COST = 1_050_000;

/** A provider with models that answer, stream slowly, fail every third time, and always fail. */
/** @param hostname where it listens */
export function startProvider(hostname?: string): Upstream {
  let calls = 0;
  return startUpstream((request: UpstreamRequest) => {
    if (request.path.endsWith("/models")) return json({ object: "list", data: [] });
    const { model, stream } = JSON.parse(request.body.toString()) as { model: string; stream?: boolean };
    calls++;
    if (model === "dead" || (model === "flaky" && calls % 3 === 0))
      return json({ error: { message: "The model is overloaded.", type: "server_error" } }, 503);
    return stream ? streamed() : json(completion());
  }, hostname);
}

export function completion(): object {
  return {
    id: "c1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
    usage: USAGE,
  };
}

function chunk(delta: object, finish: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices };
}

function streamed() {
  const words = Array.from({ length: 10 }, (_, at) => chunk({ content: `word ${at} ` }));
  const usage = {
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [],
    usage: USAGE,
  };
  const frames = [chunk({ role: "assistant", content: "" }), ...words, chunk({}, "stop"), usage];
  const pieces = [...frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`), "data: [DONE]\n\n"];
  return sse(paced(pieces, 5));
}

/**
 * `refused`: the budget has not enough left. `unavailable`: the keeper did not answer in time, which clients repeat (status 503).
 * `lost`: the connection ended, because its worker was killed.
 */
export const RESULTS = ["answered", "aborted", "refused", "unavailable", "lost", "other"] as const;

export type Result = (typeof RESULTS)[number];

export interface Outcome {
  result: Result;
  status: number;
  text: string;
  /** Milliseconds. */
  took: number;
}

export interface Kind {
  model: string;
  stream: boolean;
  abort: boolean;
}

export async function call({ url }: { url: string }, key: string, kind: Kind): Promise<Outcome> {
  const controller = new AbortController();
  const began = performance.now();
  const done = (result: Result, status = 0, text = ""): Outcome => ({
    result,
    status,
    text,
    took: performance.now() - began,
  });
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, connection: "close" },
      body: JSON.stringify({
        model: kind.model,
        stream: kind.stream,
        max_tokens: 500,
        messages: [{ role: "user", content: "hello" }],
      }),
      signal: controller.signal,
    });
    if (kind.abort && response.ok && response.body) {
      const reader = response.body.getReader();
      await reader.read();
      controller.abort();
      return done("aborted", response.status);
    }
    const text = await response.text();
    if (response.ok) return done("answered", response.status, text);
    const isRefusal = response.status === 429 && /insufficient_quota|budget_exhausted/.test(text);
    if (text.includes("ledger_unavailable")) return done("unavailable", response.status, text);
    return done(isRefusal ? "refused" : "other", response.status, text);
  } catch {
    return done("lost");
  }
}

const REPEATS = 60;

/** Repeats a call while the keeper does not answer in time, as on a machine that is busy. */
export async function callUntilDecided(weir: { url: string }, key: string, kind: Kind): Promise<Outcome> {
  for (let repeats = 0; ; repeats++) {
    const outcome = await call(weir, key, kind);
    if (outcome.result !== "unavailable" || repeats === REPEATS) return outcome;
    await Bun.sleep(250);
  }
}

export interface Sample {
  at: number;
  spent: Nano;
  assumed: Nano;
  held: Nano;
  overrun: Nano;
}

/** Reads a budget ten times a second until `stop`. A keeper that is restarted answers later. */
export class Sampler {
  readonly samples: Sample[] = [];
  readonly #read: () => Promise<Omit<Sample, "at"> | undefined>;
  #stopped = false;
  readonly #running: Promise<void>;

  /** @param read the figures at the moment; it may fail */
  constructor(read: () => Promise<Omit<Sample, "at"> | undefined>) {
    this.#read = read;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const figures = await this.#read().catch(() => undefined);
      if (figures) this.samples.push({ at: performance.now(), ...figures });
      await Bun.sleep(100);
    }
  }

  async stop(): Promise<Sample[]> {
    this.#stopped = true;
    await this.#running;
    return this.samples;
  }
}

/** Reads the open window of a budget of a gateway. */
export const windowOf = (weir: RunningBooks, name: string) => async () =>
  (await weir.budget(name)).windows[0];

export const KINDS: readonly Kind[] = [
  { model: "host/steady", stream: false, abort: false },
  { model: "host/steady", stream: true, abort: false },
  { model: "host/steady", stream: true, abort: true },
  { model: "host/flaky", stream: false, abort: false },
  { model: "host/dead", stream: false, abort: false },
];

export interface LoadOptions {
  /** Gateways, which get the calls in turn. */
  urls: readonly string[];
  key: string;
  /** Calls at the same time. */
  parallel: number;
  /** At most so many calls, for at most so long. */
  calls: number;
  ms: number;
}

/** Runs calls of all kinds, the same sequence of kinds in each run. */
export async function load({ urls, key, parallel, calls, ms }: LoadOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const until = performance.now() + ms;
  let made = 0;
  const loop = async () => {
    while (made < calls && performance.now() < until) {
      const number = made++;
      const kind = KINDS[number % KINDS.length]!;
      const url = urls[Math.floor(number / KINDS.length) % urls.length]!;
      const outcome = await call({ url }, key, kind);
      outcomes.push(outcome);
      // A worker that was killed refuses connections for a moment.
      if (outcome.result === "lost") await Bun.sleep(20);
    }
  };
  await Promise.all(Array.from({ length: parallel }, loop));
  return outcomes;
}

/**
 * Picks workers that serve, while another one does: a gateway whose new workers all end before they serve gives up, and a busy
 * machine starts them slowly.
 */
export function servingWorker(weir: Pick<RunningBooks, "workers" | "log">): () => number | undefined {
  const first = new Set(weir.workers());
  const hasServed = (pid: number) =>
    first.has(pid) || weir.log.some((line) => line.includes("is serving") && line.includes(`"${pid}"`));
  return () => {
    const serving = weir.workers().filter(hasServed);
    return serving.length < 2 ? undefined : serving[Math.floor(Math.random() * serving.length)];
  };
}

/** Kills one process each `everyMs` until `stop`. @param pick the process, if there is one */
export function killEach(everyMs: number, pick: () => number | undefined): { stop(): number } {
  let kills = 0;
  const timer = setInterval(() => {
    const pid = pick();
    if (pid === undefined) return;
    try {
      process.kill(pid, "SIGKILL");
      kills++;
    } catch {
      // It has ended by itself.
    }
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return kills;
    },
  };
}

export function countOf(outcomes: readonly Outcome[], result: Result): number {
  return outcomes.filter((outcome) => outcome.result === result).length;
}
