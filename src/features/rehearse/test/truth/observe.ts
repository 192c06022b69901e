/** Runs the calls of the corpus through a gateway in front of the fake, one after another, and says what became of each. */
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway } from "../../../../../test/helpers/gateway.ts";
import { serve } from "../../../../../test/helpers/serving.ts";
import type { Setup } from "./base.ts";
import type { TruthCall } from "./corpus.ts";
import type { Fake, Sent } from "./fake.ts";

/** What became of one call. */
export interface Seen {
  /** Id of the call in the books and in the log. */
  id: string;
  sent: readonly Sent[];
  /** Deployment, model and lane of the provider that answered; empty without one. */
  target: string;
  status: number;
  /** Kind, code and message of the error; empty without one. */
  refusal: string;
  losses: string;
  /** Nano-dollars, with how the price is known; empty if the books do not have the call. */
  price: string;
}

export interface How {
  /** Root of a copy of the source that serves in a process of its own; absent: this source, in this process. */
  root?: string;
  /** Called after the gateway has stopped. @param state its folder, which is then deleted @param ids of the calls, in their order */
  keep?(state: string, ids: readonly string[]): void;
}

/** A started gateway, whichever way. */
interface Running {
  url: string;
  log: string[];
  stop(): Promise<void>;
}

/** @throws Error if the gateway does not start with the setup */
export async function observe(
  setup: Setup,
  calls: readonly TruthCall[],
  fake: Fake,
  { root, keep }: How = {},
): Promise<Seen[]> {
  const state = mkdtempSync(join(tmpdir(), "weir-truth-"));
  const config = { ...setup.config, state };
  const running = root === undefined ? await startHere(config, setup) : await startCopy(root, config, setup);
  const asked: Asked[] = [];
  try {
    for (const call of calls) asked.push(await ask(running.url, call, fake));
    await running.stop();
    const ids = asked.map(({ id }) => id);
    keep?.(state, ids);
    const lines = linesOf(running.log);
    const prices = pricesOf(join(state, "weir.db"));
    return asked.map((one) => seenOf(one, lines.get(one.id), prices.get(inBooks(one.id))));
  } finally {
    await running.stop();
    rmSync(state, { recursive: true, force: true });
  }
}

async function startHere(config: Setup["config"], { plugins }: Setup): Promise<Running> {
  const gateway = await startGateway({ config, plugins, target: "source" });
  await gateway.opened();
  let isStopped = false;
  return {
    ...gateway,
    async stop() {
      if (!isStopped) await gateway.stop();
      isStopped = true;
    },
  };
}

async function startCopy(root: string, config: Setup["config"], { plugins }: Setup): Promise<Running> {
  const serving = await serve({
    config: JSON.stringify(config),
    workers: 1,
    binary: false,
    plugins,
    root,
  });
  let isStopped = false;
  return {
    ...serving,
    async stop() {
      if (isStopped) return;
      isStopped = true;
      serving.signal("SIGTERM");
      await serving.exited;
      await serving.end();
    },
  };
}

interface Asked {
  id: string;
  status: number;
  error: string;
  sent: Sent[];
}

/** Longest time of one call: the fake answers at once. */
const CALL_MS = 60_000;

async function ask(url: string, { path, headers, body, tokens }: TruthCall, fake: Fake): Promise<Asked> {
  fake.next(tokens);
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    signal: AbortSignal.timeout(CALL_MS),
  });
  const text = await response.text();
  return {
    id: response.headers.get("x-request-id") ?? "",
    status: response.status,
    error: response.ok ? "" : text,
    sent: fake.next(tokens),
  };
}

interface Line {
  id?: string;
  provider?: string;
  upstream_model?: string;
  lane?: string;
  losses?: readonly { code: string; path: string }[];
  error?: { kind: string; code?: string; message?: string };
}

function linesOf(log: readonly string[]): Map<string, Line> {
  const lines = log.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Line);
  return new Map(lines.flatMap((line) => (line.id === undefined ? [] : [[line.id, line] as const])));
}

interface Row {
  request: Uint8Array;
  cost: number;
  state: number | null;
}

function pricesOf(path: string): Map<string, string> {
  const books = new Database(path, { readonly: true });
  try {
    const rows = books.query<Row, []>("SELECT request, cost, state FROM calls").all();
    return new Map(
      rows.map(({ request, cost, state }) => [hex(request.slice(-RANDOM)), `${cost} ${state ?? ""}`]),
    );
  } finally {
    books.close();
  }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** Bytes of an id behind its time, which is not in the books if the row has the same one. */
const RANDOM = 12;

const inBooks = (id: string) => hex(Buffer.from(id.slice("req_".length), "base64url").subarray(-RANDOM));

function seenOf({ id, status, error, sent }: Asked, line: Line = {}, price = ""): Seen {
  const { provider, upstream_model: model, lane, losses = [] } = line;
  const { kind = status < 400 ? "" : error.slice(0, 200), code = "", message = "" } = line.error ?? {};
  return {
    id,
    sent,
    target: provider === undefined ? "" : `${provider}/${model} ${lane}`,
    status,
    refusal: kind === "" ? "" : `${kind} ${code} ${message}`.trim(),
    losses: losses.map((loss) => `${loss.code}:${loss.path}`).join(" "),
    price,
  };
}
