/** A worker's side of repeats that arrive at another worker than their first request: it finds answers there, and gives its own. */
import type { Given, RepeatChannel, RepeatDown, SoughtRequest, Wanted } from "./messages.ts";
import type { Stoppable } from "../../core/stop.ts";
import { GivenAnswer } from "./given-answer.ts";
import type { Followed, Kept } from "./kept.ts";
import { RemoteAnswer } from "./remote-answer.ts";

/** State of a request in a worker. */
export interface Looked {
  kept?: Kept | undefined;
  /** A client may repeat an equal request that got no answer. */
  isRefused: boolean;
}

/** State of a request in the other workers. */
export interface Elsewhere {
  /** The line to the worker that has the answer. */
  line?: number;
  isRefused: boolean;
}

/** Longest wait for the keeper. Milliseconds. */
const SEEK_MS = 2_000;

export class OtherWorkers {
  readonly #channel: RepeatChannel;
  readonly #seeks = new Map<number, (found: Elsewhere) => void>();
  readonly #remote = new Map<number, RemoteAnswer>();
  readonly #given = new Map<number, GivenAnswer>();
  readonly #look: (request: SoughtRequest) => Promise<Looked>;
  /** Random bytes for digests, the same in all workers; absent until the keeper has sent them. */
  salt: Uint8Array | undefined;
  #last = 0;

  /** @param look finds an answer in this worker */
  constructor(channel: RepeatChannel, look: (request: SoughtRequest) => Promise<Looked>) {
    this.#channel = channel;
    this.#look = look;
    channel.listen({
      up: () => channel.send({ kind: "join" }),
      down: () => this.#down(),
      message: (message) => this.#receive(message),
    });
  }

  /** Asks the other workers. If that fails, the repeat is a new call. */
  seek(request: SoughtRequest): Promise<Elsewhere> {
    if (!this.#channel.isUp) return Promise.resolve({ isRefused: true });
    const number = ++this.#last;
    const { promise, resolve } = Promise.withResolvers<Elsewhere>();
    const timer = setTimeout(() => this.#found(number, { isRefused: true }), SEEK_MS);
    this.#seeks.set(number, (found) => {
      clearTimeout(timer);
      resolve(found);
    });
    this.#channel.send({ kind: "seek", number, request });
    return promise;
  }

  /** @param stop ends the wait @returns undefined if the answer is gone */
  follow(line: number, stop: Stoppable): Promise<Followed | undefined> {
    const answer = new RemoteAnswer((want) => {
      if (want === "nothing") this.#remote.delete(line);
      this.#say(line, { want });
    });
    this.#remote.set(line, answer);
    return answer.open(stop);
  }

  /** The answer at the end of a line is not wanted. */
  leave(line: number): void {
    this.#say(line, { want: "nothing" });
  }

  #say(line: number, said: Wanted | Given): void {
    if (this.#channel.isUp) this.#channel.send({ kind: "say", line, said });
  }

  #found(number: number, found: Elsewhere): void {
    const resolve = this.#seeks.get(number);
    this.#seeks.delete(number);
    if (resolve) resolve(found);
    else if (found.line !== undefined) this.leave(found.line);
  }

  #receive(message: RepeatDown): void {
    switch (message.kind) {
      case "salt":
        this.salt = message.salt;
        return;
      case "found":
        return this.#found(message.number, message);
      case "sought":
        return void this.#tell(message.line, message.request);
      case "said":
        return this.#said(message.line, message.said);
    }
  }

  async #tell(line: number, request: SoughtRequest): Promise<void> {
    const { kept, isRefused } = await this.#look(request);
    if (kept) {
      const given = new GivenAnswer(kept, request, (said) => this.#say(line, said));
      this.#given.set(line, given);
    }
    if (!this.#channel.isUp) return;
    const knows = isRefused ? "refused" : kept ? "kept" : "nothing";
    this.#channel.send({ kind: "know", line, knows });
  }

  #said(line: number, said: Wanted | Given): void {
    if (!("want" in said)) {
      if (!("head" in said) && !("piece" in said)) {
        const answer = this.#remote.get(line);
        this.#remote.delete(line);
        return answer?.receive(said);
      }
      return this.#remote.get(line)?.receive(said);
    }
    const given = this.#given.get(line);
    if (said.want === "nothing") this.#given.delete(line);
    given?.give(said.want);
  }

  /** The keeper has ended: no line goes on. */
  #down(): void {
    for (const number of [...this.#seeks.keys()]) this.#found(number, { isRefused: true });
    for (const answer of this.#remote.values()) answer.receive({ gone: true });
    for (const given of this.#given.values()) given.give("nothing");
    this.#remote.clear();
    this.#given.clear();
  }
}
