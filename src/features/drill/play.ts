/** Sends an answer over a connection, as it is or with a fault of the connection. */
import type { Socket } from "node:net";
import { STATUS_CODES } from "node:http";
import type { WireFault } from "./faults.ts";
import type { WholeAnswer } from "./whole-answer.ts";

/** The bytes that were sent. */
export interface Played {
  /** Bytes of the body that were sent, and of the whole answer. */
  sent: number;
  total: number;
  /** The client closed the connection before the last byte. */
  left: boolean;
}

const PAGE =
  "<!DOCTYPE html>\n<html>\n<head><title>502 Bad Gateway</title></head>\n<body>\n<center><h1>502 Bad Gateway</h1></center>\n<hr><center>proxy</center>\n</body>\n</html>\n";

/** Sends the answer. @returns when nothing more is sent, or the client has closed the connection */
export async function play(
  socket: Socket,
  answer: WholeAnswer,
  wire: WireFault | undefined,
): Promise<Played> {
  const total = answer.frames.reduce((sum, frame) => sum + frame.length, 0);
  const sender = new Sender(socket, total);
  const { frames } = answer;
  switch (wire?.kind) {
    case "silent":
      await sender.closed;
      break;
    case "page":
      sender.head({ status: 502, headers: [["content-type", "text/html"]] }, PAGE.length);
      sender.body(Buffer.from(PAGE));
      sender.end();
      break;
    case "late":
      await sender.wait(wire.delay);
      sender.whole(answer);
      break;
    case "slow":
      sender.head(answer, lengthOf(answer, total));
      for (const frame of frames) {
        sender.body(frame);
        await sender.wait(wire.delay);
      }
      sender.end();
      break;
    case "halved":
      sender.head(answer, wire.then === "end" ? undefined : lengthOf(answer, total));
      for (const frame of frames.slice(0, frames.length / 2)) sender.body(frame);
      if (wire.then === "stall") await sender.closed;
      else if (wire.then === "cut") sender.cut();
      else sender.end();
      break;
    case "garbled": {
      sender.head(answer, undefined);
      const middle = Math.floor(frames.length / 2);
      for (const [index, frame] of frames.entries())
        sender.body(index === middle ? garble(answer, frame) : frame);
      sender.end();
      break;
    }
    default:
      sender.whole(answer);
  }
  return { sent: sender.sent, total, left: await sender.finish() };
}

/** The `content-length` of a body; absent for a stream. */
function lengthOf({ isStream }: WholeAnswer, total: number): number | undefined {
  return isStream ? undefined : total;
}

/** Cuts an event, so that it still ends like an event; in the JSON of a body without events it leaves a quote too many. */
function garble({ isStream }: WholeAnswer, frame: Uint8Array): Uint8Array {
  const part = frame.subarray(0, frame.length * 0.7);
  const text = Buffer.from(frame).toString("latin1");
  const ending = !isStream ? '"{' : text.endsWith("\n\n") ? "\n\n" : "\n";
  return Buffer.concat([part, Buffer.from(ending)]);
}

/** Writes one response. Without a length the body is sent in chunks, so that its end is visible. */
class Sender {
  readonly #socket: Socket;
  readonly #total: number;
  /** Settles when the connection is closed. */
  readonly closed: Promise<void>;
  #isChunked = false;
  #isFinished = false;
  #isClosed = false;
  sent = 0;

  constructor(socket: Socket, total: number) {
    this.#socket = socket;
    this.#total = total;
    this.closed = new Promise((resolve) => {
      const close = () => {
        this.#isClosed = true;
        resolve();
      };
      if (socket.destroyed) close();
      socket.once("close", close);
      // A client that leaves closes its half first.
      socket.once("end", close);
    });
  }

  /** @param length of the body; absent: it is sent in chunks */
  head({ status, headers }: Pick<WholeAnswer, "status" | "headers">, length: number | undefined): void {
    this.#isChunked = length === undefined;
    const framing = length === undefined ? "transfer-encoding: chunked" : `content-length: ${length}`;
    const lines = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      framing,
      "connection: close",
    ];
    this.#write(`${lines.join("\r\n")}\r\n\r\n`);
  }

  body(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#isChunked) this.#write(`${bytes.length.toString(16)}\r\n`);
    this.#write(bytes);
    if (this.#isChunked) this.#write("\r\n");
    if (!this.#isClosed) this.sent += bytes.length;
  }

  whole(answer: WholeAnswer): void {
    this.head(answer, lengthOf(answer, this.#total));
    for (const frame of answer.frames) this.body(frame);
    this.end();
  }

  /** Ends the body regularly. */
  end(): void {
    if (this.#isChunked) this.#write("0\r\n\r\n");
    this.cut();
  }

  /** Closes the connection after what was written; the body stays incomplete. */
  cut(): void {
    this.#isFinished = !this.#isClosed;
    this.#socket.end();
  }

  /** Waits, at most until the client closes the connection. */
  wait(milliseconds: number): Promise<void> {
    return Promise.race([this.closed, new Promise<void>((resolve) => setTimeout(resolve, milliseconds))]);
  }

  /** Releases the connection. @returns whether the client had left before */
  async finish(): Promise<boolean> {
    if (!this.#isFinished) this.#socket.destroy();
    return !this.#isFinished;
  }

  #write(bytes: string | Uint8Array): void {
    if (!this.#isClosed && !this.#socket.destroyed) this.#socket.write(bytes);
  }
}
