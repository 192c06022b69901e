/** What the guards of one call found: counts and kinds, never values. */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { guardFacts, inWords, type GuardFacts, type Verdict } from "./columns.ts";
import type { BlockedAs } from "./declarations.ts";
import type { Guard } from "./guard.ts";

const VERDICTS = { replace: "replaced", mask: "masked", flag: "flagged", block: "blocked" } as const;

interface Noted {
  verdict: Verdict;
  count: number;
  kinds: Record<string, number>;
  place?: string;
}

export class Verdicts {
  readonly #noted: ReadonlyMap<Guard, Noted>;

  constructor(guards: readonly Guard[], call: Call) {
    this.#noted = new Map(guards.map((guard) => [guard, { verdict: "passed", count: 0, kinds: {} }]));
    guardFacts.set(call, this.#facts());
    this.#call = call;
  }
  readonly #call: Call;

  /** @param path of the text @param verdict default: what the guard does with values */
  note(guard: Guard, kind: string, path: string, verdict: Verdict = VERDICTS[guard.action]): void {
    const noted = this.#noted.get(guard)!;
    if (noted.verdict !== "unavailable" || verdict === "blocked") noted.verdict = verdict;
    noted.count++;
    noted.kinds[kind] = (noted.kinds[kind] ?? 0) + 1;
    noted.place ??= path;
    guardFacts.set(this.#call, this.#facts());
  }

  /** What the guard asks gave no verdict. */
  unavailable(guard: Guard): void {
    this.#noted.get(guard)!.verdict = "unavailable";
    guardFacts.set(this.#call, this.#facts());
  }

  /** Value of the header `x-weir-guards`. */
  get words(): string {
    return inWords(this.#facts());
  }

  #facts(): GuardFacts[] {
    return [...this.#noted].map(([{ name }, facts]) => ({ name, ...facts }));
  }
}

/** The error of a guard that blocks. It names the guard, the place and the kind, and no part of the value. */
export class BlockedError extends GatewayError {
  readonly as: BlockedAs;

  /** @param path of the text in a request; absent for answers */
  constructor({ name, as }: Guard, kind: string, path?: string) {
    const where = path ?? "the answer";
    super(
      "invalid-request",
      `The guard ${JSON.stringify(name)} refused ${where}: it holds a value of the kind ${kind}.`,
      { code: "blocked_by_guard", ...(path !== undefined && { param: path }), shouldRetry: false },
    );
    this.as = as;
  }
}
