/** On top of every page while weir does not answer. The figures stay. */
import { heardAt, silentSince } from "../data/api.ts";
import { now } from "../data/clock.ts";
import { nextTry, tryNow } from "../data/silence.ts";
import { Button } from "../parts/controls.tsx";
import { Note } from "../parts/panel.tsx";
import { age } from "../numbers/durations.ts";
import { clock } from "../numbers/times.ts";

export function StaleNote() {
  const since = silentSince.value;
  if (since === undefined) return null;
  const next = nextTry.value;
  return (
    <>
      {/* The note counts on each second, which a screen reader would read aloud. */}
      <div class="vh" role="alert">
        weir does not answer.
      </div>
      <Note
        state="warn"
        acts={
          <Button kind="quiet" onClick={() => void tryNow()}>
            Try now
          </Button>
        }
      >
        <b>No word from weir for {age(Math.max(1_000, now.value - since))}.</b>{" "}
        {heardAt.value > 0 && `Figures are those of ${clock(heardAt.value)}. `}
        {next === undefined ? "Trying again." : `Trying again in ${age(Math.max(1_000, next - now.value))}.`}
      </Note>
    </>
  );
}
