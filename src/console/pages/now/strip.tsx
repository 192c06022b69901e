/** Five figures of the moment. All but the last are links to what they are made of. */
import type { ComponentChildren } from "preact";
import type { LivePulse, Overview } from "../../data/types.ts";
import { counted, percent, whole } from "../../numbers/counts.ts";
import { duration } from "../../numbers/durations.ts";
import { dollars, MISSING } from "../../numbers/money.ts";
import { minute } from "../../numbers/times.ts";
import { Figure } from "../../parts/controls.tsx";
import { Spark } from "../../parts/spark.tsx";

/** Minutes over which "now" is meant. */
const RECENT = 5;
/** Fewer failed calls than this are given as a number beside the share. */
const FEW = 20;

export function Strip({ overview, pulse }: { overview: Overview; pulse: LivePulse | undefined }) {
  const { hour, today, firstToken, perMinute, failedPerMinute } = overview;
  // The last minute is not over.
  const recent = perMinute.slice(-1 - RECENT, -1);
  const running = pulse?.running ?? overview.running.calls;
  const held = pulse?.held ?? overview.running.held;
  const shares = perMinute.map((calls, at) => (calls === 0 ? 0 : (failedPerMinute[at] ?? 0) / calls));
  return (
    <div class="strip">
      <Stat
        name="Calls a minute"
        line={<Spark values={perMinute} />}
        more={`${whole(hour.calls)} in the last hour`}
      >
        <Figure query={{ range: "1h" }}>
          {rate(recent.reduce((sum, calls) => sum + calls, 0) / RECENT)}
        </Figure>
      </Stat>
      <Stat
        name="Spent today"
        more={
          today.uncertain > 0 ? (
            <>
              <Figure query={{ from: today.from, state: "uncertain" }}>
                <span class="unsure">~{dollars(today.uncertain)}</span>
              </Figure>{" "}
              of it uncertain
            </>
          ) : today.unpriced > 0 ? (
            <Figure query={{ from: today.from, state: "unpriced" }}>
              {counted(today.unpriced, "call")} unpriced
            </Figure>
          ) : (
            `${counted(today.calls, "call")} since 00:00 UTC`
          )
        }
      >
        <Figure query={{ from: today.from }}>{dollars(today.cost)}</Figure>
      </Stat>
      <Stat
        name="Errors, last hour"
        line={<Spark values={shares} bad={hour.failed > 0} />}
        more={
          <>
            {errors(hour)}
            {hour.rejected > 0 && (
              <>
                ; <Figure query={{ range: "1h", flag: "rejected" }}>{whole(hour.rejected)} rejected</Figure>
              </>
            )}
          </>
        }
      >
        {hour.calls === 0 ? (
          MISSING
        ) : (
          <Figure query={{ range: "1h", flag: "errors" }}>{percent(hour.failed / hour.calls)}</Figure>
        )}
      </Stat>
      <Stat
        name="First token, p95"
        more={`${firstToken.p50 === undefined ? "no streams" : `p50 ${duration(firstToken.p50)}`}${
          firstToken.since === undefined ? " in the last hour" : ` since ${minute(firstToken.since)}`
        }`}
      >
        {firstToken.p95 === undefined ? (
          MISSING
        ) : (
          <Figure query={{ range: "1h", flag: "slow" }} title="Open the slow calls of the last hour">
            {duration(firstToken.p95)}
          </Figure>
        )}
      </Stat>
      <Stat name="Running" more={running === 0 ? "nothing held" : `${dollars(held)} held for them`}>
        {whole(running)}
      </Stat>
    </div>
  );
}

function Stat(props: {
  name: string;
  line?: ComponentChildren;
  more: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div class="stat">
      <div class="k">{props.name}</div>
      <div class="v">{props.children}</div>
      {props.line ?? <span />}
      <div class="d">{props.more}</div>
    </div>
  );
}

/** `3 of 200 calls, most 502` */
function errors({ calls, failed, commonest }: Overview["hour"]): string {
  if (failed === 0) return `none of ${counted(calls, "call")}`;
  const count = failed < FEW ? `${failed} of ${whole(calls)} calls` : `${whole(failed)} calls`;
  return `${count}${commonest ? `, most ${commonest.status}` : ""}`;
}

/** Calls a minute: one decimal below ten. */
function rate(calls: number): string {
  return calls > 0 && calls < 9.95 ? calls.toFixed(1) : whole(calls);
}
