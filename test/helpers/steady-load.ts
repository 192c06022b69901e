/**
 * Clients that repeat nothing: each failure of a connection is counted. Some open a connection for each call, some keep theirs until
 * the server closes it, and some read streams one after another.
 */
import { connect, type Socket } from "node:net";

export interface SteadyOptions {
  port: number;
  /** The key of all calls. */
  key?: string;
  /** The key and the text of each call, in place of one key and one text for all. */
  ask?(): { key: string; text: string };
  /** Model of the calls, and of the streams. */
  models: { call: string; stream: string };
  /** Calls a second, each on a connection of its own. */
  fresh: number;
  /** Clients that keep their connection. */
  kept: number;
  /** Streams at the same time. */
  streams: number;
}

export interface Counted {
  /** Whole answers with status 200. */
  answered: number;
  /** Streams among them. */
  streamed: number;
  /** Connections that were refused. */
  refused: number;
  /** Answers that did not come to their end, or connections that ended with a request. */
  cut: number;
  /** Other answers: the first bytes of each. */
  others: string[];
}

/** Interval of the calls of {@link SteadyOptions.fresh}. Milliseconds. */
const TICK_MS = 10;
/** A kept connection rests so long between two calls. Milliseconds. */
const REST_MS = 15;

export class SteadyLoad {
  readonly #options: SteadyOptions;
  readonly #counted: Counted = { answered: 0, streamed: 0, refused: 0, cut: 0, others: [] };
  readonly #running: Promise<void>[];
  #isOn = true;

  constructor(options: SteadyOptions) {
    this.#options = options;
    this.#running = [
      this.#fresh(),
      ...Array.from({ length: options.kept }, () => this.#while(() => this.#kept())),
      ...Array.from({ length: options.streams }, () => this.#while(() => this.#one(true))),
    ];
  }

  get counted(): Readonly<Counted> {
    return this.#counted;
  }

  /** Ends when all answers have ended. */
  async stop(): Promise<Counted> {
    this.#isOn = false;
    await Promise.all(this.#running);
    return this.#counted;
  }

  async #while(run: () => Promise<void>): Promise<void> {
    while (this.#isOn) await run();
  }

  async #fresh(): Promise<void> {
    const calls = new Set<Promise<void>>();
    const began = performance.now();
    for (let made = 0; this.#isOn; await Bun.sleep(TICK_MS))
      for (; made < ((performance.now() - began) / 1000) * this.#options.fresh; made++) {
        const call = this.#one(false).finally(() => calls.delete(call));
        calls.add(call);
      }
    await Promise.all(calls);
  }

  /** A call on a connection of its own. */
  #one(stream: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let text = "";
    const take = (chunk: string) => void (text += chunk);
    const closed = () => {
      this.#judge(text, stream);
      resolve();
    };
    const socket = this.#open(take, closed, resolve);
    socket.once("connect", () => socket.write(this.#request(stream, true)));
    return promise;
  }

  #judge(text: string, stream: boolean): void {
    if (!text.startsWith("HTTP/1.1 200"))
      return void (text === "" ? this.#counted.cut++ : this.#counted.others.push(text.slice(0, 400)));
    const isWhole = stream
      ? /data: \[DONE\]\n\n\r\n0\r\n\r\n$|data: \[DONE\]\n\n$/.test(text)
      : isComplete(text);
    if (!isWhole) return void this.#counted.cut++;
    this.#counted.answered++;
    if (stream) this.#counted.streamed++;
  }

  /** Calls on one connection, until the server asks for its end or closes it between two calls. */
  #kept(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let text = "";
    let asks = false;
    let isLast = false;
    const ask = () => {
      if (isLast || socket.destroyed || socket.readyState !== "open") return;
      if (!this.#isOn) return void socket.end();
      text = "";
      asks = true;
      socket.write(this.#request(false, false));
    };
    const socket = this.#open(
      (chunk) => {
        text += chunk;
        if (!isComplete(text)) return;
        asks = false;
        isLast = /\r\nconnection: close\r\n/i.test(text);
        this.#judge(text, false);
        setTimeout(ask, REST_MS);
      },
      () => {
        if (asks) this.#counted.cut++;
        resolve();
      },
      resolve,
    );
    socket.once("connect", ask);
    return promise;
  }

  /** @param closed called when a connection that was accepted has ended @param refused when it was not accepted */
  #open(take: (chunk: string) => void, closed: () => void, refused: () => void): Socket {
    const socket = connect(this.#options.port, "127.0.0.1");
    let isConnected = false;
    socket.once("connect", () => (isConnected = true));
    socket.setEncoding("utf8").on("data", (chunk) => take(String(chunk)));
    socket.on("error", () => {});
    socket.on("close", () => {
      if (isConnected) return closed();
      this.#counted.refused++;
      refused();
    });
    return socket;
  }

  #request(stream: boolean, close: boolean): string {
    const { models, ask } = this.#options;
    const { key, text } = ask?.() ?? { key: this.#options.key, text: "hello" };
    const model = stream ? models.stream : models.call;
    const body = JSON.stringify({
      model,
      stream,
      max_tokens: 500,
      messages: [{ role: "user", content: text }],
    });
    return [
      "POST /v1/chat/completions HTTP/1.1",
      "host: 127.0.0.1",
      "content-type: application/json",
      ...(key === undefined ? [] : [`authorization: Bearer ${key}`]),
      ...(close ? ["connection: close"] : []),
      `content-length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n");
  }
}

/** Whether an answer with `content-length` is whole. */
function isComplete(text: string): boolean {
  const head = text.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, Math.max(0, head) + 2))?.[1];
  return head > 0 && length !== undefined && Buffer.byteLength(text.slice(head + 4)) >= Number(length);
}
