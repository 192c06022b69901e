/** The running calls of a worker that operators watch. Without a watcher there is no timer, and a call pays one look at a member. */
import type { Call } from "../../../core/call.ts";
import type { Format } from "../../../core/format.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import { createMask } from "../../../gateway/recording/mask.ts";
import { forbids } from "../rules.ts";
import { AnswerReading } from "./answer-reading.ts";
import type { LiveDown, LiveFacts, LivePart, LiveUp } from "./messages.ts";

/** Between two messages about a call, and between two with its facts. Milliseconds. */
const EVERY_MS = 100;
const FACTS_MS = 1_000;
/** Text that waits for the keeper; what is older is left out. Characters. */
const MOST_WAITING = 65_536;
/** Messages with parts that the keeper has not taken over. */
const MOST_SENT = 4;

type Host = Pick<WorkerHost, "clock" | "hide" | "ledger">;

export interface LiveOptions {
  host: Host;
  /** Expressions of the operator for what is masked, of the config that serves. */
  patterns(): readonly RegExp[];
  send(message: LiveUp): void;
  formats: ReadonlyMap<string, Format>;
}

export class WatchedCalls {
  readonly #options: LiveOptions;
  readonly #watched = new Map<number, WatchedCall>();
  #timer: Timer | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  receive(message: LiveDown): void {
    if ("taken" in message) return this.#watched.get(message.taken)?.taken();
    if ("unwatch" in message) return this.#end(message.unwatch);
    const { watch, id } = message;
    const { host, send } = this.#options;
    const call = host.clock.calls().find((one) => one.id === id);
    if (!call || call.outcome !== undefined || call.watched) return send({ watch, none: true });
    const facts = host.ledger.soFar?.(call) as LiveFacts;
    if (forbids(call)) return send({ watch, facts, forbidden: true });
    send({ watch, facts });
    this.#watched.set(watch, new WatchedCall(watch, call, this.#options));
    this.#timer ??= setInterval(() => this.#tick(), EVERY_MS);
  }

  /** The keeper is gone, and with it those who watch. */
  clear(): void {
    for (const watch of this.#watched.keys()) this.#end(watch);
  }

  #tick(): void {
    for (const [watch, call] of this.#watched) if (call.tick()) this.#end(watch);
  }

  #end(watch: number): void {
    this.#watched.get(watch)?.leave();
    this.#watched.delete(watch);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

class WatchedCall {
  readonly #watch: number;
  readonly #call: Call;
  readonly #options: LiveOptions;
  readonly #reading: AnswerReading;
  #waiting: LivePart[] = [];
  #length = 0;
  /** Bytes before what waits that are not shown. */
  #lost: number;
  #sent = 0;
  #factsAt = performance.now();
  #isOver = false;

  constructor(watch: number, call: Call, options: LiveOptions) {
    const { host, formats, patterns } = options;
    const own = patterns();
    this.#watch = watch;
    this.#call = call;
    this.#options = options;
    this.#lost = call.attempt?.outputBytes ?? 0;
    const places = formats.get(call.format)?.client?.facts.places;
    this.#reading = new AnswerReading(places, createMask(host.hide, own), own);
    call.watched = (bytes) => this.#take(bytes);
  }

  /** @returns whether it is over, and all was sent */
  tick(): boolean {
    const { send, host } = this.#options;
    if (!this.#isOver && this.#call.outcome !== undefined) {
      this.#isOver = true;
      this.leave();
      this.#add(this.#reading.end());
    }
    const now = performance.now();
    if (!this.#isOver && now - this.#factsAt >= FACTS_MS) {
      this.#factsAt = now;
      send({ watch: this.#watch, facts: host.ledger.soFar?.(this.#call) as LiveFacts });
    }
    if ((this.#waiting.length > 0 || this.#lost > 0) && this.#sent < MOST_SENT) this.#send();
    if (!this.#isOver || this.#waiting.length > 0) return false;
    send({ watch: this.#watch, ended: true });
    return true;
  }

  taken(): void {
    this.#sent--;
  }

  leave(): void {
    this.#call.watched = undefined;
  }

  /** It must not throw: the answer of the client passes here. */
  #take(bytes: Uint8Array): void {
    try {
      this.#add(this.#reading.push(bytes));
    } catch {
      this.#lost += bytes.length;
    }
  }

  #add(parts: readonly LivePart[]): void {
    for (const part of parts) {
      const last = this.#waiting.at(-1);
      if (last?.part === part.part) last.text += part.text;
      else this.#waiting.push({ ...part });
      this.#length += part.text.length;
    }
    while (this.#length > MOST_WAITING) {
      const first = this.#waiting[0]!;
      const cut = Math.min(first.text.length, this.#length - MOST_WAITING);
      this.#lost += Buffer.byteLength(first.text.slice(0, cut));
      this.#length -= cut;
      first.text = first.text.slice(cut);
      if (first.text === "") this.#waiting.shift();
    }
  }

  #send(): void {
    const parts = this.#waiting;
    const lost = this.#lost;
    this.#waiting = [];
    this.#length = this.#lost = 0;
    this.#sent++;
    this.#options.send({ watch: this.#watch, parts, ...(lost > 0 && { lost }) });
  }
}
