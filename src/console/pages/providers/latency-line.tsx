/** The 95th percentile of the first event over a time. A slice without calls is a gap. */
import type { DeploymentEntry } from "../../data/types.ts";
import { duration } from "../../numbers/durations.ts";

const WIDTH = 340;
const HEIGHT = 36;

interface Props {
  series: DeploymentEntry["series"];
  from: number;
  to: number;
  sliceMs: number;
  bad: boolean;
}

export function LatencyLine({ series, from, to, sliceMs, bad }: Props) {
  const points = series.filter(({ p95 }) => p95 !== undefined);
  if (points.length < 2) return <div class="latency dim">Too few calls for a line.</div>;
  const top = Math.max(...points.map(({ p95 = 0 }) => p95)) || 1;
  const x = (at: number) => ((at + sliceMs / 2 - from) / Math.max(1, to - from)) * WIDTH;
  const y = (ms: number) => HEIGHT - 2 - (ms / top) * (HEIGHT - 4);
  const path = points
    .map(({ at, p95 = 0 }, index) => {
      const isNext = index > 0 && at - points[index - 1]!.at <= sliceMs * 1.5;
      return `${isNext ? "L" : "M"}${x(at).toFixed(1)} ${y(p95).toFixed(1)}${isNext ? "" : "h0.01"}`;
    })
    .join("");
  return (
    <svg
      class={`spark latency ${bad ? "bad" : ""}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      height={HEIGHT}
      preserveAspectRatio="none"
      role="img"
      aria-label={`First token, p95, over the range: highest ${duration(top)}, last ${duration(points.at(-1)!.p95)}`}
    >
      <path d={path} />
    </svg>
  );
}
