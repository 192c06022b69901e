/** Weights of weir: integers from 1 to 1000. */

const MOST = 1000;

/** Whole numbers in about the same proportions as these positive ones, as small as they can be. */
export function wholeShares(weights: readonly number[]): number[] {
  const most = Math.max(...weights);
  const isWhole = weights.every((weight) => Number.isInteger(weight));
  const scale = isWhole && most <= MOST ? 1 : scaleOf(weights, most);
  const whole = weights.map((weight) => Math.max(1, Math.round(weight * scale)));
  const divisor = whole.reduce(greatestDivisor);
  return whole.map((weight) => weight / divisor);
}

/** The smallest power of ten that makes all weights whole, else what makes the largest one 1000. */
function scaleOf(weights: readonly number[], most: number): number {
  const decimal = [10, 100, 1000].find((scale) =>
    weights.every((weight) => Math.abs(weight * scale - Math.round(weight * scale)) < 1e-6),
  );
  return decimal !== undefined && most * decimal <= MOST ? decimal : MOST / most;
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
