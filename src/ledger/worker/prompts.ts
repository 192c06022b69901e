/** The prompts of attempts: their sections, and what the cache of the provider saved. Only for targets that report a cache. */
import { sessionHash } from "../session-hash.ts";
import type { Attempt, Call } from "../../core/call.ts";
import type { Usage } from "../../core/events.ts";
import type { PromptSource } from "../../core/ledger.ts";
import type { PriceRule } from "../charge.ts";
import { priceUsage } from "../prices/price.ts";
import type { PromptRecord } from "../record.ts";
import { Booking } from "./booking.ts";

/** After this number of answers to noted prompts that mention no cache, weir expects none of the target until one does. */
const ANSWERS_WITHOUT = 20;

export class Prompts {
  /** Answers of targets that mention no cache; minus infinity for a target that has read from a cache or written to it. */
  readonly #without = new Map<string, number>();

  note(attempt: Attempt, source: PromptSource): void {
    const { booking } = attempt;
    if (!(booking instanceof Booking) || this.#withoutOf(booking.applied.target) >= ANSWERS_WITHOUT) return;
    const affinity = source.affinity();
    const sections = affinity === "" ? undefined : source.sections();
    booking.prompt = sections && { affinity, sections };
  }

  #withoutOf(target: string): number {
    return this.#without.get(target) ?? 0;
  }

  /** The prompt of the attempt that answered, for the record of its call. */
  recordOf(call: Call): PromptRecord | undefined {
    const { attempt } = call;
    const booking = attempt?.booking;
    if (!(booking instanceof Booking) || attempt!.failure) return undefined;
    const { usage } = attempt!;
    const { target, rule } = booking.applied;
    const { prompt } = booking;
    if (usage.cacheRead + usage.cacheWrite > 0) this.#without.set(target, -Infinity);
    if (!prompt || usage.input + usage.cacheRead + usage.cacheWrite === 0) return undefined;
    if (this.#withoutOf(target) >= 0) {
      this.#without.set(target, this.#withoutOf(target) + 1);
      return undefined;
    }
    const { affinity, sections } = prompt;
    booking.session ??= sessionOf(call, affinity);
    return {
      parts: sections.parts,
      head: sections.head,
      hashes: sections.hashes.toBase64(),
      ...(rule && valueOf(usage, rule)),
    };
  }
}

/** Amount that the cache saved, and the extra cost of tokens that were not read from it. Nano-dollars. */
function valueOf(usage: Usage, rule: PriceRule): Pick<PromptRecord, "saved" | "dearer"> {
  const { input, cacheRead, cacheWrite } = usage;
  const { cost } = priceUsage(usage, rule);
  const costIf = (changes: Partial<Usage>) => priceUsage({ ...usage, ...changes }, rule).cost;
  const nothingWritten = { cacheWrite: 0, cacheWrite1h: 0 };
  return {
    saved: costIf({ ...nothingWritten, input: input + cacheRead + cacheWrite, cacheRead: 0 }) - cost,
    dearer: {
      write: Math.max(0, cost - costIf({ ...nothingWritten, cacheRead: cacheRead + cacheWrite })),
      input: Math.max(0, cost - costIf({ input: 0, cacheRead: cacheRead + input })),
    },
  };
}

/** 16 hexadecimal digits. Sessions of two callers are two sessions. */
export function sessionOf(call: Call, affinity: string): string {
  return sessionHash(call.principal?.id ?? "", affinity);
}
