/** The sentence of Spend: how much, how much by the end, and what of it is not certain. */
import type { QueryChange } from "../../data/location.ts";
import { percent, whole } from "../../numbers/counts.ts";
import { dollars, exactDollars } from "../../numbers/money.ts";
import { Figure } from "../../parts/controls.tsx";
import { type Sums, uncertainOf } from "./figures.ts";
import { DAY, type Period } from "./period.ts";

interface Props {
  total: Sums | undefined;
  title: string;
  period: Period;
  forecast: number | undefined;
  calls: QueryChange;
}

export function Head({ total, title, period, forecast, calls }: Props) {
  const uncertain = total ? uncertainOf(total) : 0;
  return (
    <>
      <div>
        <div class="dim">{title}</div>
        <div class="big" {...(total && { title: exactDollars(total.cost) })}>
          {total ? <Figure query={calls}>{dollars(total.cost)}</Figure> : <span class="dim">…</span>}
        </div>
        <div class="mid">
          {forecast !== undefined &&
            `about ${about(forecast)} by ${ordinal(period.end - DAY)}, at the pace of the month so far`}
        </div>
      </div>
      <div class="mid grow doubts">
        {uncertain > 0 && (
          <div>
            <Figure query={{ ...calls, state: "uncertain" }}>
              <span class="unsure">~{dollars(uncertain)}</span>
            </Figure>{" "}
            of it is uncertain ({percent(uncertain / total!.cost)}): clients that left, attempts that timed
            out.
          </div>
        )}
        {total && total.unpriced > 0 && (
          <div>
            <Figure query={{ ...calls, state: "unpriced" }}>{whole(total.unpriced)} attempts</Figure> have no
            known price and are in no sum.{" "}
            <Figure to="/prices" title="Prices">
              Add a price
            </Figure>
          </div>
        )}
        {total && total.calls > 0 && uncertain === 0 && total.unpriced === 0 && (
          <div>All of it is certain, and every model has a price.</div>
        )}
      </div>
    </>
  );
}

/** A forecast with as many digits as it deserves. */
function about(nano: number): string {
  const amount = nano / 1e9;
  if (amount < 10) return dollars(Number((nano / 1e9).toPrecision(2)) * 1e9);
  const step = amount >= 100 ? 10 : 1;
  return `$${(Math.round(amount / step) * step).toLocaleString("en-US")}`;
}

/** `the 30th`. */
function ordinal(time: number): string {
  const date = new Date(time).getUTCDate();
  const end = { 1: "st", 2: "nd", 3: "rd" }[date % 10];
  return `the ${date}${date > 3 && date < 21 ? "th" : (end ?? "th")}`;
}
