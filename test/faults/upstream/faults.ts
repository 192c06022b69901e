/** What an upstream can do wrong, as data: each fault by its name, with what a client must see of it. */
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";

/**
 * `whole`: the complete answer. `error`: a typed error before any of it. `broken`: an error, before the answer or in band,
 * and no terminator. `either`: the answer, whole or with an error; the upstream left it open which.
 */
export type Outcome = "whole" | "error" | "broken" | "either";

/** The answer the upstream would have given, had it been well. */
export interface Healthy {
  /** A JSON answer. */
  json: string;
  /** The events of a streamed one. */
  events: readonly string[];
  stream: boolean;
  /** An error event of the format. */
  errorEvent: string;
  /** An error body of the format. */
  errorBody: string;
}

export interface Fault {
  name: string;
  json: Outcome;
  stream: Outcome;
  /** Of a stream that is translated, when another thing is right there. */
  translated?: Outcome;
  /** Answers before the body of the request has come. */
  early?: boolean;
  act(socket: Socket, healthy: Healthy): void;
}

const HEAD = "HTTP/1.1 200 OK\r\n";
const JSON_TYPE = "content-type: application/json\r\n";
const SSE_TYPE = "content-type: text/event-stream\r\n";

export function bodyOf({ json, events, stream }: Healthy): string {
  return stream ? events.join("") : json;
}

function typeOf({ stream }: Healthy): string {
  return stream ? SSE_TYPE : JSON_TYPE;
}

/** An answer of known length; text is sent as UTF-8. */
export function framed(healthy: Healthy, body = bodyOf(healthy), more = ""): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([
    Buffer.from(`${HEAD}${typeOf(healthy)}${more}content-length: ${bytes.length}\r\n\r\n`),
    bytes,
  ]);
}

function chunked(healthy: Healthy, bodies: readonly string[], end = "0\r\n\r\n"): Buffer {
  const chunks = bodies.map((body) => {
    const bytes = Buffer.from(body);
    return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
  });
  const head = Buffer.from(`${HEAD}${typeOf(healthy)}transfer-encoding: chunked\r\n\r\n`);
  return Buffer.concat([head, ...chunks, Buffer.from(end)]);
}

function half(healthy: Healthy): Buffer {
  const all = framed(healthy);
  return all.subarray(0, all.length - Math.floor(Buffer.byteLength(bodyOf(healthy)) / 2));
}

/** Writes for ever, as fast as it is read. */
function flood(socket: Socket, piece: Buffer): void {
  const write = () => {
    while (!socket.destroyed) if (!socket.write(piece)) return void socket.once("drain", write);
  };
  write();
}

/** Writes a few bytes at a time. */
async function drip(socket: Socket, bytes: Buffer, size: number, everyMs: number): Promise<void> {
  for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
    socket.write(bytes.subarray(at, at + size));
    await Bun.sleep(everyMs);
  }
}

const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, 32));

export const FAULTS: readonly Fault[] = [
  {
    name: "resets-at-request",
    json: "error",
    stream: "error",
    act: (socket) => void socket.resetAndDestroy(),
  },
  { name: "closes-at-request", json: "error", stream: "error", act: (socket) => void socket.end() },
  { name: "says-nothing", json: "error", stream: "error", act: () => {} },
  {
    name: "is-slow-to-begin",
    json: "whole",
    stream: "whole",
    act: (socket, healthy) => void setTimeout(() => socket.write(framed(healthy)), 300),
  },
  {
    name: "drips",
    json: "whole",
    stream: "whole",
    act: (socket, healthy) => void drip(socket, chunked(healthy, [bodyOf(healthy)]), 11, 1),
  },
  {
    name: "closes-in-head",
    json: "error",
    stream: "error",
    act: (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-ty"),
  },
  {
    name: "closes-in-body",
    json: "error",
    stream: "broken",
    act: (socket, healthy) => void socket.end(half(healthy)),
  },
  {
    name: "resets-in-body",
    json: "error",
    stream: "broken",
    act(socket, healthy) {
      socket.write(half(healthy));
      setTimeout(() => socket.resetAndDestroy(), 20);
    },
  },
  {
    name: "stalls-in-body",
    json: "error",
    stream: "broken",
    act: (socket, healthy) => void socket.write(half(healthy)),
  },
  {
    name: "is-no-http",
    json: "error",
    stream: "error",
    act: (socket) => void socket.write("SSH-2.0-OpenSSH_9.2\r\n\r\n"),
  },
  {
    name: "garbles-an-event",
    json: "error",
    // The bytes of the client's own format are passed on as they are.
    stream: "either",
    translated: "broken",
    act(socket, healthy) {
      const [first = "", ...rest] = healthy.events;
      const body = healthy.stream ? [first, "data: {oops\n\n", ...rest].join("") : healthy.json.slice(0, -3);
      socket.write(framed(healthy, body));
    },
  },
  {
    name: "answers-html",
    json: "error",
    stream: "error",
    act(socket) {
      const page = "<html><body>Welcome to the proxy</body></html>";
      socket.write(`${HEAD}content-type: text/html\r\ncontent-length: ${page.length}\r\n\r\n${page}`);
    },
  },
  {
    name: "calls-an-error-200",
    json: "error",
    stream: "error",
    act: (socket, healthy) => void socket.write(framed({ ...healthy, stream: false }, healthy.errorBody)),
  },
  {
    name: "answers-204",
    json: "error",
    stream: "error",
    act: (socket) => void socket.write("HTTP/1.1 204 No Content\r\n\r\n"),
  },
  {
    name: "redirects",
    json: "error",
    stream: "error",
    act: (socket) =>
      void socket.write("HTTP/1.1 307 x\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
  },
  {
    name: "hints-first",
    json: "whole",
    stream: "whole",
    act: (socket, healthy) =>
      void socket.write(
        Buffer.concat([Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"), framed(healthy)]),
      ),
  },
  {
    name: "has-too-many-headers",
    json: "error",
    stream: "error",
    act: (socket, healthy) =>
      void socket.write(
        framed(healthy, bodyOf(healthy), Array.from({ length: 400 }, (_, n) => `x-${n}: 1\r\n`).join("")),
      ),
  },
  {
    name: "has-a-giant-header",
    json: "error",
    stream: "error",
    act: (socket, healthy) =>
      void socket.write(framed(healthy, bodyOf(healthy), `x: ${"y".repeat(200_000)}\r\n`)),
  },
  {
    name: "has-two-framings",
    json: "error",
    stream: "error",
    act: (socket, healthy) =>
      void socket.write(framed(healthy, bodyOf(healthy), "transfer-encoding: chunked\r\n")),
  },
  {
    name: "says-too-short",
    json: "error",
    stream: "broken",
    act(socket, healthy) {
      const body = bodyOf(healthy);
      socket.write(`${HEAD}${typeOf(healthy)}content-length: ${Math.floor(body.length / 2)}\r\n\r\n${body}`);
    },
  },
  {
    name: "says-too-long",
    json: "error",
    // All of a stream has come, terminator and all.
    stream: "either",
    act(socket, healthy) {
      const body = Buffer.from(bodyOf(healthy));
      socket.write(`${HEAD}${typeOf(healthy)}content-length: ${body.length + 50}\r\n\r\n`);
      socket.end(body);
    },
  },
  {
    name: "closes-between-chunks",
    json: "error",
    stream: "broken",
    act: (socket, healthy) => void socket.end(chunked(healthy, [bodyOf(healthy).slice(0, 60)], "")),
  },
  {
    name: "lies-about-a-chunk",
    json: "error",
    stream: "broken",
    act: (socket, healthy) => void socket.write(chunked(healthy, [bodyOf(healthy).slice(0, 60)], "zz\r\n")),
  },
  {
    name: "never-ends-its-json",
    json: "error",
    stream: "error",
    act(socket) {
      socket.write(`${HEAD}${JSON_TYPE}\r\n`);
      flood(socket, Buffer.alloc(256 * 1024, 32));
    },
  },
  {
    name: "comments-for-ever",
    json: "error",
    stream: "error",
    act(socket) {
      socket.write(`${HEAD}${SSE_TYPE}\r\n`);
      const beat = setInterval(
        () => void (socket.destroyed ? clearInterval(beat) : socket.write(": still here\n\n")),
        50,
      );
    },
  },
  {
    name: "never-ends-its-line",
    json: "error",
    stream: "broken",
    act(socket) {
      socket.write(`${HEAD}${SSE_TYPE}\r\ndata: `);
      flood(socket, Buffer.alloc(64 * 1024, 120));
    },
  },
  {
    name: "packs-a-bomb",
    json: "error",
    stream: "error",
    act(socket) {
      socket.write(`${HEAD}${JSON_TYPE}content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`);
      socket.write(BOMB);
    },
  },
  {
    name: "packs-twice",
    json: "error",
    stream: "error",
    act(socket, healthy) {
      const packed = gzipSync(gzipSync(bodyOf(healthy)));
      socket.write(
        `${HEAD}${typeOf(healthy)}content-encoding: gzip, gzip\r\ncontent-length: ${packed.length}\r\n\r\n`,
      );
      socket.write(packed);
    },
  },
  {
    name: "packs-unasked",
    json: "whole",
    stream: "whole",
    act(socket, healthy) {
      const packed = gzipSync(bodyOf(healthy));
      socket.write(
        `${HEAD}${typeOf(healthy)}content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`,
      );
      socket.write(packed);
    },
  },
  {
    name: "begins-with-an-error",
    json: "error",
    stream: "error",
    act: (socket, healthy) =>
      void socket.write(
        healthy.stream ? framed(healthy, healthy.errorEvent) : framed(healthy, healthy.errorBody),
      ),
  },
  {
    name: "fails-in-mid-stream",
    json: "whole",
    stream: "broken",
    act(socket, healthy) {
      const some = healthy.events.slice(0, -3).join("") + healthy.errorEvent;
      socket.write(healthy.stream ? framed(healthy, some) : framed(healthy));
    },
  },
  {
    name: "leaves-the-terminator-out",
    json: "whole",
    stream: "either",
    act: (socket, healthy) =>
      void socket.end(framed(healthy, healthy.stream ? healthy.events.slice(0, -1).join("") : healthy.json)),
  },
  {
    name: "stays-open-behind-its-end",
    json: "error",
    stream: "whole",
    act: (socket, healthy) => void socket.write(`${HEAD}${typeOf(healthy)}\r\n${bodyOf(healthy)}`),
  },
  {
    name: "ends-lines-in-cr-lf",
    json: "whole",
    stream: "whole",
    act: (socket, healthy) =>
      void socket.write(
        framed(healthy, healthy.stream ? `\ufeff${bodyOf(healthy).replaceAll("\n", "\r\n")}` : healthy.json),
      ),
  },
  {
    name: "ends-lines-in-cr",
    json: "whole",
    stream: "whole",
    act: (socket, healthy) =>
      void socket.write(
        framed(healthy, healthy.stream ? bodyOf(healthy).replaceAll("\n", "\r") : healthy.json),
      ),
  },
  {
    // Every character of several bytes is cut, and so is every line end.
    name: "sends-single-bytes",
    json: "whole",
    stream: "whole",
    act: (socket, healthy) => void drip(socket, framed(healthy), 1, 0),
  },
  {
    name: "speaks-http-1.0",
    json: "whole",
    stream: "whole",
    act: (socket, healthy) => void socket.end(`HTTP/1.0 200 OK\r\n${typeOf(healthy)}\r\n${bodyOf(healthy)}`),
  },
  {
    name: "names-no-type",
    json: "whole",
    stream: "error",
    act(socket, healthy) {
      const bytes = Buffer.from(bodyOf(healthy));
      socket.write(`${HEAD}content-length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    },
  },
  {
    name: "names-the-other-type",
    json: "error",
    stream: "error",
    act(socket, healthy) {
      const bytes = Buffer.from(bodyOf(healthy));
      const type = healthy.stream ? JSON_TYPE : SSE_TYPE;
      socket.write(`${HEAD}${type}content-length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    },
  },
  {
    name: "answers-the-other-way",
    json: "whole",
    stream: "whole",
    act: (socket, healthy) => void socket.write(framed({ ...healthy, stream: !healthy.stream })),
  },
  {
    name: "answers-before-it-read",
    json: "error",
    stream: "error",
    early: true,
    act: (socket, healthy) =>
      void socket.end(
        `HTTP/1.1 413 x\r\n${JSON_TYPE}connection: close\r\ncontent-length: ${healthy.errorBody.length}\r\n\r\n${healthy.errorBody}`,
      ),
  },
  {
    name: "says-more-than-asked",
    json: "whole",
    stream: "whole",
    act: (socket, healthy) =>
      void socket.write(
        Buffer.concat([framed(healthy), framed({ ...healthy, stream: false }, '{"forged":true}')]),
      ),
  },
  {
    name: "closes-behind-its-answer",
    json: "whole",
    stream: "whole",
    act(socket, healthy) {
      socket.write(framed(healthy));
      setTimeout(() => socket.end(), 1);
    },
  },
];
