/** Cache: what the caches of providers saved, which section of a prompt broke them, and what that cost. */
import type { cacheReport } from "../../data/types.ts";
import { query } from "../../data/location.ts";
import { rangeOf } from "../../data/range.ts";
import { queryOf } from "../../data/api.ts";
import { useApi } from "../../data/use-api.ts";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { Page } from "../../shell/page.tsx";
import { filtersFor, SumFilterBar } from "../spend/filters.tsx";
import { GroupsPanel, isGroup } from "./groups.tsx";
import { Said } from "./said.tsx";
import { SessionsPanel } from "./sessions.tsx";

const USUAL_RANGE = "7d";
/** The filters that the sums of caches follow. */
const CACHE_FILTERS = ["key", "path", "tag", "model", "provider"] as const;

export function CachePage() {
  const { from, to } = rangeOf(query.value, USUAL_RANGE);
  const filters = filtersFor(query.value, CACHE_FILTERS);
  const by = isGroup(query.value["by"]) ? query.value["by"] : "key";
  const report = useApi<typeof cacheReport>(`/cache${queryOf({ by, from, to, ...filters })}`);
  return (
    <Page title="Cache" right={<RangePicker usual={USUAL_RANGE} />}>
      <section class={report.data ? "stack wide-gap" : "panel"} aria-label="Cache figures">
        <Loaded of={report} what="Cache figures" rows={6}>
          {(data) => (
            <>
              <SumFilterBar query={query.value} names={CACHE_FILTERS} />
              {data.total.calls === 0 ? (
                <section class="panel">
                  <Blank title="No provider has reported a cache in this time.">
                    Providers cache the beginning of a prompt from about a thousand tokens on. OpenAI and
                    Gemini do so by themselves; Anthropic where a block has <code>cache_control</code>.
                  </Blank>
                </section>
              ) : (
                <>
                  <Said report={data} by={by} />
                  <GroupsPanel report={data} by={by} range={{ from, to }} busy={report.busy} />
                  <SessionsPanel filters={{ from, to, ...filters }} />
                </>
              )}
            </>
          )}
        </Loaded>
      </section>
    </Page>
  );
}
