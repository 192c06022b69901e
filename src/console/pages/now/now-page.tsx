/** Now: what needs the operator, five figures, calls that run, calls as they end. */
import type { overview as getOverview } from "../../data/types.ts";
import { queryOf } from "../../data/api.ts";
import { apiFilter, filtersOf } from "../../data/filters.ts";
import { useLive } from "../../data/live.ts";
import { query } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { Loaded } from "../../parts/states.tsx";
import { Page } from "../../shell/page.tsx";
import { FirstRun } from "../first-run.tsx";
import { Ended, LiveControls } from "./ended.tsx";
import { Notes } from "./notes.tsx";
import { RunningTable } from "./running.tsx";
import { Said } from "./said.tsx";
import { Strip } from "./strip.tsx";

/** The figures are read again this often. Milliseconds. */
const AGAIN = 5_000;

export function NowPage() {
  const overview = useApi<typeof getOverview>("/overview", { every: AGAIN });
  const feed = useLive(queryOf(apiFilter(filtersOf(query.value))));
  const { data } = overview;
  const isFirstRun = data?.firstCall === false && feed.rows.value.length === 0;
  return (
    <Page title="Now" right={!isFirstRun && <LiveControls feed={feed} />}>
      {isFirstRun ? (
        <FirstRun overview={data} />
      ) : (
        <>
          <Loaded of={overview} what="The figures" rows={2}>
            {(data) => (
              <>
                <Notes notes={data.notes} />
                <Strip overview={data} pulse={feed.pulse.value} />
              </>
            )}
          </Loaded>
          <RunningTable running={feed.running.value} />
          <Ended feed={feed} />
          <Said feed={feed} />
        </>
      )}
    </Page>
  );
}
