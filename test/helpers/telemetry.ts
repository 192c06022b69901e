/** Records, a clock that tests turn, and receivers of traces and alerts. */
import { NO_USAGE } from "../../src/core/events.ts";
import type { AttemptRecord, CallRecord } from "../../src/ledger/record.ts";
import type { WallClock } from "../../src/core/wall-clock.ts";
import type { SendResult } from "../../src/http/post.ts";
import { readOtlp, type ReadSpan } from "./otlp.ts";

export function attemptRecord(more: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    provider: "host",
    deployment: "host/eu",
    model: "model-1",
    class: "answered",
    ms: 200,
    usage: { ...NO_USAGE, input: 7, output: 3 },
    charge: { state: "metered", cost: 13_000 },
    held: 20_000,
    accounts: [],
    ...more,
  };
}

export function callRecord(more: Partial<CallRecord> = {}): CallRecord {
  return {
    id: "req_AaICuNG3rVHtagD--zhi7K0a",
    startedAt: 1_800_000_000_000,
    ms: 250,
    ownMs: 0.4,
    key: "key_1",
    path: "/team",
    format: "f",
    lane: "native",
    model: "alias",
    stream: true,
    status: 200,
    outcome: "complete",
    finish: "stop",
    attempts: [attemptRecord()],
    ...more,
  };
}

/** Time passes only by `pass`. */
export class TestClock implements WallClock {
  now = 1_800_000_000_000;
  #timers = new Map<object, { at: number; run: () => void }>();

  wall(): number {
    return this.now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = {};
    this.#timers.set(timer, { at: this.now + ms, run });
    return () => this.#timers.delete(timer);
  }

  /** Runs what is due in the order of its time, and what follows from it. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    await settled();
    for (;;) {
      const due = [...this.#timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.now = due[1].at;
      due[1].run();
      await settled();
    }
    this.now = end;
  }
}

/** Lets promises come to an end. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Bun.sleep(1);
}

export interface Posted {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** A receiver without a socket. It answers `ok` until the test sets another answer. */
export function fakePost() {
  const posted: Posted[] = [];
  let answer: () => SendResult | Promise<SendResult> = () => ({ kind: "ok", text: "" });
  return {
    posted,
    answer: (next: typeof answer) => void (answer = next),
    post: async (url: string, headers: Readonly<Record<string, string>>, body: string | Uint8Array) => {
      const text = typeof body === "string" ? body : Buffer.from(Bun.gunzipSync(new Uint8Array(body)));
      posted.push({ url, headers: { ...headers }, body: text.toString() });
      return answer();
    },
  };
}

export interface Receiver {
  url: string;
  /** What has arrived, each with its path and headers. */
  received: (Posted & { path: string })[];
  /** The spans of all requests, by a strict reader. */
  spans(): ReadSpan[];
  stop(): Promise<void>;
}

/** An HTTP server that takes everything. */
export function startReceiver(status = () => 200): Receiver {
  const received: Receiver["received"] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const bytes = new Uint8Array(await request.arrayBuffer());
      const isPacked = request.headers.get("content-encoding") === "gzip";
      const body = Buffer.from(isPacked ? Bun.gunzipSync(bytes) : bytes).toString();
      const headers = Object.fromEntries(request.headers);
      received.push({ url: request.url, path: new URL(request.url).pathname, headers, body });
      return new Response("{}", { status: status() });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    received,
    spans: () =>
      received.filter(({ path }) => path.endsWith("/traces")).flatMap(({ body }) => readOtlp(body).spans),
    stop: () => server.stop(true),
  };
}
