/** Exact tails of the hypergeometric distribution: how rare it is that a window has that number of what all looks have. */

/** Logarithms of factorials, as far as they were needed. */
let factorials = new Float64Array([0, 0]);

function grow(to: number): void {
  if (to < factorials.length) return;
  const grown = new Float64Array(Math.max(to + 1, 2 * factorials.length));
  grown.set(factorials);
  for (let n = factorials.length; n < grown.length; n++) grown[n] = grown[n - 1]! + Math.log(n);
  factorials = grown;
}

/**
 * The logarithm of the probability that `drawn` of `all` things have at least `found` of the `marked` ones among them, if each
 * selection is equally likely.
 */
export function logTail(all: number, marked: number, drawn: number, found: number): number {
  grow(all);
  const most = Math.min(marked, drawn);
  if (found > most) return -Infinity;
  const least = Math.max(0, drawn + marked - all);
  if (found <= least) return 0;
  const f = factorials;
  const choose = (n: number, k: number) => f[n]! - f[k]! - f[n - k]!;
  const first = choose(marked, found) + choose(all - marked, drawn - found) - choose(all, drawn);
  // Each term follows from the one before it.
  let term = 1;
  let sum = 1;
  for (let k = found; k < most; k++) {
    term *= ((marked - k) * (drawn - k)) / ((k + 1) * (all - marked - drawn + k + 1));
    sum += term;
    if (term < sum * 1e-12) break;
  }
  return Math.min(0, first + Math.log(sum));
}

/** Near the same logarithm, without a sum: it tells which tails are worth one. */
export function roughLogTail(all: number, marked: number, drawn: number, found: number): number {
  const share = marked / all;
  if (found / drawn <= share) return 0;
  const rest = all - drawn;
  return -drawn * distance(found / drawn, share) - rest * distance((marked - found) / rest, share);
}

/** How far a share of what was seen is from another one (Kullback and Leibler). Nats. */
function distance(seen: number, share: number): number {
  const part = seen > 0 ? seen * Math.log(seen / share) : 0;
  return part + (seen < 1 ? (1 - seen) * Math.log((1 - seen) / (1 - share)) : 0);
}
