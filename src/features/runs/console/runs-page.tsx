/** Runs and their forks, side by side. */
import { useApi } from "../../../console/data/use-api.ts";
import { count, counted, whole } from "../../../console/numbers/counts.ts";
import { Heads } from "../../../console/parts/heads.tsx";
import { Ago, MoneyCell } from "../../../console/parts/numbers.tsx";
import { Panel } from "../../../console/parts/panel.tsx";
import { Blank, Loaded } from "../../../console/parts/states.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type { listRuns, RunRow } from "../contracts.ts";

const HEADS = [
  ["Run"],
  ["Goes on"],
  ["Tools", "w3"],
  ["Calls", "num"],
  ["Tool calls", "num w3"],
  ["Prompt", "num w3"],
  ["Output", "num w3"],
  ["Cost", "num"],
  ["Own cost", "num"],
  ["Last message"],
  ["At", "num w3"],
] as const;

export function RunsPage() {
  const runs = useApi<typeof listRuns>("/runs");
  return (
    <Page title="Runs">
      <Panel
        label="Runs"
        busy={runs.busy}
        foot="Each run is followed by its forks. The own cost of a fork is without what came from the tape of its run."
      >
        <Loaded of={runs} what="Runs">
          {({ runs: all }) =>
            all.length === 0 ? (
              <Blank title="No runs.">
                weir record writes a run, and weir fork goes on from one of its calls with another model.
              </Blank>
            ) : (
              <div class="scroll">
                <table class="tbl wraps">
                  <Heads of={HEADS} />
                  <tbody>
                    {all.map((one) => (
                      <Row key={one.run} of={one} />
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}

function Row({ of: { run, at, fork, all, own, last } }: { of: RunRow }) {
  return (
    <tr>
      <td>
        <code>{run}</code>
        {all.failed > 0 && <span class="c-bad"> {counted(all.failed, "failed call")}</span>}
      </td>
      <td>
        {fork && (
          <>
            <code>{fork.parent}</code> at {fork.at} with {fork.model}
          </>
        )}
      </td>
      <td class="w3">{fork?.tools}</td>
      <td class="num">{whole(all.calls)}</td>
      <td class="num w3">{whole(all.tools)}</td>
      <td class="num w3">{count(all.input)}</td>
      <td class="num w3">{count(all.output)}</td>
      <td class="num">
        <MoneyCell nano={all.cost} unsure={all.unknown > 0} />
      </td>
      <td class="num">
        <MoneyCell nano={own.cost} unsure={own.unknown > 0} />
      </td>
      <td class="anywhere">{last}</td>
      <td class="num w3">{at !== undefined && <Ago at={at} />}</td>
    </tr>
  );
}
