/** The store: where it is, how large, how far behind, and what is deleted next. */
import { useState } from "preact/hooks";
import { readOnly } from "../../data/session.ts";
import type { Proof, Store } from "../../data/types.ts";
import type { Reading } from "../../data/use-api.ts";
import { useWrite } from "../../data/use-write.ts";
import { bytes } from "../../numbers/bytes.ts";
import { counted, percent, whole } from "../../numbers/counts.ts";
import { day } from "../../numbers/times.ts";
import { Button, Fault } from "../../parts/controls.tsx";
import { Mark } from "../../parts/icons.tsx";
import { Ago, Time } from "../../parts/numbers.tsx";
import { Facts, Panel } from "../../parts/panel.tsx";
import { Loaded } from "../../parts/states.tsx";

const DAY = 86_400_000;

const KINDS: Readonly<Record<Store["kind"], string>> = {
  sqlite: "File",
  postgres: "PostgreSQL",
  memory: "Memory",
};

export function StorePanel({ store }: { store: Reading<Store> }) {
  return (
    <Panel title="Store" busy={store.busy && !store.data}>
      <Loaded of={store} what="The store" rows={5}>
        {(data) => (
          <div class="body stack">
            {data.fault !== undefined && (
              <p class="c-bad" role="alert">
                <b>The store cannot be written.</b> {data.fault} Calls go on; records wait in memory.
              </p>
            )}
            <StoreFacts store={data} />
            <Check />
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function StoreFacts({ store }: { store: Store }) {
  const { kind, place, calls, oldestCall, waiting, keep, lastBackup } = store;
  const share = keep && keep.callBytes > 0 ? store.bytes / keep.callBytes : undefined;
  return (
    <Facts
      rows={[
        [KINDS[kind], kind === "memory" ? "only in memory: it ends with the gateway" : <code>{place}</code>],
        [
          "Size",
          <>
            {bytes(store.bytes)}
            {share !== undefined && kind === "sqlite" && (
              <span class="dim">
                , {percent(share)} of {bytes(keep!.callBytes)}
              </span>
            )}
          </>,
        ],
        [
          "Behind",
          waiting === 0 ? (
            "nothing waits to be written"
          ) : (
            <span class="c-warn">{counted(waiting, "record")} wait to be written</span>
          ),
        ],
        [
          "Calls",
          <>
            {whole(calls)}
            {oldestCall !== undefined && (
              <>
                , the oldest of <Time at={oldestCall} text={day(oldestCall)} />
              </>
            )}
          </>,
        ],
        keep && [
          "Kept",
          <>
            calls {counted(keep.calls, "day")}, sums by hour {counted(keep.hours, "day")}, by day for ever;
            sessions {counted(keep.sessions, "day")}
          </>,
        ],
        keep && oldestCall !== undefined
          ? [
              "Next to go",
              <>
                calls of {day(oldestCall)}, on {day(oldestCall + keep.calls * DAY)}; their sums stay
              </>,
            ]
          : undefined,
        [
          "Last backup",
          lastBackup ? (
            <>
              <Ago at={lastBackup.at} />, {bytes(lastBackup.bytes)}, <code>{lastBackup.place}</code>
            </>
          ) : (
            <span class="dim">none</span>
          ),
        ],
      ]}
    />
  );
}

/** Reads the whole file and reports damage. */
function Check() {
  const { busy, error, run } = useWrite<Proof>();
  const [result, setResult] = useState<Proof | undefined>(undefined);
  const check = async () => setResult(await run("POST", "/store/check", { body: {} }));
  return (
    <div class="stack">
      <div class="acts">
        <Button disabled={busy} why={readOnly()} onClick={() => void check()}>
          {busy ? "Reading all of it…" : "Check for damage"}
        </Button>
      </div>
      <Fault of={error?.message} />
      {result && (
        <ul class="stack" role="status">
          {result.checks.map(({ name, holds, detail }) => (
            <li key={name}>
              <Mark state={holds ? "ok" : "bad"}>
                {name}: {detail}
              </Mark>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
