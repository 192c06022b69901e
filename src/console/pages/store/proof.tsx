/** The proof that calls, charges, sums and budgets agree to the nano-dollar: one line for each check. */
import { useState } from "preact/hooks";
import type { auditBooks, Proof } from "../../data/types.ts";
import { useApi } from "../../data/use-api.ts";
import { counted } from "../../numbers/counts.ts";
import { duration } from "../../numbers/durations.ts";
import { clock, moment } from "../../numbers/times.ts";
import { Button } from "../../parts/controls.tsx";
import { Shape } from "../../parts/icons.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Loaded } from "../../parts/states.tsx";

export function ProofPanel() {
  const [isNew, makeNew] = useState(false);
  const proof = useApi<typeof auditBooks>(isNew ? "/audit/books" : "/audit/books?age=60");
  const { busy, data, again } = proof;
  const { at } = data ?? {};
  return (
    <Panel
      title="The books"
      busy={busy}
      right={
        <>
          <span class="dim">{busy ? "reading rows…" : at !== undefined && `proved ${clock(at)}`}</span>
          <Button disabled={busy} onClick={() => (isNew ? again() : makeNew(true))}>
            Prove again
          </Button>
        </>
      }
    >
      <Loaded of={proof} what="The proof" rows={8}>
        {(data) => <Verdicts proof={data} />}
      </Loaded>
    </Panel>
  );
}

function Verdicts({ proof: { checks, holds, full, at, calls } }: { proof: Proof }) {
  const failed = checks.filter((check) => !check.holds);
  return (
    <>
      <p class="body verdict">
        {holds ? (
          <>
            <b>The books balance.</b>{" "}
            <span class="mid">{counted(checks.length, "check")} hold to the nano-dollar.</span>
          </>
        ) : (
          <>
            <b class="c-bad">The books do not balance.</b>{" "}
            <span class="mid">
              {failed.length} of {counted(checks.length, "check")} failed.
            </span>
          </>
        )}
      </p>
      {full && (
        <p class="body mid proven">
          All rows were proved {moment(full.at)}, in {duration(full.ms)}.{" "}
          {at !== undefined && at > full.at && `${counted(calls ?? 0, "newer call")}: ${clock(at)}. `}
          An old row that was changed by hand is found by a proof of all rows: once a night, by “Prove again”
          or by <code>weir audit</code>.
        </p>
      )}
      <ul class="verdicts">
        {[...failed, ...checks.filter((check) => check.holds)].map(({ name, holds: isHeld, detail }) => (
          <li key={name}>
            <Shape state={isHeld ? "ok" : "bad"} />
            <span>
              {name.charAt(0).toUpperCase() + name.slice(1)}
              <span class="vh">{isHeld ? ": holds" : ": does not hold"}</span>
            </span>
            <span class={isHeld ? "mid" : "c-bad"}>{detail}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
