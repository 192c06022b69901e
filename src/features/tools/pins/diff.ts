/** What has changed in a definition, as lines of plain text for people. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { isRaw } from "./canonical.ts";
import { visible, visibleLines } from "./visible.ts";

export interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** Members in the order in which people read them. */
const ORDER = ["title", "description", "annotations", "inputSchema", "outputSchema"];

/** Pairs of lines that are compared for one answer: a server may send thousands of long texts. */
const MOST_PAIRS = 10_000_000;

/** What is left of them. What is longer is shown as removed and added. */
export interface DiffBudget {
  pairs: number;
}

export const diffBudget = (): DiffBudget => ({ pairs: MOST_PAIRS });

const MAX_DEPTH = 60;

/** @param before absent for a tool that is new @param after absent for one that is gone */
export function definitionDiff(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  budget: DiffBudget = diffBudget(),
): readonly DiffLine[] {
  return ORDER.flatMap((member) => {
    const lines = compare(linesOf(before?.[member]), linesOf(after?.[member]), budget);
    if (lines.length === 0 || (before && after && lines.every(({ sign }) => sign === " "))) return [];
    return [
      { sign: " ", text: member } as const,
      ...lines.map(({ sign, text }) => ({ sign, text: `  ${text}` })),
    ];
  });
}

/** A text as it is; anything else as JSON with sorted members, one on each line. */
function linesOf(value: Json | undefined): string[] {
  if (value === undefined) return [];
  return typeof value === "string" ? visibleLines(value) : written(value, "", "", 0);
}

function written(value: Json, indent: string, name: string, depth: number): string[] {
  const deeper = `${indent}  `;
  if (depth < MAX_DEPTH && Array.isArray(value) && value.some(isNested))
    return [
      `${indent}${name}[`,
      ...value.flatMap((one) => written(one, deeper, "", depth + 1)),
      `${indent}]`,
    ];
  if (depth < MAX_DEPTH && isObject(value) && !isRaw(value) && Object.keys(value).length > 0)
    return [
      `${indent}${name}{`,
      ...Object.keys(value)
        .sort()
        .flatMap((key) =>
          written(value[key] as Json, deeper, `${visible(JSON.stringify(key))}: `, depth + 1),
        ),
      `${indent}}`,
    ];
  return [`${indent}${name}${visible(JSON.stringify(value) ?? "null")}`];
}

const isNested = (value: Json) => typeof value === "object" && value !== null;

/** The longest common lines stay. */
function compare(before: readonly string[], after: readonly string[], budget: DiffBudget): DiffLine[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const rest = Math.min(before.length, after.length) - head;
  while (tail < rest && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const same = (lines: readonly string[]) => lines.map((text) => ({ sign: " ", text }) as const);
  return [
    ...same(before.slice(0, head)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail), budget),
    ...same(before.slice(before.length - tail)),
  ];
}

function middle(before: readonly string[], after: readonly string[], budget: DiffBudget): DiffLine[] {
  const pairs = before.length * after.length;
  if (pairs > budget.pairs) return [...removed(before), ...added(after)];
  budget.pairs -= pairs;
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let left = before.length - 1; left >= 0; left--)
    for (let right = after.length - 1; right >= 0; right--)
      common[left * width + right] =
        before[left] === after[right]
          ? common[(left + 1) * width + right + 1]! + 1
          : Math.max(common[(left + 1) * width + right]!, common[left * width + right + 1]!);
  const lines: DiffLine[] = [];
  let left = 0;
  let right = 0;
  while (left < before.length && right < after.length) {
    if (before[left] === after[right]) {
      lines.push({ sign: " ", text: before[left++]! });
      right++;
    } else if (common[(left + 1) * width + right]! >= common[left * width + right + 1]!)
      lines.push({ sign: "-", text: before[left++]! });
    else lines.push({ sign: "+", text: after[right++]! });
  }
  return [...lines, ...removed(before.slice(left)), ...added(after.slice(right))];
}

const removed = (lines: readonly string[]) => lines.map((text) => ({ sign: "-", text }) as const);
const added = (lines: readonly string[]) => lines.map((text) => ({ sign: "+", text }) as const);
