/** Whether two samples come from one distribution: the rank test of Mann and Whitney. */

/**
 * The chance of ranks at least as far apart as these if both samples come from one distribution; two-sided, by the normal
 * approximation with its correction for ties, which is good from some 20 values each.
 */
export function differenceOf(a: readonly number[], b: readonly number[]): number {
  const all = [...a.map((value) => ({ value, isA: true })), ...b.map((value) => ({ value, isA: false }))];
  all.sort((x, y) => x.value - y.value);
  const count = all.length;
  let [ranks, ties] = [0, 0];
  for (let from = 0, to = 0; from < count; from = to) {
    while (to < count && all[to]!.value === all[from]!.value) to++;
    const equal = to - from;
    ties += equal ** 3 - equal;
    // The middle of the ranks from + 1 to `to`.
    ranks += (all.slice(from, to).filter(({ isA }) => isA).length * (from + 1 + to)) / 2;
  }
  const u = ranks - (a.length * (a.length + 1)) / 2;
  const middle = (a.length * b.length) / 2;
  const spread = Math.sqrt(((a.length * b.length) / 12) * (count + 1 - ties / (count * (count - 1))));
  return spread === 0 ? 1 : 2 * (1 - normal(Math.abs(u - middle) / spread));
}

/** The share of the standard normal distribution below a value of at least 0 (Abramowitz and Stegun 26.2.17; error below 1e-7). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const factors = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
  const tail = factors.reduce((sum, factor, at) => sum + factor * t ** (at + 1), 0);
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * tail;
}
