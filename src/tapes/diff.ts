/** The difference between two lists of lines, as text for people. */

/** Equal lines that are shown around a difference. */
const AROUND = 2;
/** A longer line is cut around its first difference. Characters. */
const MOST_CHARACTERS = 160;
/** Beyond this number of comparisons the middle parts are shown as replaced. */
const MOST_COMPARISONS = 4_000_000;

type Row = readonly [sign: " " | "-" | "+", line: string];

/**
 * Lines that only `before` has begin with `-`, lines that only `after` has with `+`; equal lines far from a difference are
 * counted. Empty if both are equal.
 */
export function diffLines(before: readonly string[], after: readonly string[]): string[] {
  let first = 0;
  while (first < before.length && first < after.length && before[first] === after[first]) first++;
  let last = 0;
  const rest = Math.min(before.length, after.length) - first;
  while (last < rest && before.at(-1 - last) === after.at(-1 - last)) last++;
  const rows: Row[] = [
    ...before.slice(0, first).map((line) => [" ", line] as const),
    ...middle(before.slice(first, before.length - last), after.slice(first, after.length - last)),
    ...before.slice(before.length - last).map((line) => [" ", line] as const),
  ];
  return folded(rows);
}

function middle(before: readonly string[], after: readonly string[]): Row[] {
  const replaced = [...signed("-", before), ...signed("+", after)];
  if (before.length * after.length > MOST_COMPARISONS) return replaced;
  // Length of the longest common subsequence of the rests from each pair of positions.
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let b = before.length - 1; b >= 0; b--)
    for (let a = after.length - 1; a >= 0; a--)
      common[b * width + a] =
        before[b] === after[a]
          ? common[(b + 1) * width + a + 1]! + 1
          : Math.max(common[(b + 1) * width + a]!, common[b * width + a + 1]!);
  const rows: Row[] = [];
  let [b, a] = [0, 0];
  while (b < before.length && a < after.length) {
    if (before[b] === after[a]) {
      rows.push([" ", before[b++]!]);
      a++;
    } else if (common[(b + 1) * width + a]! >= common[b * width + a + 1]!) rows.push(["-", before[b++]!]);
    else rows.push(["+", after[a++]!]);
  }
  return [...rows, ...signed("-", before.slice(b)), ...signed("+", after.slice(a))];
}

function signed(sign: Row[0], lines: readonly string[]): Row[] {
  return lines.map((line) => [sign, line]);
}

function folded(rows: readonly Row[]): string[] {
  const changed = rows.flatMap(([sign], index) => (sign === " " ? [] : [index]));
  if (changed.length === 0) return [];
  const shown = new Set(
    changed.flatMap((index) => Array.from({ length: 2 * AROUND + 1 }, (_, by) => index + by - AROUND)),
  );
  const text: string[] = [];
  let hidden = 0;
  const tellHidden = () => {
    if (hidden > 0) text.push(`  [${hidden} equal ${hidden === 1 ? "line" : "lines"}]`);
    hidden = 0;
  };
  rows.forEach(([sign, line], index) => {
    if (!shown.has(index)) return void hidden++;
    tellHidden();
    text.push(`${sign} ${cut(line, counterpart(rows, index))}`);
  });
  tellHidden();
  return text;
}

/** The line that took the place of a changed line, if one did. */
function counterpart(rows: readonly Row[], index: number): string | undefined {
  const [sign] = rows[index]!;
  if (sign === " ") return undefined;
  const [other, step] = sign === "-" ? (["+", 1] as const) : (["-", -1] as const);
  let run = index;
  while (rows[run - 1]?.[0] === sign) run--;
  let end = index;
  while (rows[end + 1]?.[0] === sign) end++;
  const at = step > 0 ? end + 1 + (index - run) : run - 1 - (end - index);
  return rows[at]?.[0] === other ? rows[at][1] : undefined;
}

/** A long line around the first character in which it differs from the other one. */
function cut(line: string, other: string | undefined): string {
  if (line.length <= MOST_CHARACTERS) return line;
  let differs = 0;
  if (other !== undefined) while (differs < line.length && line[differs] === other[differs]) differs++;
  const from = Math.max(0, Math.min(differs - MOST_CHARACTERS / 3, line.length - MOST_CHARACTERS)) | 0;
  const part = line.slice(from, from + MOST_CHARACTERS);
  return `${from > 0 ? "…" : ""}${part}${from + MOST_CHARACTERS < line.length ? "…" : ""}`;
}
