/** All prices, by a part of a model's name. */
import type { listPrices, Price } from "../../data/types.ts";
import { useState } from "preact/hooks";
import { queryOf } from "../../data/api.ts";
import { query, setQuery } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { Heads } from "../../parts/heads.tsx";
import { LoadMore } from "../../parts/load-more.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { PRICE_HEADS, PriceCells } from "./price-row.tsx";

const ROWS = 30;

export function SearchPanel() {
  const text = query.value["find"] ?? "";
  const [limit, setLimit] = useState(ROWS);
  const found = useApi<typeof listPrices>(text === "" ? undefined : `/prices${queryOf({ q: text, limit })}`);
  return (
    <Panel
      title="All prices"
      busy={found.busy}
      right={
        <input
          id="filter"
          class="input search-box"
          type="search"
          aria-label="Part of a provider's or a model's name"
          placeholder="claude-sonnet"
          spellcheck={false}
          value={text}
          onChange={(event) => setQuery({ find: event.currentTarget.value.trim() }, { replace: true })}
        />
      }
    >
      {text === "" ? (
        <Blank title="The price book has thousands of models.">
          Write a part of a name, for example “claude-sonnet”.
        </Blank>
      ) : (
        <Loaded of={found} what="Prices">
          {({ prices, next }) => (
            <>
              <Found text={text} prices={prices} />
              <LoadMore limit={limit} next={next} onLimit={setLimit} />
            </>
          )}
        </Loaded>
      )}
    </Panel>
  );
}

function Found({ text, prices }: { text: string; prices: readonly Price[] }) {
  if (prices.length === 0)
    return (
      <Blank title={`No price of a model is known whose name contains “${text}”.`}>
        A price in weir.yaml applies to any model that a provider serves.
      </Blank>
    );
  return (
    <div class="scroll">
      <table class="tbl tight">
        <Heads of={[["Model"], ...PRICE_HEADS]} />
        <tbody>
          {prices.map((price) => (
            <tr key={price.ref}>
              <td class="clip-cell" title={`${price.provider}/${price.model}`}>
                {price.provider}/{price.model}
              </td>
              <PriceCells price={price} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
