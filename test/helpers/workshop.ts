/**
 * A feature with a process of its own, for tests. A client commands it by the text of a message, as JSON, and reads the pieces in the
 * message of an error. The test copies this file to a copy of the source.
 */
import { ServiceError } from "../../src/core/lines.ts";
import type { Feature } from "../../src/feature/feature.ts";
import type { Entry, WorkerHost, WorkerPart } from "../../src/gateway/seams.ts";
import { commandIn, reportError } from "./commanded.ts";
import type { Peer, ServiceHost, ServicePart } from "../../src/service/seams.ts";

/** What the process does. */
export type Order =
  | { do: "say"; pieces: number; bytes?: number }
  | { do: "tell" }
  | { do: "fail" }
  | { do: "break" }
  | { do: "wait" }
  | { do: "spawn"; command: string[] };

/** What the client wants, and of how much of it. */
export interface Command {
  order: Order;
  /** Reads no more pieces than this. */
  take?: number;
  /** Ends the work after this time. Milliseconds. */
  abortMs?: number;
  /** Time between two pieces. Milliseconds. */
  pauseMs?: number;
}

/** What the client reads. */
export interface Report {
  worker: number;
  pieces: unknown[];
  fault?: string;
  data?: unknown;
}

const NAME = "workshop";

export const workshop: Feature = {
  name: NAME,
  worker: async () => ({ start: (host) => new WorkshopWorker(host) }),
  service: async () => ({ start: (host) => new Workshop(host) }),
};

class WorkshopWorker implements WorkerPart {
  readonly #lines;
  #load = 0;

  constructor(host: WorkerHost) {
    this.#lines = host.service<Order, unknown>(() => ({ worker: process.pid, load: this.#load }));
  }

  seams() {
    return { around: { at: "guard" as const, run: (entry: Entry) => this.#do(entry) } };
  }

  serves(): void {
    this.#load++;
    this.#lines.introduce();
  }

  async #do(entry: Entry): Promise<never> {
    const { order, take = Infinity, abortMs, pauseMs = 0 } = commandIn<Command>(entry);
    const report: Report = { worker: process.pid, pieces: [] };
    const signal = abortMs === undefined ? undefined : AbortSignal.timeout(abortMs);
    try {
      for await (const piece of this.#lines.ask(order, signal)) {
        report.pieces.push(typeof piece === "string" ? piece.length : piece);
        if (report.pieces.length >= take) break;
        if (pauseMs > 0) await Bun.sleep(pauseMs);
      }
    } catch (cause) {
      report.fault = (cause as Error).message;
      if (cause instanceof ServiceError) report.data = cause.data;
    }
    throw reportError(report);
  }
}

class Workshop implements ServicePart {
  /** By worker, what it said last. */
  readonly #introductions = new Map<number, number>();
  #made = 0;
  #waiting = 0;
  #stopped = 0;

  constructor(private readonly host: ServiceHost) {}

  introduced(message: unknown): void {
    const { worker, load } = message as { worker: number; load: number };
    this.#introductions.set(worker, load);
  }

  async *answer(message: unknown, peer: Peer, stop: AbortSignal): AsyncGenerator<unknown> {
    const order = message as Order;
    if (order.do === "say")
      for (let piece = 0; piece < order.pieces; piece++) {
        this.#made++;
        yield order.bytes === undefined ? piece : "x".repeat(order.bytes);
      }
    if (order.do === "tell")
      yield {
        ...{ pid: process.pid, made: this.#made, waiting: this.#waiting, stopped: this.#stopped },
        ...{ asks: peer.introduction, all: [...this.#introductions.values()], folder: this.host.folder() },
      };
    if (order.do === "fail") throw new ServiceError("the workshop is closed", { code: 7 });
    if (order.do === "break") throw new TypeError("planted fault of the workshop");
    if (order.do === "wait") {
      this.#waiting++;
      const { promise, resolve } = Promise.withResolvers<void>();
      stop.addEventListener("abort", () => resolve());
      await promise;
      this.#stopped++;
    }
    if (order.do === "spawn") {
      const child = this.host.spawn(order.command, { cwd: "/", env: { PLANTED: "1" } });
      yield { child: child.pid };
      const said = await new Response(child.stdout).text();
      yield { said, ended: await child.exited };
    }
  }

  async close(): Promise<void> {
    this.host.info("the workshop closes");
  }
}
