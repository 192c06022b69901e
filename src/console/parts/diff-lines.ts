/** Differences of two JSON values as lines, member by member. */

export interface DiffLine {
  sign: " " | "-" | "+";
  text: string;
}

/** Values deeper than this are compared as a whole. */
const MAX_DEPTH = 40;

/** Unchanged objects and lists are folded to `{…}` and `[…]`. */
export function diffJson(before: unknown, after: unknown): DiffLine[] {
  const lines: DiffLine[] = [];
  compare(before, after, "", "", "", lines, 0);
  return lines;
}

/** @param lead indent and name of the member @param tail the comma */
function compare(
  before: unknown,
  after: unknown,
  indent: string,
  name: string,
  tail: string,
  lines: DiffLine[],
  depth: number,
): void {
  if (isEqual(before, after)) {
    lines.push({ sign: " ", text: `${indent}${name}${folded(after)}${tail}` });
  } else if (depth < MAX_DEPTH && isObject(before) && isObject(after)) {
    lines.push({ sign: " ", text: `${indent}${name}{` });
    compareMembers(before, after, `${indent}  `, lines, depth + 1);
    lines.push({ sign: " ", text: `${indent}}${tail}` });
  } else if (depth < MAX_DEPTH && Array.isArray(before) && Array.isArray(after)) {
    lines.push({ sign: " ", text: `${indent}${name}[` });
    compareItems(before, after, `${indent}  `, lines, depth + 1);
    lines.push({ sign: " ", text: `${indent}]${tail}` });
  } else {
    if (before !== undefined) write(before, "-", indent, name, tail, lines);
    if (after !== undefined) write(after, "+", indent, name, tail, lines);
  }
}

/** Members in the order of `after`; each removed one is where it was. */
function compareMembers(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  indent: string,
  lines: DiffLine[],
  depth: number,
): void {
  const names = Object.keys(after);
  let last = -1;
  for (const name of Object.keys(before)) {
    const at = names.indexOf(name);
    if (at >= 0) last = Math.max(last, at);
    else names.splice(++last, 0, name);
  }
  names.forEach((name, index) => {
    const tail = index < names.length - 1 ? "," : "";
    compare(before[name], after[name], indent, `${JSON.stringify(name)}: `, tail, lines, depth);
  });
}

/** Equal items at both ends are folded to one line; those between are compared in pairs. */
function compareItems(
  before: readonly unknown[],
  after: readonly unknown[],
  indent: string,
  lines: DiffLine[],
  depth: number,
): void {
  const { head, tail } = equalEnds(before, after, isEqual);
  if (head > 0) lines.push({ sign: " ", text: `${indent}${unchanged(head, "item")},` });
  const count = Math.max(before.length, after.length) - head - tail;
  for (let index = 0; index < count; index++) {
    const left = index < before.length - head - tail ? before[head + index] : undefined;
    const right = index < after.length - head - tail ? after[head + index] : undefined;
    const comma = index < count - 1 || tail > 0 ? "," : "";
    compare(left, right, indent, "", comma, lines, depth);
  }
  if (tail > 0) lines.push({ sign: " ", text: `${indent}${unchanged(tail, "item")}` });
}

function write(
  value: unknown,
  sign: "-" | "+",
  indent: string,
  name: string,
  tail: string,
  lines: DiffLine[],
): void {
  const text = JSON.stringify(value, null, 2) ?? "null";
  const parts = `${name}${text}${tail}`.split("\n");
  for (const part of parts) lines.push({ sign, text: `${indent}${part}` });
}

function folded(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : "[…]";
  if (isObject(value)) return Object.keys(value).length === 0 ? "{}" : "{…}";
  return JSON.stringify(value) ?? "null";
}

const unchanged = (count: number, what: string) => `… ${count} ${what}${count === 1 ? "" : "s"} unchanged`;

/** How many items are equal at the beginning and at the end. */
function equalEnds<Item>(
  left: readonly Item[],
  right: readonly Item[],
  equal: (a: Item, b: Item) => boolean,
): { head: number; tail: number } {
  const shorter = Math.min(left.length, right.length);
  let head = 0;
  while (head < shorter && equal(left[head]!, right[head]!)) head++;
  let tail = 0;
  while (tail < shorter - head && equal(left[left.length - 1 - tail]!, right[right.length - 1 - tail]!))
    tail++;
  return { head, tail };
}

/** The order of members makes no difference. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, at) => isEqual(item, b[at]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
