/** The most that a request can use, before it is sent. Pure arithmetic. */
import type { RequestSize } from "../../core/ledger.ts";
import { type Parts, sumOf } from "../margins.ts";
import type { PriceRule } from "../charge.ts";
import type { Nano } from "../money.ts";
import { costAtMost, isByTokens } from "../prices/price.ts";
import { serverToolsAtMost } from "../prices/unknown.ts";
import type { LedgerSettings } from "./settings.ts";

/** Tokens that providers add around a conversation, and for tools. */
const FRAME_TOKENS = 64;
const TOOL_TOKENS = 700;

/** A stream holds its first output, and this much more whenever what is left falls below `AHEAD`. Tokens. */
export const FIRST_OUTPUT = 4096;
export const NEXT_OUTPUT = 2048;
const AHEAD = 1024;

/** Input tokens that a request may have, by kinds, without what tools of the provider add. */
export function partsOf({ text, structure, mediaTokens, hasTools }: RequestSize): Parts {
  const { words, digits, signs, scripts } = text;
  const tools = hasTools ? TOOL_TOKENS : 0;
  return { words, digits, signs: signs + structure, scripts, media: mediaTokens, tools, frame: FRAME_TOKENS };
}

/** @param margin what the target is known to count more; tokens */
export function inputAtMost(
  size: RequestSize,
  rule: PriceRule | undefined,
  margin: number,
  { serverTools }: LedgerSettings,
): number {
  const tools = size.hasServerTools ? serverTools.tokens : 0;
  return Math.min(Math.ceil(sumOf(partsOf(size))) + tools + margin, rule?.window ?? Infinity);
}

/** The output to expect of all answers that the client wants, at most. */
export function outputAtMost(
  size: RequestSize,
  rule: PriceRule | undefined,
  settings: LedgerSettings,
): number {
  const most = rule?.maxOutput ?? Infinity;
  return Math.min(size.maxTokens ?? settings.maxOutput, most) * size.choices;
}

/** The client's limit, else the model's, for all answers that the client wants. Infinity if neither is known. */
export function outputPermitted({ maxTokens, choices }: RequestSize, rule: PriceRule | undefined): number {
  return (maxTokens ?? rule?.maxOutput ?? Infinity) * choices;
}

/** Amount that a visible stream holds before its first byte. */
export function firstOutput(full: number, choices: number): number {
  return Math.min(full, FIRST_OUTPUT * choices);
}

/** Amount that a stream holds next. @param counted the most tokens of its output so far */
export function nextOutput(held: number, full: number, counted: number): number {
  return Math.min(full, Math.max(held, Math.ceil(counted)) + NEXT_OUTPUT);
}

/** The output at which a hold must grow. Tokens; Infinity if the hold is complete. */
export function outputLimit(held: number, full: number): number {
  return held >= full ? Infinity : held - AHEAD;
}

export function costOf(
  rule: PriceRule | undefined,
  input: number,
  output: number,
  size: Pick<RequestSize, "hasServerTools" | "tier" | "speed" | "units"> | undefined,
  settings: LedgerSettings,
): Nano {
  if (!rule) return 0;
  const { tier, speed, units } = size ?? {};
  return (
    costAtMost(rule, { input, output, units, tier, speed }) +
    (size?.hasServerTools ? serverToolsAtMost(rule, settings.serverTools.cost) : 0)
  );
}

const NO_TOKENS = {
  ...{ text: { words: 0, digits: 0, signs: 0, scripts: 0 }, structure: 0, mediaTokens: 0, maxTokens: 0 },
} as const;

/** Of a request that is charged by units or by tokens, the size in that of which the price is known. */
export function chargedSize(size: RequestSize, rule: PriceRule | undefined): RequestSize {
  const { units, ...rest } = size;
  if (!size.instead || !units) return size;
  return isByTokens(rule, units) ? rest : { ...size, ...NO_TOKENS };
}
