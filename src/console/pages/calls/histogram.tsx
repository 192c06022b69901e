/** Calls over the range, failed ones on top. Dragging narrows the range. */
import { useRef, useState } from "preact/hooks";
import { setQuery } from "../../data/location.ts";
import type { CallsSummary } from "../../data/types.ts";
import { counted } from "../../numbers/counts.ts";
import { minute } from "../../numbers/times.ts";

const HEIGHT = 64;
const FLOOR = 62;
/** A drag shorter than this is a click. Pixels. */
const CLICK = 4;

export function Histogram({ summary, from }: { summary: CallsSummary; from: number }) {
  const frame = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<{ start: number; end: number } | undefined>(undefined);
  const begin = Math.min(from, summary.from ?? from);
  const span = Math.max(1, summary.to - begin);
  const top = Math.max(4, ...summary.slices.map(({ calls }) => calls));
  const place = (at: number) => ((at - begin) / span) * 100;
  const width = Math.max(0.15, (summary.sliceMs / span) * 100 - 0.15);
  const tall = (calls: number) => (calls === 0 ? 0 : Math.max(1.5, (calls / top) * (FLOOR - 4)));

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
    <>
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
        {summary.slices.map(({ at, calls, failed }) => {
          const high = tall(calls);
          const bad = failed === 0 ? 0 : Math.min(high, Math.max(1.5, (failed / calls) * high));
          return (
            <g key={at}>
              <title>{`${minute(at)}: ${counted(calls, "call")}${failed > 0 ? `, ${failed} failed` : ""}`}</title>
              <rect class="hit" x={`${place(at)}%`} width={`${width}%`} y="0" height={HEIGHT} />
              <rect
                class="ok"
                x={`${place(at)}%`}
                width={`${width}%`}
                y={FLOOR - high + bad}
                height={high - bad}
              />
              {bad > 0 && (
                <rect class="failed" x={`${place(at)}%`} width={`${width}%`} y={FLOOR - high} height={bad} />
              )}
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
      <div class="ends dim">
        <span>{minute(begin)}</span>
        <span class="w3">drag to narrow</span>
        <span>{Date.now() - summary.to < 120_000 ? "now" : minute(summary.to)}</span>
      </div>
    </>
  );
}
