/** What the guards of one call found: counts and kinds, never values. */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { Meter } from "../../core/metric.ts";
import { type Noted as Notable, Slot } from "../../core/slot.ts";
import { guardFacts, inWords, type GuardFacts, MOST_MARKS } from "./columns.ts";
import { type Action, type BlockedAs, PHASES, type Phase, type Verdict, VERDICTS } from "./declarations.ts";
import type { Guard } from "./guard.ts";
import {
  guardSeconds,
  guardUnavailable,
  guardUninspected,
  guardUnrestored,
  guardVerdicts,
} from "./metrics.ts";
import { digestOf, SHORT } from "./replace/token.ts";

const VERDICT_OF: Readonly<Record<Action, Verdict>> = {
  replace: "replaced",
  mask: "masked",
  flag: "flagged",
  block: "blocked",
  route: "routed",
};

/** A value that a guard found. */
export interface Value {
  readonly kind: string;
  /** As all of its spellings have it. */
  readonly normal: string;
}

class Noted {
  readonly #guard: Guard;
  readonly phases: Partial<Record<Phase, Verdict>> = {};
  readonly ms: Partial<Record<Phase, number>> = {};
  count = 0;
  readonly kinds: Record<string, number> = {};
  place: string | undefined;
  readonly marks: string[] = [];
  readonly uninspected: Record<string, number> = {};

  constructor(guard: Guard) {
    this.#guard = guard;
  }

  get name(): string {
    return this.#guard.name;
  }

  get verdict(): Verdict {
    const { input, output } = this.phases;
    return graver(graver("not-inspected", input), output);
  }

  facts(): GuardFacts {
    const { name, verdict, phases, count, kinds, place, marks, uninspected } = this;
    const { input = 0, output = 0 } = this.ms;
    return {
      ...{ name, verdict, phases, mode: this.#guard.mode, count, kinds },
      ...(place !== undefined && { place }),
      ...(marks.length > 0 && { marks: [...marks] }),
      ...(Object.keys(uninspected).length > 0 && { uninspected }),
      ms: Math.round((input + output) * 100) / 100,
    };
  }
}

/** @param place path of the text */
type OnFound = (guard: Guard, kind: string, place: string) => void;

/** The verdicts on a call, until its record is written. */
const open = new Slot<Verdicts>();

export class Verdicts {
  readonly #call: Call;
  readonly #secret: Uint8Array;
  readonly #noted: ReadonlyMap<Guard, Noted>;
  readonly #onFound: OnFound | undefined;
  /** By kind. */
  readonly #unrestored = new Map<string, number>();

  /**
   * @param secret of the caller, from which the marks of values are derived
   * @param onFound called with each value that a guard finds
   */
  constructor(guards: readonly Guard[], call: Call, secret: Uint8Array, onFound?: OnFound) {
    this.#onFound = onFound;
    this.#secret = secret;
    this.#noted = new Map(guards.map((guard) => [guard, new Noted(guard)]));
    this.#call = call;
    open.set(call, this);
  }

  /** They are for the record of another call or work. */
  noteFor(noted: Notable): void {
    open.set(noted, this);
  }

  /** A guard has read texts of a phase. @param ms how long it took */
  ran(guard: Guard, phase: Phase, ms: number): void {
    const noted = this.#noted.get(guard)!;
    noted.phases[phase] ??= "passed";
    noted.ms[phase] = (noted.ms[phase] ?? 0) + ms;
  }

  /** A guard has found a value. @param path of the text; empty: no text in particular @param verdict default: that of its action */
  note(
    guard: Guard,
    phase: Phase,
    { kind, normal }: Value,
    path: string,
    verdict = VERDICT_OF[guard.action],
  ): void {
    const noted = this.#noted.get(guard)!;
    this.#judge(guard, phase, verdict);
    this.#onFound?.(guard, kind, path);
    noted.count++;
    noted.kinds[kind] = (noted.kinds[kind] ?? 0) + 1;
    noted.place ??= this.placeOf(path) || undefined;
    if (normal === "" || noted.marks.length === MOST_MARKS) return;
    const mark = `${kind}_${digestOf(this.#secret, kind, normal).slice(0, SHORT)}`;
    if (!noted.marks.includes(mark)) noted.marks.push(mark);
  }

  /** A path without values: clients choose some names of members. */
  placeOf(path: string): string {
    let place = path;
    for (const guard of this.#noted.keys())
      for (const { start, end } of guard.find(place).toReversed())
        place = `${place.slice(0, start)}*${place.slice(end)}`;
    return place;
  }

  /** A verdict on all texts. @param kind why, in a word */
  flagged(guard: Guard, phase: Phase, kind: string): void {
    this.note(guard, phase, { kind, normal: "" }, "", "flagged");
  }

  /** A verdict on all texts, by which a guard blocks. @param kind why, in a word */
  judged(guard: Guard, phase: Phase, kind: string): BlockedError {
    this.note(guard, phase, { kind, normal: "" }, "", "blocked");
    const where = phase === "output" ? "the answer" : "the request";
    return new BlockedError(guard, kind, undefined, `refused ${where}: its verdict is ${kind}.`);
  }

  /** What is known of a guard so far. */
  of(guard: Guard): GuardFacts {
    return this.#noted.get(guard)!.facts();
  }

  /** A guard could not judge. */
  unavailable(guard: Guard, phase: Phase): void {
    this.#judge(guard, phase, "unavailable");
  }

  /** There is content in front of a guard that weir cannot read. */
  unread(guard: Guard, kind: string): void {
    const { uninspected } = this.#noted.get(guard)!;
    uninspected[kind] = (uninspected[kind] ?? 0) + 1;
  }

  /** An answer has a token without a value. */
  unrestored(kind: string): void {
    this.#unrestored.set(kind, (this.#unrestored.get(kind) ?? 0) + 1);
  }

  loseLogprobs(): void {
    const reporting = this.#call.attempt ?? this.#call;
    reporting.reportLoss("dropped", "logprobs", "they spell a text that a guard has replaced");
  }

  /** Value of the header `x-weir-guards`. @param isOpen the answer is still to come */
  words(isOpen = false): string {
    const words = inWords([...this.#noted.values()]);
    return isOpen ? words.replaceAll("=not-inspected", "=pending") : words;
  }

  /** Notes them for the record of the call, and counts them. */
  static settle(call: Call, meter: Meter): void {
    const verdicts = open.get(call);
    if (!verdicts) return;
    guardFacts.set(
      call,
      [...verdicts.#noted.values()].map((noted) => noted.facts()),
    );
    verdicts.#count(meter);
  }

  #judge(guard: Guard, phase: Phase, verdict: Verdict): void {
    const { phases } = this.#noted.get(guard)!;
    phases[phase] = graver(verdict, phases[phase]);
  }

  #count(meter: Meter): void {
    for (const { name, phases, ms, uninspected } of this.#noted.values()) {
      for (const phase of PHASES) {
        const verdict = phases[phase];
        if (verdict === undefined) continue;
        meter.add(guardVerdicts, [name, phase, verdict]);
        if (verdict === "unavailable") meter.add(guardUnavailable, [name, phase]);
        if (ms[phase] !== undefined) meter.observe(guardSeconds, [name, phase], ms[phase] / 1000);
      }
      for (const [kind, count] of Object.entries(uninspected))
        meter.add(guardUninspected, [name, kind], count);
    }
    for (const [kind, count] of this.#unrestored) meter.add(guardUnrestored, [kind], count);
  }
}

function graver(one: Verdict, other: Verdict | undefined): Verdict {
  return other && VERDICTS.indexOf(other) > VERDICTS.indexOf(one) ? other : one;
}

/** The error of a guard that blocks. It names the guard, the place and the kind, and no part of the value. */
export class BlockedError extends GatewayError {
  readonly as: BlockedAs;

  /** @param path of the text in a request; absent for answers @param words what the guard did, and why */
  constructor(
    { name, as }: Pick<Guard, "name" | "as">,
    kind: string,
    path?: string,
    words = `refused ${path ?? "the answer"}: it holds a value of the kind ${kind}.`,
  ) {
    super("invalid-request", `The guard ${JSON.stringify(name)} ${words}`, {
      code: "blocked_by_guard",
      ...(path !== undefined && { param: path }),
      shouldRetry: false,
    });
    this.as = as;
  }
}
