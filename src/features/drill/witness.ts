/** Requests of the client in one run, and their outcomes. */
import type { Fault, Lasts } from "./faults.ts";

/** One request for an answer. Times are milliseconds since the start of the run. */
export interface Try {
  /** Digest of what the client asks; a repeated request has the same. */
  question: string;
  /** When the request had arrived. */
  at: number;
  /** The request met the fault; otherwise it got the whole answer. */
  faulty: boolean;
  /** When the answer or the fault had been delivered, or the connection closed; absent while the client waits. */
  endedAt?: number;
  /** The client closed the connection before all that it was to get was delivered. */
  left?: boolean;
  /** Bytes of the body that were sent, and of the whole answer. */
  sent: number;
  total: number;
}

/** The identity of a request for an answer. */
export interface AskedQuestion {
  question: string;
  /** The client offers tools. */
  tools: boolean;
}

/** More requests than this in one run are a flood; the drill then ends the client. */
export const FLOOD = 60;

/** Records the requests of one run, and decides which of them meet the fault. */
export class Witness {
  readonly #fault: Fault | undefined;
  readonly #now: () => number;
  readonly #onFlood: () => void;
  readonly #tries: Try[] = [];

  /**
   * @param fault absent in the baseline, where each request gets the whole answer
   * @param now milliseconds since the start of the run
   * @param onFlood called once, when the client has sent more than {@link FLOOD} requests
   */
  constructor(fault: Fault | undefined, now: () => number, onFlood: () => void) {
    this.#fault = fault;
    this.#now = now;
    this.#onFlood = onFlood;
  }

  /** Records a request for an answer. */
  arrived({ question, tools }: AskedQuestion): Try {
    const at = this.#now();
    const faulty = this.#fault !== undefined && this.#meets(this.#fault, question, tools, at);
    const made: Try = { question, at, faulty, sent: 0, total: 0 };
    this.#tries.push(made);
    if (this.#tries.length === FLOOD + 1) this.#onFlood();
    return made;
  }

  /** Records that nothing more is sent for a request. @param left the client closed the connection before */
  ended(made: Try, left: boolean): void {
    made.endedAt ??= this.#now();
    if (left) made.left = true;
  }

  /** A copy of the requests as they are now. */
  snapshot(): Try[] {
    return this.#tries.map((made) => ({ ...made }));
  }

  #meets({ lasts, script }: Fault, question: string, tools: boolean, at: number): boolean {
    if (script.kind === "refuse") return false;
    if (script.kind === "answer" && script.answer === "broken-call" && !tools) return false;
    return lastsFor(lasts, this.#tries, question, at);
  }
}

/** A client whose clock is so much faster still waits long enough. Milliseconds. */
const TOLERANCE_MS = 100;

function lastsFor(lasts: Lasts, tries: readonly Try[], question: string, at: number): boolean {
  if (lasts === "always") return true;
  if (lasts === "once") return !tries.some((made) => made.question === question);
  const first = tries.find(({ faulty }) => faulty);
  if (lasts === "first") return first === undefined;
  return first === undefined || at - first.at < lasts.seconds * 1_000 - TOLERANCE_MS;
}
