/** Five figures of the moment. All but the last are links to what they are made of. */
import type { ComponentChildren } from "preact";
import type { LivePulse, Overview } from "../../data/types.ts";
import { counted, percent, whole } from "../../numbers/counts.ts";
import { duration } from "../../numbers/durations.ts";
import { dollars, MISSING } from "../../numbers/money.ts";
import { Figure } from "../../parts/controls.tsx";
import { Spark } from "../../parts/spark.tsx";

/** Fewer failed calls than this are given as a number beside the share. */
const FEW = 20;

export function Strip({ overview, pulse }: { overview: Overview; pulse: LivePulse | undefined }) {
  const { hour, today, firstToken, perMinute, failedPerMinute } = overview;
  const minutes = Math.max(1, perMinute.length);
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
        <Figure query={{ range: "1h" }}>{rate(hour.calls / minutes)}</Figure>
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
          hour.failed === 0
            ? `none of ${counted(hour.calls, "call")}`
            : `${hour.failed < FEW ? `${hour.failed} of ${whole(hour.calls)} calls` : `${whole(hour.failed)} calls`}${
                hour.commonest ? `, most ${hour.commonest.status}` : ""
              }`
        }
      >
        {hour.calls === 0 ? (
          MISSING
        ) : (
          <Figure query={{ range: "1h", outcome: "failed" }}>{percent(hour.failed / hour.calls)}</Figure>
        )}
      </Stat>
      <Stat
        name="First token, p95"
        more={
          firstToken.p50 === undefined ? "no streams in the last hour" : `p50 ${duration(firstToken.p50)}`
        }
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

/** Calls a minute: one decimal below ten. */
function rate(calls: number): string {
  return calls > 0 && calls < 9.95 ? calls.toFixed(1) : whole(calls);
}
