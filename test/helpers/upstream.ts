/**
 * A fake upstream on loopback, on a bare TCP socket: it records each request as it came and answers as told, down to
 * single bytes, resets and truncated chunks. It knows which of its requests are still open, so that a test can prove
 * that a client that left has stopped them.
 */
import type { Socket } from "bun";
import type { Answer, Piece, Pieces, RawAnswer } from "./answers.ts";
import { RequestReader, type ReadRequest } from "./http-reader.ts";

export * from "./answers.ts";

export interface UpstreamRequest extends ReadRequest {
  /** Number of the connection it came on, counted from 1. */
  connection: number;
  /** Monotonic milliseconds. */
  arrivedAt: number;
  /** `answered`: the whole answer was sent; `closed`: the connection ended first, by whichever side. */
  state: "open" | "answered" | "closed";
  /** Monotonic milliseconds at which it left the state `open`. */
  settledAt?: number;
  /** Fulfils when it leaves the state `open`. */
  settled: Promise<void>;
}

export type Handler = (request: UpstreamRequest) => Answer | RawAnswer | Promise<Answer | RawAnswer>;

export interface Upstream {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  url: string;
  port: number;
  requests: UpstreamRequest[];
  /** Open connections, idle ones included. */
  readonly connections: number;
  /** Requests that are neither answered nor closed. */
  readonly open: number;
  /** Replaces what it answers from the next request on. */
  answer(handler: Handler): void;
  /** Fulfils when so many requests have come in all. @throws after `timeout` milliseconds. */
  arrived(count: number, timeout?: number): Promise<UpstreamRequest>;
  /** Fulfils when no request is open. @throws after `timeout` milliseconds, saying how many are. */
  quiet(timeout?: number): Promise<void>;
  stop(): void;
}

/** Starts a fake upstream on a free port. @param hostname where it listens; 127.0.0.1 is always included */
export function startUpstream(handler: Handler | Answer, hostname = "127.0.0.1"): Upstream {
  let current: Handler = typeof handler === "function" ? handler : () => handler;
  const requests: UpstreamRequest[] = [];
  const connections = new Set<Connection>();
  let opened = 0;
  let open = 0;

  const record = (read: ReadRequest, connection: Connection): UpstreamRequest => {
    const { promise: settled, resolve } = Promise.withResolvers<void>();
    const request: UpstreamRequest = {
      ...read,
      connection: connection.number,
      arrivedAt: performance.now(),
      state: "open",
      settled,
    };
    open++;
    connection.settle = (state) => {
      if (request.state !== "open") return;
      request.state = state;
      request.settledAt = performance.now();
      open--;
      resolve();
    };
    requests.push(request);
    return request;
  };

  const listener = Bun.listen<Connection>({
    hostname,
    port: 0,
    allowHalfOpen: false,
    socket: {
      open(socket) {
        socket.data = new Connection(socket, ++opened);
        connections.add(socket.data);
      },
      data(socket, bytes) {
        const connection = socket.data;
        for (const read of connection.reader.push(bytes)) {
          const request = record(read, connection);
          connection.serve(async () => current(request));
        }
      },
      drain: (socket) => socket.data.drained(),
      close(socket) {
        connections.delete(socket.data);
        socket.data.closed();
      },
      error(socket) {
        socket.data.closed();
      },
    },
  });

  return {
    url: `http://127.0.0.1:${listener.port}`,
    port: listener.port,
    requests,
    get connections() {
      return connections.size;
    },
    get open() {
      return open;
    },
    answer(next) {
      current = next;
    },
    async arrived(count, timeout = 10_000) {
      await until(
        () => requests.length >= count,
        timeout,
        () => `${requests.length} of ${count} requests reached the upstream`,
      );
      return requests[count - 1]!;
    },
    quiet: (timeout = 10_000) =>
      until(
        () => open === 0,
        timeout,
        () => `${open} requests are still open at the upstream`,
      ),
    stop: () => listener.stop(true),
  };
}

/** Waits, a millisecond at a time, until the condition holds. @throws with the sentence after `timeout` milliseconds. */
export async function until(holds: () => boolean, timeout: number, sentence: () => string): Promise<void> {
  const deadline = performance.now() + timeout;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`After ${timeout} ms ${sentence()}.`);
    await Bun.sleep(1);
  }
}

/** One TCP connection: answers go out in the order of their requests, no faster than the other side reads. */
class Connection {
  readonly reader = new RequestReader();
  settle: (state: "answered" | "closed") => void = () => {};
  readonly number: number;
  readonly #socket: Socket<Connection>;
  #alive = true;
  #last: Promise<void> = Promise.resolve();
  #unsent: Buffer | undefined;
  #onDrain: (() => void) | undefined;

  constructor(socket: Socket<Connection>, number: number) {
    this.#socket = socket;
    this.number = number;
  }

  serve(answer: () => Promise<Answer | RawAnswer>): void {
    const { settle } = this;
    this.#last = this.#last.then(async () => {
      const found = await answer();
      if ("raw" in found) await this.#write(found.raw);
      else await this.#send(found);
      await this.#end(found.ending ?? "whole", settle);
    });
  }

  async #send(answer: Answer): Promise<void> {
    const { body = "" } = answer;
    const fixed = typeof body === "string" || body instanceof Uint8Array ? Buffer.from(body) : undefined;
    const framing = answer.framing ?? (fixed ? "length" : "chunked");
    await this.#bytes(Buffer.from(writeHead(answer, framing, answer.length ?? fixed?.length), "latin1"));
    await this.#write(fixed ? [fixed] : (body as Pieces), framing === "chunked");
    const isWhole = (answer.ending ?? "whole") === "whole";
    if (isWhole && framing === "chunked") await this.#bytes(Buffer.from("0\r\n\r\n"));
    if (isWhole && framing === "close") this.#socket.end();
  }

  async #write(pieces: Pieces, chunked = false): Promise<void> {
    for await (const piece of pieces as AsyncIterable<Piece>) {
      if (!this.#alive) return;
      if (typeof piece === "object" && "wait" in piece) await pause(piece.wait);
      else if (piece.length > 0) await this.#bytes(chunked ? writeChunk(piece) : Buffer.from(piece));
    }
  }

  async #bytes(bytes: Buffer): Promise<void> {
    if (!this.#alive) return;
    const sent = Math.max(0, this.#socket.write(bytes));
    if (sent === bytes.length) return;
    this.#unsent = bytes.subarray(sent);
    await new Promise<void>((resolve) => (this.#onDrain = resolve));
  }

  async #end(ending: "whole" | "fin" | "rst" | "stall", settle: (state: "answered" | "closed") => void) {
    if (ending === "stall") return;
    settle(this.#alive ? "answered" : "closed");
    if (ending === "fin") this.#socket.end();
    if (ending === "rst") this.#socket.terminate();
  }

  drained(): void {
    if (this.#unsent) {
      const sent = Math.max(0, this.#socket.write(this.#unsent));
      this.#unsent = sent < this.#unsent.length ? this.#unsent.subarray(sent) : undefined;
    }
    if (!this.#unsent) this.#onDrain?.();
  }

  closed(): void {
    this.#alive = false;
    this.#onDrain?.();
    this.settle("closed");
  }
}

function pause(milliseconds: number): Promise<unknown> {
  return milliseconds === 0 ? new Promise(setImmediate) : Bun.sleep(milliseconds);
}

function writeHead(answer: Answer, framing: "length" | "chunked" | "close", length = 0): string {
  const status = answer.status ?? 200;
  const headers = answer.headers ?? {};
  const lines = (Array.isArray(headers) ? headers : Object.entries(headers)).map(
    ([name, value]) => `${name}: ${value}`,
  );
  if (framing === "length") lines.push(`content-length: ${length}`);
  if (framing === "chunked") lines.push("transfer-encoding: chunked");
  if (framing === "close") lines.push("connection: close");
  return `HTTP/1.1 ${status} X\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
}

function writeChunk(piece: string | Uint8Array): Buffer {
  const bytes = Buffer.from(piece);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}
