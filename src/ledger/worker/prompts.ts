/** The prompts of attempts: their sections, and what the cache of the provider saved. Only for targets that report a cache. */
import type { Attempt, Call } from "../../core/call.ts";
import type { Usage } from "../../core/events.ts";
import type { PromptSource } from "../../core/ledger.ts";
import type { PriceRule } from "../charge.ts";
import { priceUsage } from "../prices/price.ts";
import type { PromptRecord } from "../record.ts";
import { Booking } from "./booking.ts";

export class Prompts {
  /** Targets that have read from a cache or written to it. Others need no record. */
  readonly #caching = new Set<string>();

  note(attempt: Attempt, source: PromptSource): void {
    const { booking } = attempt;
    if (!(booking instanceof Booking)) return;
    const affinity = source.affinity();
    const sections = affinity === "" ? undefined : source.sections();
    booking.prompt = sections && { affinity, sections };
  }

  /** The prompt of the attempt that answered, for the record of its call. */
  recordOf(call: Call): PromptRecord | undefined {
    const { attempt } = call;
    const booking = attempt?.booking;
    if (!(booking instanceof Booking) || !booking.prompt || attempt!.failure) return undefined;
    const { usage } = attempt!;
    const { target, rule } = booking.applied;
    if (usage.cacheRead + usage.cacheWrite > 0) this.#caching.add(target);
    else if (usage.input === 0 || !this.#caching.has(target)) return undefined;
    const { affinity, sections } = booking.prompt;
    booking.session ??= sessionOf(call, affinity);
    return {
      parts: sections.parts,
      head: sections.head,
      hashes: sections.hashes.toBase64(),
      ...(rule && valueOf(usage, rule)),
    };
  }
}

/** What the cache saved, and what the tokens that were not read cost more than if they had been. Nano-dollars. */
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

/** 16 hexadecimal digits. Sessions of two keys are two sessions. */
export function sessionOf(call: Call, affinity: string): string {
  const text = `${call.access?.id ?? ""}\n${affinity}`;
  return new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
}
