/** The reference of a price rule: a digest of its content. */
import type { PriceRule } from "../charge.ts";

/** Hexadecimal digits of a reference. */
const DIGITS = 12;

/** The rule with its reference, which does not depend on the order of its members. */
export function withRef(content: Omit<PriceRule, "ref">): PriceRule {
  const ref = new Bun.CryptoHasher("sha256").update(canonical(content)).digest("hex").slice(0, DIGITS);
  return { ref, ...content };
}

/** JSON with sorted members, without those that are undefined. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}
