/** The parts of a bar of Spend. It repeats what the table and the bar's name say. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { dollars } from "../../numbers/money.ts";
import { hatch } from "../../parts/hatch.tsx";
import type { Bar, Series } from "./figures.ts";
import { bucketName, type Period } from "./period.ts";

interface Props {
  bar: Bar;
  series: readonly Series[];
  period: Period;
  /** Middle of the bar, and width of the chart. Pixels. */
  x: number;
  width: number;
}

export function Tip({ bar, series, period, x, width }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const tip = ref.current;
    if (!tip) return;
    const own = tip.offsetWidth;
    const left = x + 18 + own > width ? x - 18 - own : x + 18;
    // The policy of the page forbids style attributes; this is not one.
    tip.style.setProperty("left", `${Math.max(0, left)}px`);
  });
  return (
    <div class="tip" ref={ref} aria-hidden="true">
      <b>{bucketName(bar.at, period.step)}</b>
      <table>
        <tbody>
          {series.map(
            ({ name, colour }, index) =>
              bar.parts[index]! > 0 && (
                <tr key={name}>
                  <td class="clip">
                    <Swatch colour={colour} /> {name}
                  </td>
                  <td>{dollars(bar.parts[index])}</td>
                </tr>
              ),
          )}
          {bar.uncertain > 0 && (
            <tr>
              <td>
                <Swatch colour="hatch" /> uncertain
              </td>
              <td>~{dollars(bar.uncertain)}</td>
            </tr>
          )}
          <tr class="sum">
            <td>all</td>
            <td>{dollars(bar.cost)}</td>
          </tr>
          {bar.before !== undefined && (
            <tr class="dim">
              <td>same time before</td>
              <td>{dollars(bar.before)}</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

/** A patch of the colour of a series. */
export function Swatch({ colour }: { colour: Series["colour"] | "hatch" }) {
  return (
    <svg class="swatch" width="10" height="10" aria-hidden="true">
      {colour === "hatch" ? (
        <rect fill={hatch("t7")} width="10" height="10" />
      ) : (
        <rect class={`f${colour}`} width="10" height="10" rx="2" />
      )}
    </svg>
  );
}
