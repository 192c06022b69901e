/** Amounts with a unit: sizes (`512MB`) and durations (`30d`). */
import { Type } from "@sinclair/typebox";

const BYTES: Readonly<Record<string, number>> = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 };
const MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A size; one MB is 1,048,576 bytes. */
export const size = (fallback: string, description: string) =>
  Type.String({
    ...{ pattern: "^[1-9]\\d{0,8}(B|KB|MB|GB|TB)$", "x-expects": "a size such as 512MB" },
    ...{ default: fallback, description },
  });

export const duration = (fallback: string, description: string) =>
  Type.String({
    ...{ pattern: "^[1-9]\\d{0,5}[smhd]$", "x-expects": "a duration such as 30d" },
    ...{ default: fallback, description },
  });

/** Bytes of a {@link size}. */
export const bytesIn = (text: string): number => amountIn(text, BYTES);

/** Milliseconds of a {@link duration}. */
export const msIn = (text: string): number => amountIn(text, MS);

function amountIn(text: string, units: Readonly<Record<string, number>>): number {
  const [, count, unit] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  return Number(count) * units[unit!]!;
}
