/**
 * Connects workers for repeats of requests: one has the repeat, another one the answer to the first request. The keeper asks all
 * others, and then passes on what the two say. It keeps no answer.
 */
import type { Given, Knowledge, RepeatDown, RepeatUp, SoughtRequest, Wanted } from "./messages.ts";

/** How long the keeper waits for the answers of the workers. Milliseconds. */
const ASK_MS = 1_000;
const SALT_BYTES = 32;

interface Peer {
  send(message: RepeatDown): void;
}

interface Line {
  seeker: Peer;
  /** The seeker's number of the question. */
  number: number;
  /** Workers that have not answered. */
  asked: Set<Peer>;
  owner?: Peer;
  isRefused: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Starts the part in the keeper. */
export const start = (): Repeats => new Repeats();

export class Repeats {
  readonly #salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  /** The workers in which paid once is on. */
  readonly #peers = new Set<Peer>();
  readonly #lines = new Map<number, Line>();
  #last = 0;

  /** @param send sends a message to the worker */
  connect(send: (message: RepeatDown) => void) {
    const peer: Peer = { send };
    return {
      receive: (message: RepeatUp) => this.#receive(peer, message),
      ended: () => this.#ended(peer),
    };
  }

  #receive(peer: Peer, message: RepeatUp): void {
    switch (message.kind) {
      case "join":
        this.#peers.add(peer);
        return peer.send({ kind: "salt", salt: this.#salt });
      case "seek":
        return this.#seek(peer, message.number, message.request);
      case "know":
        return this.#know(peer, message.line, message.knows);
      case "say":
        return this.#say(peer, message.line, message.said);
    }
  }

  #seek(seeker: Peer, number: number, request: SoughtRequest): void {
    const asked = new Set(this.#peers);
    asked.delete(seeker);
    const id = ++this.#last;
    const line: Line = { seeker, number, asked, isRefused: false, timer: undefined };
    this.#lines.set(id, line);
    if (asked.size === 0) return this.#answer(id, line);
    line.timer = setTimeout(() => this.#answer(id, line), ASK_MS);
    for (const peer of asked) peer.send({ kind: "sought", line: id, request });
  }

  #know(peer: Peer, id: number, knows: Knowledge): void {
    const line = this.#lines.get(id);
    if (!line?.asked.delete(peer)) return;
    if (knows === "refused") line.isRefused = true;
    if (knows === "kept" && line.owner) peer.send({ kind: "said", line: id, said: { want: "nothing" } });
    else if (knows === "kept") line.owner = peer;
    if (line.asked.size === 0) this.#answer(id, line);
  }

  /** Late answers of workers are ignored. */
  #answer(id: number, { seeker, number, owner, isRefused, timer, asked }: Line): void {
    clearTimeout(timer);
    asked.clear();
    seeker.send({ kind: "found", number, ...(owner && { line: id }), isRefused });
    if (!owner) this.#lines.delete(id);
  }

  /** Passes a message on to the other end of the line. */
  #say(peer: Peer, id: number, said: Wanted | Given): void {
    const line = this.#lines.get(id);
    const other = line && (peer === line.seeker ? line.owner : line.seeker);
    if (!other) return;
    if (isLast(said)) this.#lines.delete(id);
    other.send({ kind: "said", line: id, said });
  }

  #ended(peer: Peer): void {
    this.#peers.delete(peer);
    for (const [id, line] of this.#lines) {
      if (line.asked.has(peer)) this.#know(peer, id, "nothing");
      const { seeker, owner } = line;
      if (peer !== seeker && peer !== owner) continue;
      clearTimeout(line.timer);
      this.#lines.delete(id);
      if (peer === seeker) owner?.send({ kind: "said", line: id, said: { want: "nothing" } });
      else if (line.asked.size === 0) seeker.send({ kind: "said", line: id, said: { gone: true } });
      else seeker.send({ kind: "found", number: line.number, isRefused: true });
    }
  }
}

function isLast(said: Wanted | Given): boolean {
  if ("want" in said) return said.want === "nothing";
  return "end" in said || "failure" in said || "gone" in said || ("head" in said && said.body !== undefined);
}
