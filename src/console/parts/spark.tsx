/** A small line beside a figure: zero-based, the newest value has a dot. */

const WIDTH = 92;
const HEIGHT = 28;

export function Spark(props: { values: readonly number[]; bad?: boolean; width?: number; height?: number }) {
  const { values, bad = false, width = WIDTH, height = HEIGHT } = props;
  if (values.length < 2) return <span />;
  const top = Math.max(...values) || 1;
  const points = values.map(
    (value, at) =>
      [(at / (values.length - 1)) * (width - 4), height - 3 - (value / top) * (height - 6)] as const,
  );
  const line = points.map(([x, y], at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const [endX, endY] = points.at(-1)!;
  return (
    <svg
      class={`spark ${bad ? "bad" : ""}`}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
    >
      <path class="area" d={`${line}L${endX} ${height}L0 ${height}Z`} />
      <path d={line} />
      <circle cx={endX} cy={endY} r="2.2" />
    </svg>
  );
}
