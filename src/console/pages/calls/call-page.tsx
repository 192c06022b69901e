/** A call as a page. */
import type { CallEntry, getCall } from "../../data/types.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { go, hrefOf } from "../../data/location.ts";
import { type Reading, useApi } from "../../data/use-api.ts";
import { Button } from "../../parts/controls.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { onKey } from "../../shell/shortcuts.ts";
import { Page } from "../../shell/page.tsx";
import { CallDetail } from "./call-detail.tsx";
import { LiveView } from "./live-view.tsx";

export function CallPage({ rest: id }: { rest: string }) {
  const call = useApi<typeof getCall>(`/calls/${encodeURIComponent(id)}`);
  useEffect(() => onKey("Escape", () => (history.length > 1 ? history.back() : go("/calls"))), []);
  const crumbs = (
    <h1 class="crumbs">
      <a class="plain mid" href={hrefOf("/calls")}>
        Calls
      </a>
      <span class="dim"> / </span>
      <code class="clip">{id}</code>
    </h1>
  );
  return (
    <Page title={`Call ${id}`} crumbs={crumbs}>
      <div class="panel">
        {call.error?.status === 404 ? (
          <RunningOrNone id={id} onEnd={call.again} />
        ) : (
          <CallReading of={call} id={id}>
            {(data) => <CallDetail call={data} wide />}
          </CallReading>
        )}
      </div>
    </Page>
  );
}

function NoCall() {
  return (
    <Blank title="No call has this id." acts={<Button onClick={() => go("/calls")}>All calls</Button>}>
      Records of calls are kept for the days that Store & audit shows; their sums stay in Spend.
    </Blank>
  );
}

/** A call without a record: it runs, has just ended, or does not exist. */
function RunningOrNone({ id, onEnd }: { id: string; onEnd: () => void }) {
  const [isNone, setNone] = useState(false);
  return isNone ? <NoCall /> : <LiveView id={id} onEnd={onEnd} onNone={() => setNone(true)} />;
}

/** A call in its states; one that does not exist any more says so. */
export function CallReading(props: {
  of: Reading<CallEntry>;
  id: string;
  children: (call: CallEntry) => ComponentChildren;
}) {
  const { of: reading, id } = props;
  if (reading.error?.status === 404) return <NoCall />;
  return (
    <Loaded of={reading} what="The call" rows={8}>
      {props.children}
    </Loaded>
  );
}
