/** A WebSocket to a host (RFC 6455), which is read only as fast as its owner wants. No extensions. */
import type { Socket } from "node:net";
import type { HeaderReader } from "../core/headers.ts";
import type { TlsSettings } from "../core/provider.ts";
import type { End, Listening } from "../core/socket.ts";
import type { Stoppable } from "../core/stop.ts";
import { addressOf, dial } from "./dial.ts";
import { HttpError, malformed } from "./error.ts";
import { type Head, MAX_HEAD_BYTES, parseHead } from "./head.ts";
import {
  CLOSE,
  closeFrame,
  encodeFrame,
  FrameReader,
  PING,
  PONG,
  ProtocolFault,
  TEXT,
} from "./web-socket-frames.ts";

export interface SocketRequest {
  /** `ws:` or `wss:`. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the opening, and only that. */
  readonly stop: Stoppable;
  readonly tls?: TlsSettings | undefined;
  /** Longest message of the host. Bytes. */
  readonly mostBytes: number;
}

/** The host answers the upgrade with another status than 101. */
export class UpgradeRefused extends Error {
  constructor(
    readonly status: number,
    readonly headers: HeaderReader,
    readonly body: string,
  ) {
    super(`the host answered the upgrade with ${status}`);
  }
}

/** A host that has been silent for so long is pinged, and is gone after the same time again. Milliseconds. */
const IDLE_MS = 30_000;
/** How long the host has to answer the end. Milliseconds. */
const CLOSE_MS = 2_000;
/** Longest body of a refusal, in bytes, and how long it is read, in milliseconds. */
const BODY_BYTES = 65_536;
const BODY_MS = 2_000;

const ACCEPT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const HEAD_END = "\r\n\r\n";

/** @throws HttpError, UpgradeRefused, or the reason of `stop` */
export async function openWebSocket(request: SocketRequest, listening: Listening): Promise<End> {
  const { origin, target } = addressOf(request.url.replace(/^ws/, "http"));
  const socket = dial(origin, request.tls);
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64");
  const lines = [
    `GET ${target} HTTP/1.1`,
    `host: ${origin.host}`,
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
    ...[
      "upgrade: websocket",
      "connection: Upgrade",
      "sec-websocket-version: 13",
      `sec-websocket-key: ${key}`,
    ],
  ];
  const opening = new Opening(socket, request.stop);
  try {
    await opening.connected(origin.secure ? "secureConnect" : "connect");
    socket.write(`${lines.join("\r\n")}${HEAD_END}`, "latin1");
    const [head, rest] = await opening.head();
    if (head.status !== 101)
      throw new UpgradeRefused(head.status, head.headers, await opening.body(head, rest));
    const accept = new Bun.CryptoHasher("sha1").update(key + ACCEPT).digest("base64");
    if (head.headers.get("sec-websocket-accept") !== accept) throw malformed("its upgrade has a wrong key");
    opening.end();
    return new HostSocket(socket, rest, request.mostBytes, listening);
  } catch (thrown) {
    opening.end();
    socket.on("error", () => {});
    socket.destroy();
    throw thrown;
  }
}

/** The bytes of a socket until it is a WebSocket. */
class Opening {
  readonly #socket: Socket;
  readonly #stop: Stoppable;
  readonly #failed = Promise.withResolvers<never>();
  readonly #aborted = () => this.#failed.reject(this.#stop.reason);
  readonly #errored = (cause: Error) =>
    this.#failed.reject(HttpError.from(cause, this.#isOpen ? "sent" : "connect"));
  readonly #closed = () => this.#errored(Object.assign(new Error("closed"), { code: "ECONNRESET" }));
  #isOpen = false;

  constructor(socket: Socket, stop: Stoppable) {
    this.#socket = socket;
    this.#stop = stop;
    this.#failed.promise.catch(() => {});
    if (stop.aborted) this.#aborted();
    stop.addEventListener("abort", this.#aborted);
    socket.on("error", this.#errored);
    socket.on("close", this.#closed);
  }

  async connected(event: "connect" | "secureConnect"): Promise<void> {
    await Promise.race([new Promise((resolve) => this.#socket.once(event, resolve)), this.#failed.promise]);
    this.#isOpen = true;
  }

  /** @returns the head, and the bytes behind it */
  async head(): Promise<[Head, Buffer]> {
    let bytes = Buffer.alloc(0);
    for (;;) {
      const at = bytes.indexOf(HEAD_END);
      if (at >= 0) return [parseHead(bytes.toString("latin1", 0, at)), bytes.subarray(at + HEAD_END.length)];
      if (bytes.length > MAX_HEAD_BYTES) throw malformed("its head is too long");
      bytes = Buffer.concat([bytes, await this.#next()]);
    }
  }

  /** What came of the body of a refusal. */
  async body({ framing }: Head, begun: Buffer): Promise<string> {
    const most = framing.kind === "length" ? Math.min(framing.length, BODY_BYTES) : BODY_BYTES;
    let bytes = begun;
    const late = Bun.sleep(BODY_MS).then(() => undefined);
    while (bytes.length < most) {
      const piece = await Promise.race([this.#next(), late]).catch(() => undefined);
      if (!piece) break;
      bytes = Buffer.concat([bytes, piece]);
    }
    const text = bytes.toString("utf8");
    // Of a chunked body only the data matters: errors are one chunk of JSON.
    return framing.kind === "chunked" ? text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1) : text;
  }

  async #next(): Promise<Buffer> {
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    const take = (piece: Buffer) => {
      this.#socket.pause();
      resolve(piece);
    };
    this.#socket.once("data", take);
    this.#socket.resume();
    try {
      return await Promise.race([promise, this.#failed.promise]);
    } finally {
      this.#socket.off("data", take);
    }
  }

  end(): void {
    this.#stop.removeEventListener("abort", this.#aborted);
    this.#socket.off("error", this.#errored);
    this.#socket.off("close", this.#closed);
  }
}

class HostSocket implements End {
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  readonly #listening: Listening;
  readonly #timer: Timer;
  #heardAt = performance.now();
  #isPaused = false;
  #isClosing = false;
  #isOver = false;

  constructor(socket: Socket, rest: Buffer, mostBytes: number, listening: Listening) {
    this.#socket = socket;
    this.#listening = listening;
    this.#reader = new FrameReader(mostBytes);
    this.#timer = setInterval(() => this.#look(), IDLE_MS);
    socket.on("data", (bytes: Buffer) => this.#read(bytes));
    socket.on("drain", () => listening.drained());
    socket.on("error", () => {});
    socket.on("close", () => this.#over(1006, ""));
    socket.on("end", () => socket.end());
    // Who opens it listens from the next turn on.
    setImmediate(() => {
      if (rest.length > 0) this.#read(rest);
      if (!this.#isPaused) socket.resume();
    });
  }

  get buffered(): number {
    return this.#socket.writableLength;
  }

  send(frame: string): void {
    if (!this.#isClosing) this.#socket.write(encodeFrame(TEXT, Buffer.from(frame)));
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
    if (this.#reader.hasMore) queueMicrotask(() => this.#read(Buffer.alloc(0)));
  }

  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#socket.write(closeFrame(code, reason));
    // What the host still sends is read, or its end would never come.
    this.resume();
    setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref();
  }

  #read(bytes: Buffer): void {
    this.#heardAt = performance.now();
    try {
      this.#reader.add(bytes);
      // A message that its owner does not want yet waits with what was read.
      while (!this.#isPaused && !this.#isOver) {
        const message = this.#reader.next();
        if (!message) return;
        this.#take(message.opcode, message.payload);
      }
    } catch (thrown) {
      if (!(thrown instanceof ProtocolFault)) throw thrown;
      this.close(thrown.code, thrown.message);
      this.#over(thrown.code, thrown.message);
    }
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === PING) return void this.#socket.write(encodeFrame(PONG, payload));
    if (opcode === PONG) return;
    if (opcode !== CLOSE) return this.#listening.frame(payload.toString("utf8"));
    const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
    if (!this.#isClosing) this.#socket.end(closeFrame(code === 1005 ? 1000 : code, ""));
    else this.#socket.end();
    this.#isClosing = true;
    this.#over(code, payload.toString("utf8", 2));
  }

  #look(): void {
    const silent = performance.now() - this.#heardAt;
    if (this.#isPaused || silent < IDLE_MS) return;
    if (silent > 2 * IDLE_MS) this.#socket.destroy();
    else this.#socket.write(encodeFrame(PING, Buffer.alloc(0)));
  }

  #over(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#listening.closed(code, reason);
  }
}
