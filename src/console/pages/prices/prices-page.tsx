/** Prices & what-if: what another model would have cost, what has no price, prices in use, and invoices against the books. */
import type { usage } from "../../data/types.ts";
import { query } from "../../data/location.ts";
import { rangeOf } from "../../data/range.ts";
import { queryOf } from "../../data/api.ts";
import { useApi } from "../../data/use-api.ts";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Page } from "../../shell/page.tsx";
import { AgePanel } from "./age-panel.tsx";
import { InUsePanel } from "./in-use.tsx";
import { ModelsPanel } from "./models.tsx";
import { ReconcilePanel } from "./reconcile.tsx";
import { SearchPanel } from "./search.tsx";
import { WhatIfPanel } from "./what-if.tsx";

export const USUAL_RANGE = "month";

export function PricesPage() {
  const { from, to } = rangeOf(query.value, USUAL_RANGE);
  const used = useApi<typeof usage>(`/usage${queryOf({ by: ["provider", "model"], from, to })}`);
  return (
    <Page title="Prices & what-if" right={<RangePicker usual={USUAL_RANGE} />}>
      <div class="two tops">
        <div class="stack wide-gap">
          <WhatIfPanel used={used.data} from={from} to={to} />
          <AgePanel />
        </div>
        <ReconcilePanel used={used.data} />
      </div>
      <InUsePanel used={used} from={from} to={to} />
      <ModelsPanel used={used} />
      <SearchPanel />
    </Page>
  );
}
