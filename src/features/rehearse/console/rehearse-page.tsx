/** Rehearse: which of the last calls a new config would answer otherwise, before it is on the disk. */
import { useState } from "preact/hooks";
import { useApi } from "../../../console/data/use-api.ts";
import { useWrite } from "../../../console/data/use-write.ts";
import { bytes } from "../../../console/numbers/bytes.ts";
import { counted } from "../../../console/numbers/counts.ts";
import { Time } from "../../../console/parts/numbers.tsx";
import { Panel } from "../../../console/parts/panel.tsx";
import { Blank, Loaded } from "../../../console/parts/states.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type { getOutlines, RehearsalOutlines, RehearsalReport } from "../page/contracts.ts";
import { RehearsalForm } from "./form.tsx";
import { Report } from "./report.tsx";

const EVERY = 10_000;
/** A rehearsal takes 120 s at most, and weir answers then. Milliseconds. */
const PATIENCE = 130_000;
const EXAMPLE = `rehearse:
  outlines: on`;

export function RehearsePage() {
  const outlines = useApi<typeof getOutlines>("/rehearsals/outlines", { every: EVERY });
  const write = useWrite<RehearsalReport>();
  const [report, setReport] = useState<RehearsalReport>();
  const run = async (body: object) => {
    setReport(undefined);
    setReport(await write.run("POST", "/rehearsals", { body, patience: PATIENCE }));
  };
  return (
    <Page title="Rehearse">
      <Panel
        title="New config"
        busy={outlines.busy && !outlines.data}
        right={outlines.data && <Known of={outlines.data} />}
        foot="weir compares it with the config on the disk, by outlines of calls: their shape without a text. It asks no provider and changes nothing."
      >
        <Loaded of={outlines} what="Outlines" rows={3}>
          {({ number }) =>
            number === 0 ? (
              <Blank
                title="No outline of a call."
                acts={
                  <pre class="code" tabIndex={0}>
                    {EXAMPLE}
                  </pre>
                }
              >
                weir keeps them where the configuration says so, or names a state folder.
              </Blank>
            ) : (
              <RehearsalForm busy={write.busy} error={write.error} onRun={(body) => void run(body)} />
            )
          }
        </Loaded>
      </Panel>
      {report && <Report of={report} />}
    </Page>
  );
}

function Known({ of: { number, bytes: size, oldest } }: { of: RehearsalOutlines }) {
  return (
    <span class="dim w3">
      {counted(number, "outline")}, {bytes(size)}
      {oldest !== undefined && (
        <>
          , since <Time at={oldest} />
        </>
      )}
    </span>
  );
}
