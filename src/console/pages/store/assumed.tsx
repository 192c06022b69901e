/** Money that was held when a worker or a gateway ended: it cannot be known, and is booked as assumed. */
import type { listAssumptions } from "../../data/types.ts";
import { useApi } from "../../data/use-api.ts";
import { Figure } from "../../parts/controls.tsx";
import { MoneyCell, Time } from "../../parts/numbers.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";

interface Entry {
  at: number;
  account: string;
  budget: string;
  amount: number;
  why: string;
}

const ROWS = 8;

export function AssumedPanel() {
  const assumed = useApi<typeof listAssumptions>(`/assumptions?limit=${ROWS}`);
  return (
    <Panel
      title="Booked as assumed"
      foot={
        <span>
          Also charges of <Figure query={{ state: "assumed" }}>calls that timed out or broke off</Figure>.
        </span>
      }
    >
      <Loaded of={assumed} what="Assumptions" rows={3}>
        {({ entries, next }) =>
          entries.length === 0 ? (
            <Blank title="Nothing was held when a worker ended.">
              When one ends with running calls, what they may cost is booked here.
            </Blank>
          ) : (
            <>
              <table class="tbl wraps">
                <tbody>
                  {entries.map(({ at, account, budget, amount, why }) => (
                    <tr key={`${at} ${account}`}>
                      <td class="dim">
                        <Time at={at} />
                      </td>
                      <td>
                        {budget}
                        <div class="dim">{why}</div>
                      </td>
                      <td class="num">
                        <MoneyCell nano={amount} unsure />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {next !== undefined && (
                <div class="more">The newest {entries.length}. “weir assumed” lists all.</div>
              )}
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}
