/** How old the price book is, and what has no price. */
import type { listPrices, missingPrices, MissingPrices, Prices } from "../../data/types.ts";
import { now } from "../../data/clock.ts";
import { useApi } from "../../data/use-api.ts";
import { counted } from "../../numbers/counts.ts";
import { CopyLine, Figure } from "../../parts/controls.tsx";
import { Mark } from "../../parts/icons.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Loaded } from "../../parts/states.tsx";
import { useNoCallYet } from "../no-call-yet.tsx";
import { bookDate, priceYaml } from "./arithmetic.ts";

const DAY = 86_400_000;
/** An older price book may lack models and have prices of the past. Days. */
const OLD_DAYS = 60;
/** Rows before the rest is summed up. */
const SHOWN = 6;

export function AgePanel() {
  const sample = useApi<typeof listPrices>("/prices?limit=50");
  const missing = useApi<typeof missingPrices>("/prices/missing");
  const date = bookDate(sample.data?.prices.map(({ source }) => source) ?? []);
  const days = date === undefined ? undefined : Math.max(0, Math.floor((now.value - Date.parse(date)) / DAY));
  const title =
    days === undefined
      ? "Missing prices"
      : `Prices are ${days === 0 ? "of today" : `${counted(days, "day")} old`}`;
  return (
    <Panel
      title={title}
      {...(date !== undefined && { right: <span class="dim">price book of {date}</span> })}
    >
      <div class="body stack">
        {days !== undefined && days > OLD_DAYS && (
          <p class="c-warn">
            New models have no price, and prices may have changed. A newer weir has a newer price book.
          </p>
        )}
        <Loaded of={missing} what="Missing prices" rows={2}>
          {({ models }) => <Missing models={models} />}
        </Loaded>
      </div>
    </Panel>
  );
}

function Missing({ models }: { models: MissingPrices["models"] }) {
  const isUnused = useNoCallYet() !== undefined;
  if (models.length === 0)
    return isUnused ? (
      <p class="mid">No model was used yet.</p>
    ) : (
      <Mark state="ok">Every model that was used has a price.</Mark>
    );
  const calls = models.reduce((sum, row) => sum + row.calls, 0);
  const others = models.slice(SHOWN);
  return (
    <>
      <p class="mid">
        <Figure query={{ state: "unpriced", range: "month" }}>{counted(calls, "attempt")}</Figure> of{" "}
        {counted(models.length, "model")} wait for a price. They are in no sum and in no budget.
      </p>
      <table class="ledger">
        <tbody>
          {models.slice(0, SHOWN).map(({ provider, model, calls: own }) => (
            <tr key={`${provider}/${model}`}>
              <td>
                {provider}/{model}
              </td>
              <td class="num">
                <Figure query={{ provider, model, state: "unpriced", range: "month" }}>
                  {counted(own, "attempt")}
                </Figure>
              </td>
            </tr>
          ))}
          {others.length > 0 && (
            <tr>
              <td class="dim">{counted(others.length, "more model")}</td>
              <td class="num dim">
                {counted(
                  others.reduce((sum, row) => sum + row.calls, 0),
                  "attempt",
                )}
              </td>
            </tr>
          )}
        </tbody>
      </table>
      <p class="mid">
        Lines for weir.yaml, in dollars a million tokens; <code>0</code> for a model that costs nothing:
      </p>
      <CopyLine text={priceYaml(models)} label="lines for weir.yaml" />
    </>
  );
}
