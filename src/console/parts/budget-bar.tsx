/** How a budget stands, as a bar: spent solid, assumed hatched, held pale, the rest empty, a tick at each alert. */
import { dollars } from "../numbers/money.ts";
import { hatch } from "./hatch.tsx";

export interface BudgetBarProps {
  /** Nano-dollars. */
  limit: number;
  spent: number;
  assumed: number;
  held: number;
  left: number;
  /** The amount spent beyond the limit. */
  over?: number;
  /** Percentages of the limit. */
  alerts: readonly number[];
  /** `hot`: the first alert is reached; `full`: less is left than a usual call costs. */
  level: "" | "hot" | "full";
  big?: boolean;
}

/** Least share of a part that is not 0, so that it is seen. */
const LEAST = 0.008;
const HATCHES = { "": "td", hot: "c-warn", full: "c-bad" } as const;

export function BudgetBar({ limit, spent, assumed, held, left, alerts, level, big = false }: BudgetBarProps) {
  const height = big ? 16 : 10;
  // With an overrun the whole bar is what is booked, and the limit a line in it.
  const whole = Math.max(limit, spent + assumed + held, 1);
  const words = [
    `${dollars(spent)} spent`,
    ...(assumed > 0 ? [`${dollars(assumed)} assumed`] : []),
    ...(held > 0 ? [`${dollars(held)} held`] : []),
    left >= 0
      ? `${dollars(left)} left of ${dollars(limit)}`
      : `${dollars(-left)} over the limit of ${dollars(limit)}`,
  ].join(", ");
  const parts = widthsOf([spent, assumed, held], whole);
  return (
    <svg class={`bar ${big ? "big" : ""} ${level}`} height={height} role="img" aria-label={words}>
      <title>{words}</title>
      <rect class="left" width="100%" height={height} rx="2" />
      {parts[0]! > 0 && <rect class="spent" width={percentOf(parts[0]!)} height={height} rx="2" />}
      {parts[1]! > 0 && (
        <rect
          x={percentOf(parts[0]!)}
          width={percentOf(parts[1]!)}
          height={height}
          fill={hatch(HATCHES[level])}
        />
      )}
      {parts[2]! > 0 && (
        <rect
          class="held"
          x={percentOf(parts[0]! + parts[1]!)}
          width={percentOf(parts[2]!)}
          height={height}
        />
      )}
      {whole > limit && limit > 0 && (
        <rect
          class="over"
          x={percentOf(limit / whole)}
          width={percentOf(1 - limit / whole)}
          height={height}
        />
      )}
      {alerts
        .filter((percent) => percent < 100)
        .map((percent) => (
          <line
            key={percent}
            class="tick"
            x1={percentOf((percent * limit) / 100 / whole)}
            x2={percentOf((percent * limit) / 100 / whole)}
            y1={height - 3}
            y2={height + 2}
          />
        ))}
    </svg>
  );
}

/** Shares of the bar, at least {@link LEAST} each and together at most 1. */
function widthsOf(amounts: readonly number[], whole: number): number[] {
  const shares = amounts.map((amount) => (amount > 0 ? Math.max(LEAST, amount / whole) : 0));
  const excess = shares.reduce((sum, share) => sum + share, 0) - 1;
  const biggest = Math.max(...shares);
  return excess > 0 ? shares.map((share) => (share === biggest ? share - excess : share)) : shares;
}

const percentOf = (share: number) => `${(Math.max(0, Math.min(1, share)) * 100).toFixed(2)}%`;

/** The meaning of the parts of the bars. */
export function BudgetLegend() {
  return (
    <div class="key" aria-hidden="true">
      <span>
        <svg width="14" height="10">
          <rect class="fd" width="14" height="10" rx="2" />
        </svg>
        spent
      </span>
      <span>
        <svg width="14" height="10">
          <rect width="14" height="10" fill={hatch("td")} />
        </svg>
        assumed: cannot be known
      </span>
      <span>
        <svg width="14" height="10">
          <rect class="fd" width="14" height="10" fill-opacity="0.35" />
        </svg>
        held by running calls
      </span>
      <span>
        <svg width="14" height="10">
          <line x1="7" x2="7" y1="1" y2="10" stroke="currentColor" stroke-width="1.5" />
        </svg>
        alert
      </span>
    </div>
  );
}
