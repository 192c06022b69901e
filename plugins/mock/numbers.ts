/** Generates numbers within the bounds of a JSON schema. */
import type { Json, JsonObject } from "weir";

/** Returns the wanted number if the schema allows it, else an allowed number near it. */
export function fitNumber(schema: JsonObject, wanted: number, whole: boolean): number {
  const range = readRange(schema);
  const step = readStep(schema.multipleOf, whole);
  return step === 0 ? fitBetween(range, wanted) : fitSteps(range, wanted, step);
}

/** Returns an allowed number that differs for each ordinal, if there are enough. @param ordinal from 0 */
export function countNumber(schema: JsonObject, ordinal: number, whole: boolean): number {
  const range = readRange(schema);
  const step = readStep(schema.multipleOf, whole) || Math.min(1, (range.high - range.low) / 1002);
  const first = Math.ceil(range.low / step) + (range.lowOpen ? 1 : 0);
  if (Number.isFinite(first)) return multiply(first + ordinal, step);
  const last = Math.floor(range.high / step) - (range.highOpen ? 1 : 0);
  return multiply(Number.isFinite(last) ? last - ordinal : ordinal + 1, step);
}

interface Range {
  low: number;
  high: number;
  /** The bound is exclusive. */
  lowOpen: boolean;
  highOpen: boolean;
}

/** `exclusiveMinimum` is a number; in old drafts a boolean that refers to `minimum`. */
function readRange(schema: JsonObject): Range {
  const low = Math.max(numberOr(schema.minimum, -Infinity), numberOr(schema.exclusiveMinimum, -Infinity));
  const high = Math.min(numberOr(schema.maximum, Infinity), numberOr(schema.exclusiveMaximum, Infinity));
  return {
    low,
    high,
    lowOpen: schema.exclusiveMinimum === low || schema.exclusiveMinimum === true,
    highOpen: schema.exclusiveMaximum === high || schema.exclusiveMaximum === true,
  };
}

function numberOr(value: Json | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

/** Returns the distance between two allowed numbers; 0 if every number is allowed. */
function readStep(multiple: Json | undefined, whole: boolean): number {
  if (typeof multiple !== "number" || multiple <= 0) return whole ? 1 : 0;
  if (!whole) return multiple;
  const factors = Array.from({ length: 1000 }, (_, index) => index + 1);
  return multiple * (factors.find((factor) => Number.isInteger(multiple * factor)) ?? 1);
}

function allows({ low, high, lowOpen, highOpen }: Range, value: number): boolean {
  return (lowOpen ? value > low : value >= low) && (highOpen ? value < high : value <= high);
}

function fitBetween(range: Range, wanted: number): number {
  if (allows(range, wanted)) return wanted;
  const { low, high } = range;
  if (Number.isFinite(low) && Number.isFinite(high)) return (low + high) / 2;
  return Number.isFinite(low) ? low + 1 : high - 1;
}

function fitSteps(range: Range, wanted: number, step: number): number {
  const near = [wanted, range.low, range.high]
    .filter(Number.isFinite)
    .map((value) => Math.round(value / step));
  const candidates = near
    .flatMap((count) => [count, count + 1, count - 1])
    .map((count) => multiply(count, step));
  return candidates.find((value) => allows(range, value)) ?? multiply(near[0]!, step);
}

/** Multiplies without binary rounding errors: 3 × 0.1 is 0.3. */
function multiply(count: number, step: number): number {
  return Number((count * step).toPrecision(12));
}
