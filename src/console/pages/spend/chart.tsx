/** The bars of Spend: certain parts by series, the uncertain part hatched on top, a tick for the same time before. */
import { useState } from "preact/hooks";
import { hrefOf, type QueryChange } from "../../data/location.ts";
import { dollars } from "../../numbers/money.ts";
import { hatch } from "../../parts/hatch.tsx";
import { useWidth } from "../../parts/use-width.ts";
import { type Bar, rulesOf, type Series } from "./figures.ts";
import { bucketName, hourName, type Period, sizeOf } from "./period.ts";
import { Tip } from "./tip.tsx";

/** Pixels. */
interface Plot {
  width: number;
  height: number;
  left: number;
  bottom: number;
  /** Width of a bar with its gaps. */
  slot: number;
  gap: number;
  y: (nano: number) => number;
}

interface Props {
  bars: readonly Bar[];
  series: readonly Series[];
  period: Period;
  label: string;
  /** The filters of the page, which Calls takes over. */
  filters: QueryChange;
}

export function SpendChart({ bars, series, period, label, filters }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [at, setAt] = useState<{ bar: Bar; x: number } | undefined>();
  const plot = plotOf(bars, width);
  const top = plot.height - plot.bottom;
  return (
    <div class="plot" ref={ref} onMouseLeave={() => setAt(undefined)}>
      {width > 0 && (
        <svg class="chart" width={width} height={plot.height} role="group" aria-label={label}>
          {rulesOf(highest(bars)).map((value) => (
            <g key={value} aria-hidden="true">
              <line class="grid" x1={plot.left} x2={width} y1={plot.y(value)} y2={plot.y(value)} />
              <text x={plot.left - 8} y={plot.y(value) + 4} text-anchor="end">
                {axisOf(value)}
              </text>
            </g>
          ))}
          <line class="base" x1={plot.left} x2={width} y1={top + 0.5} y2={top + 0.5} />
          {bars.map((bar, index) => (
            <Column
              key={bar.at}
              {...{ bar, series, period, plot, filters }}
              x={plot.left + index * plot.slot}
              onPoint={(x) => setAt(bar.future ? undefined : { bar, x })}
            />
          ))}
          <Labels bars={bars} plot={plot} period={period} />
        </svg>
      )}
      {at && <Tip bar={at.bar} series={series} period={period} x={at.x} width={width} />}
    </div>
  );
}

/** Pixels of a bar at most. */
const WIDEST = 72;

interface ColumnProps {
  bar: Bar;
  series: readonly Series[];
  period: Period;
  plot: Plot;
  filters: QueryChange;
  x: number;
  onPoint: (x: number) => void;
}

function Column({ bar, series, period, plot, filters, x, onPoint }: ColumnProps) {
  const { slot, gap, y, height, bottom } = plot;
  const width = Math.max(1, Math.min(WIDEST, slot - 2 * gap));
  const left = x + (slot - width) / 2;
  let base = 0;
  const parts = bar.parts.map((cost, index) => {
    const from = base;
    base += cost;
    return { cost, from, colour: series[index]!.colour };
  });
  const tick = bar.before !== undefined && (
    <line class="prev" x1={left - 1} x2={left + width + 1} y1={y(bar.before)} y2={y(bar.before)} />
  );
  if (bar.future) return <g aria-hidden="true">{tick}</g>;
  const name = bucketName(bar.at, period.step);
  return (
    <a
      class="col"
      href={hrefOf("/calls", {
        ...filters,
        range: undefined,
        from: bar.at,
        to: bar.at + sizeOf(period.step),
      })}
      aria-label={`${name}: ${dollars(bar.cost)}${bar.uncertain > 0 ? `, ~${dollars(bar.uncertain)} of it uncertain` : ""}`}
      onMouseMove={() => onPoint(x + slot / 2)}
      onFocus={() => onPoint(x + slot / 2)}
    >
      <rect class="hit" x={x} y={0} width={slot} height={height - bottom} />
      {parts.map(
        ({ cost, from, colour }) =>
          cost > 0 && (
            <rect
              key={colour}
              class={`f${colour}`}
              x={left}
              width={width}
              y={y(from + cost)}
              height={y(from) - y(from + cost)}
            />
          ),
      )}
      {bar.uncertain > 0 && (
        <rect
          class="hatched"
          fill={hatch("t7")}
          x={left}
          width={width}
          y={y(base + bar.uncertain)}
          height={Math.max(1, y(base) - y(base + bar.uncertain))}
        />
      )}
      {tick}
    </a>
  );
}

/** Least pixels of a label with its gap. */
const LABEL = { day: 40, hour: 52, "5min": 52 };

function Labels({ bars, plot, period }: { bars: readonly Bar[]; plot: Plot; period: Period }) {
  const every = Math.max(1, Math.ceil(LABEL[period.step] / plot.slot));
  const now = bars.findIndex(({ current }) => current);
  const shown = bars
    .map((bar, index) => ({ bar, index }))
    .filter(
      ({ index }) => index === now || (index % every === 0 && (now < 0 || Math.abs(index - now) >= every)),
    );
  return (
    <g aria-hidden="true">
      {shown.map(({ bar, index }) => (
        <text key={bar.at} x={plot.left + (index + 0.5) * plot.slot} y={plot.height - 6} text-anchor="middle">
          {index === now ? (period.step === "day" ? "today" : "now") : labelOf(bar.at, period)}
        </text>
      ))}
    </g>
  );
}

function labelOf(at: number, { step }: Period): string {
  return step === "day" ? String(new Date(at).getUTCDate()) : hourName(at);
}

function highest(bars: readonly Bar[]): number {
  return Math.max(0, ...bars.map(({ cost, before = 0 }) => Math.max(cost, before)));
}

function plotOf(bars: readonly Bar[], width: number): Plot {
  const narrow = width < 560;
  const [height, bottom] = [narrow ? 180 : 250, 22];
  const top = highest(bars) * 1.08 || 1;
  const longest = Math.max(0, ...rulesOf(highest(bars)).map((value) => axisOf(value).length));
  const left = Math.max(narrow ? 28 : 40, 12 + longest * 7);
  return {
    width,
    height,
    left,
    bottom,
    slot: (width - left) / Math.max(1, bars.length),
    gap: narrow ? 1.5 : 4,
    y: (nano) => height - bottom - (nano / top) * (height - bottom - 8),
  };
}

/** A value of the axis: round, so that it needs few digits. */
function axisOf(nano: number): string {
  const amount = nano / 1e9;
  return amount >= 1
    ? `$${amount.toLocaleString("en-US", { maximumFractionDigits: 1 })}`
    : `$${Number(amount.toPrecision(2))}`;
}
