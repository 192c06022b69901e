/** Who answered, with tokens and cost, when the record of the call is in the store. */
import { chargeStateOf, costOf, placeOf, servedBy } from "../../data/call-facts.ts";
import { hrefOf } from "../../data/location.ts";
import { counted, whole } from "../../numbers/counts.ts";
import { duration } from "../../numbers/durations.ts";
import { Money } from "../../parts/numbers.tsx";
import { Facts } from "../../parts/panel.tsx";
import { Waterfall } from "../calls/waterfall.tsx";
import type { Run } from "./run.ts";

export function OutcomePanel({ run: { call, id, isRunning, headers } }: { run: Run }) {
  if (id === undefined) return null;
  const link = (
    <a class="fig mono" href={hrefOf(`/calls/${id}`)}>
      {id}
    </a>
  );
  if (!call) {
    const provider = headers.find(([name]) => name === "x-weir-provider")?.[1];
    return (
      <Facts
        rows={[
          provider === undefined ? undefined : ["Answered by", provider],
          ["Call", link],
          isRunning ? undefined : ["Cost", <span class="dim">is being booked…</span>],
        ]}
      />
    );
  }
  const { attempts, ms, firstMs } = call;
  const last = servedBy(call);
  const held = Math.max(0, ...attempts.map((attempt) => attempt.held));
  const failed = attempts.length - 1;
  const state = chargeStateOf(call);
  return (
    <>
      <Waterfall call={call} />
      <Facts
        rows={[
          last && [
            call.outcome === "complete" ? "Answered by" : "Last asked",
            `${placeOf(last)}: ${last.model}${failed > 0 ? `, after ${counted(failed, "failed try", "failed tries")}` : ""}`,
          ],
          [
            "Took",
            `${duration(ms)}${firstMs === undefined ? "" : `, first token after ${duration(firstMs)}`}`,
          ],
          last && ["Tokens", tokens(last.usage)],
          last && [
            "Cost",
            <>
              <b>
                <Money nano={costOf(call)} state={state} />
              </b>{" "}
              {state}
              {held > 0 && (
                <>
                  , of <Money nano={held} /> held
                </>
              )}
            </>,
          ],
          ["Call", link],
        ]}
      />
    </>
  );
}

function tokens({
  input,
  cacheRead,
  cacheWrite,
  output,
  reasoning,
}: Readonly<Record<"input" | "cacheRead" | "cacheWrite" | "output" | "reasoning", number>>): string {
  const parts = [
    `${whole(input)} in`,
    ...(cacheRead > 0 ? [`${whole(cacheRead)} read from cache`] : []),
    ...(cacheWrite > 0 ? [`${whole(cacheWrite)} written to cache`] : []),
    `${whole(output)} out`,
    ...(reasoning > 0 ? [`${whole(reasoning)} of them reasoning`] : []),
  ];
  return parts.join(", ");
}
