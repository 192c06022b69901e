/** The meaning of the colours, the hatch and the ticks of the chart. */
import type { Bar, Series } from "./figures.ts";
import type { Period } from "./period.ts";
import { Swatch } from "./tip.tsx";

export function Legend({
  series,
  bars,
  tick,
  step,
}: {
  series: readonly Series[];
  bars: readonly Bar[];
  /** The meaning of the ticks. */
  tick: string;
  step: Period["step"];
}) {
  const hasTicks = bars.some(({ before }) => before !== undefined);
  return (
    <div class="key" aria-hidden="true">
      {series.map(({ name, colour }) => (
        <span key={name}>
          <Swatch colour={colour} />
          <span class="clip">{name}</span>
        </span>
      ))}
      {bars.some(({ uncertain }) => uncertain > 0) && (
        <span>
          <Swatch colour="hatch" />
          uncertain
        </span>
      )}
      {hasTicks && (
        <span>
          <svg width="16" height="10">
            <line class="prev" x1="0" x2="16" y1="5" y2="5" />
          </svg>
          {tick}
        </span>
      )}
      <span class="dim">{step === "day" ? "days" : "times"} are UTC</span>
    </div>
  );
}
