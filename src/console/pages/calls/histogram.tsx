/** Calls over the range, failed ones on top. Dragging narrows the range. */
import { useRef, useState } from "preact/hooks";
import { setQuery } from "../../data/location.ts";
import type { CallsSummary } from "../../data/types.ts";
import { count, counted } from "../../numbers/counts.ts";
import { minute } from "../../numbers/times.ts";
import { ticksOf } from "./ticks.ts";

const HEIGHT = 64;
const FLOOR = 62;
/** A drag shorter than this is a click. Pixels. */
const CLICK = 4;
const LEAST_PERCENT = 0.15;

interface Props {
  summary: CallsSummary;
  from: number;
  /** The range ends now, and goes on. */
  isOpen: boolean;
}

export function Histogram({ summary, from, isOpen }: Props) {
  const frame = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<{ start: number; end: number } | undefined>(undefined);
  const begin = Math.min(from, summary.from ?? from);
  const span = Math.max(1, summary.to - begin);
  const top = Math.max(4, ...summary.slices.map(({ calls }) => calls));
  const place = (at: number) => Math.max(0, ((at - begin) / span) * 100);
  const tall = (calls: number) => (calls === 0 ? 0 : Math.max(1.5, (calls / top) * (FLOOR - 4)));
  /** A slice may begin before the range and end after it. */
  const barOf = (at: number) => {
    const end = Math.min(100, place(at + summary.sliceMs));
    const x = Math.min(place(at), 100 - LEAST_PERCENT);
    return { x: `${x}%`, width: `${Math.max(LEAST_PERCENT, end - x - LEAST_PERCENT)}%` };
  };

  /** Share of the width at which the pointer is. */
  const shareAt = (event: PointerEvent) => {
    const { left, width: pixels } = frame.current!.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - left) / pixels));
  };
  const narrow = (event: PointerEvent) => {
    if (!drag) return;
    const pixels = frame.current!.getBoundingClientRect().width;
    const end = shareAt(event);
    setDrag(undefined);
    const [low, high] = [Math.min(drag.start, end), Math.max(drag.start, end)];
    const at = (share: number) => begin + share * span;
    // A click chooses the slice below it.
    const slice = begin + Math.floor(((at(low) - begin) / summary.sliceMs) | 0) * summary.sliceMs;
    const isClick = (high - low) * pixels < CLICK;
    setQuery({
      range: undefined,
      open: undefined,
      from: Math.floor(isClick ? slice : at(low)),
      to: Math.ceil(isClick ? slice + summary.sliceMs : at(high)),
    });
  };

  const label = `${counted(summary.calls, "call")} from ${minute(begin)} to ${minute(summary.to)}, ${summary.failed} failed`;
  return (
    <div class="histo" title="Drag to narrow">
      <div class="axis dim" aria-hidden="true">
        <span>{count(top)}</span>
        <span>0</span>
      </div>
      <svg
        class="chart histogram"
        ref={frame}
        height={HEIGHT}
        role="img"
        aria-label={label}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = shareAt(event);
          setDrag({ start: at, end: at });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, end: shareAt(event) })}
        onPointerUp={narrow}
        onPointerCancel={() => setDrag(undefined)}
      >
        <line class="grid" x1="0" x2="100%" y1="4.5" y2="4.5" />
        {summary.slices.map(({ at, calls, failed }) => {
          const high = tall(calls);
          const bad = failed === 0 ? 0 : Math.min(high, Math.max(1.5, (failed / calls) * high));
          const bar = barOf(at);
          return (
            <g key={at}>
              <title>{`${minute(at)}: ${counted(calls, "call")}${failed > 0 ? `, ${failed} failed` : ""}`}</title>
              <rect class="hit" {...bar} y="0" height={HEIGHT} />
              <rect class="ok" {...bar} y={FLOOR - high + bad} height={high - bad} />
              {bad > 0 && <rect class="failed" {...bar} y={FLOOR - high} height={bad} />}
            </g>
          );
        })}
        <line class="base" x1="0" x2="100%" y1={FLOOR + 0.5} y2={FLOOR + 0.5} />
        {drag && (
          <rect
            class="drag"
            x={`${Math.min(drag.start, drag.end) * 100}%`}
            width={`${Math.abs(drag.end - drag.start) * 100}%`}
            y="0"
            height={HEIGHT}
          />
        )}
      </svg>
      <Times {...{ begin, isOpen }} end={summary.to} />
    </div>
  );
}

/** Both ends, and round times between them. */
function Times({ begin, end, isOpen }: { begin: number; end: number; isOpen: boolean }) {
  return (
    <svg class="chart times" height="20" aria-hidden="true">
      <text x="0" y="17">
        {minute(begin)}
      </text>
      {ticksOf(begin, end).map(({ at, label, share }) => (
        <g key={at}>
          <line class="base" x1={`${share * 100}%`} x2={`${share * 100}%`} y1="0" y2="4" />
          <text class="w3" x={`${share * 100}%`} y="17" text-anchor="middle">
            {label}
          </text>
        </g>
      ))}
      <text x="100%" y="17" text-anchor="end">
        {isOpen ? "now" : minute(end)}
      </text>
    </svg>
  );
}
