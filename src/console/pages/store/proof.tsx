/** The proof that calls, charges, sums and budgets agree to the nano-dollar: one line for each check. */
import { useState } from "preact/hooks";
import { type ApiError, get } from "../../data/api.ts";
import type { Proof } from "../../data/types.ts";
import { useApi } from "../../data/use-api.ts";
import { counted } from "../../numbers/counts.ts";
import { duration } from "../../numbers/durations.ts";
import { clock } from "../../numbers/times.ts";
import { Button } from "../../parts/controls.tsx";
import { Shape } from "../../parts/icons.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Loaded } from "../../parts/states.tsx";

interface Again {
  proof: Proof;
  at: number;
  ms: number;
}

export function ProofPanel() {
  const first = useApi<Proof>("/audit/books");
  const [again, setAgain] = useState<Again | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const prove = async () => {
    setBusy(true);
    setFault(undefined);
    const begin = performance.now();
    try {
      const proof = await get<Proof>("/audit/books");
      setAgain({ proof, at: Date.now(), ms: performance.now() - begin });
    } catch (cause) {
      setFault((cause as ApiError).message);
    }
    setBusy(false);
  };
  const at = again?.at ?? first.at;
  return (
    <Panel
      title="The books"
      busy={busy || first.busy}
      right={
        <>
          <span class="dim">
            {busy
              ? "reading all rows…"
              : at !== undefined && `proved ${clock(at)}${again ? `, in ${duration(again.ms)}` : ""}`}
          </span>
          <Button disabled={busy} onClick={() => void prove()}>
            Prove again
          </Button>
        </>
      }
    >
      {fault !== undefined && (
        <p class="body c-bad" role="alert">
          {fault}
        </p>
      )}
      <Loaded of={first} what="The proof" rows={8}>
        {(data) => <Verdicts proof={again?.proof ?? data} />}
      </Loaded>
    </Panel>
  );
}

function Verdicts({ proof: { checks, holds } }: { proof: Proof }) {
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
