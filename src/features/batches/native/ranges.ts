/** Ranges of lines: with several models, a batch of a provider has every second line, or less. */

/** @param ranges ascending, both ends inclusive */
export function isIn(ranges: readonly (readonly [from: number, to: number])[], line: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ranges[middle]![1] < line) low = middle + 1;
    else high = middle;
  }
  const found = ranges[low];
  return found !== undefined && found[0] <= line;
}
