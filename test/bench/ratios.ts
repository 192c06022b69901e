/** Ratios of two series that were measured in turns, with the interval that holds the true ratio in 95 of 100 runs. */

export interface Ratio {
  ratio: number;
  low: number;
  high: number;
}

/** 97.5 % quantiles of Student's distribution by degrees of freedom, from 1. */
const STUDENT = [
  12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.1,
  2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04,
];
const NORMAL = 1.96;

/**
 * The mean ratio of pairs, by their logarithms: twice as much and half as much weigh the same.
 * @param values as many as `others`, each measured beside its pair; above 0
 */
export function ratioOf(values: readonly number[], others: readonly number[]): Ratio {
  const logs = values.map((value, at) => Math.log(value / others[at]!));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const freedom = logs.length - 1;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / Math.max(1, freedom);
  const half =
    freedom === 0 ? Infinity : (STUDENT[freedom - 1] ?? NORMAL) * Math.sqrt(variance / logs.length);
  return { ratio: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) };
}

/** Whether the whole interval is on the worse side. */
export function isWorse({ low, high }: Ratio, moreIsBetter: boolean): boolean {
  return moreIsBetter ? high < 1 : low > 1;
}

/** `0.975  [0.951, 0.999]` */
export function showRatio({ ratio, low, high }: Ratio): string {
  const [mean, least, most] = [ratio, low, high].map((value) => value.toFixed(3));
  return `${mean}  [${least}, ${most}]`;
}
