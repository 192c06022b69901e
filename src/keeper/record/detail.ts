/** The column `detail` of a call: members that only some calls have, as JSON, or as bare text the one that most calls have. */
import type { Usage } from "../../core/events.ts";
import type { PriceDoubt } from "../../ledger/charge.ts";
import type { AttemptRecord, CallRecord } from "../../ledger/record.ts";

/** Members that only some calls have: these, and those of columns. */
export interface CallDetail {
  losses?: CallRecord["losses"];
  /** Of a single attempt: its class unless `answered`, and the rest of its usage. */
  class?: AttemptRecord["class"];
  usage?: Partial<Usage>;
  /** Of a single attempt in rows of earlier versions; `flags` has it now. */
  doubt?: PriceDoubt;
  /** Only where the charge exceeds what was held. */
  expected?: number;
}

/** The member that is stored without its name and quotation marks where it is the only one: nearly every call has it. */
export const BARE = "upstreamId";

/** Printable ASCII that JSON would write as it is, and that does not begin as an object does. */
const BARE_TEXT = /^[!#-[\]-z|-~][ !#-[\]-~]*$/;

/** Whether a value of the member {@link BARE} is stored as bare text where it is the only member. */
export function isBare(value: unknown): value is string {
  return typeof value === "string" && BARE_TEXT.test(value);
}

/** @returns undefined for a call without such members */
export function packDetail(detail: CallDetail): string | undefined {
  let names = 0;
  for (const _ in detail) names++;
  if (names === 0) return undefined;
  const value = (detail as Readonly<Record<string, unknown>>)[BARE];
  return names === 1 && isBare(value) ? value : JSON.stringify(detail);
}

/** @param text what {@link packDetail} returned; null for nothing */
export function unpackDetail(text: string | null): CallDetail {
  if (text === null) return {};
  return text.startsWith("{") ? (JSON.parse(text) as CallDetail) : ({ [BARE]: text } as CallDetail);
}
