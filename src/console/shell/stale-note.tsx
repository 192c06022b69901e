/** On top of every page while weir does not answer. The figures stay. */
import { heardAt, silentSince } from "../data/api.ts";
import { now } from "../data/clock.ts";
import { Shape } from "../parts/icons.tsx";
import { age } from "../numbers/durations.ts";
import { clock } from "../numbers/times.ts";

export function StaleNote() {
  const since = silentSince.value;
  if (since === undefined) return null;
  return (
    <div class="note warn" role="alert">
      <Shape state="warn" />
      <span>
        <b>No word from weir for {age(Math.max(1_000, now.value - since))}.</b>{" "}
        {heardAt.value > 0 && `Figures are those of ${clock(heardAt.value)}. `}The console tries again by
        itself.
      </span>
    </div>
  );
}
