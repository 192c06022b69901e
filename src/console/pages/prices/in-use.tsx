/** The prices of what was called in a time, with what was paid. */
import type { listPrices, Price, UsageReport } from "../../data/types.ts";
import { queryOf } from "../../data/api.ts";
import { hrefOf } from "../../data/location.ts";
import { type Reading, useApi } from "../../data/use-api.ts";
import { counted } from "../../numbers/counts.ts";
import { Figure } from "../../parts/controls.tsx";
import { type Head, Heads } from "../../parts/heads.tsx";
import { MoneyCell, Unpriced } from "../../parts/numbers.tsx";
import { Panel } from "../../parts/panel.tsx";
import { sortedBy } from "../../parts/sort.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { PRICE_HEADS, PriceCells } from "./price-row.tsx";

/** More targets than an answer may have prices for. */
const MOST = 100;

interface InUseProps {
  used: Reading<UsageReport>;
  from: number;
  to: number | undefined;
}

export function InUsePanel({ used, from, to }: InUseProps) {
  const targets = targetsOf(used.data).slice(0, MOST);
  const prices = useApi<typeof listPrices>(
    targets.length === 0 ? undefined : `/prices${queryOf({ of: targets, limit: MOST })}`,
  );
  const rules = new Map(prices.data?.prices.map((price) => [`${price.provider}/${price.model}`, price]));
  return (
    <Panel
      title="In use"
      right={<span class="dim">dollars a million tokens</span>}
      busy={used.busy}
      foot="Calls that were booked keep the price of their time: a change of prices changes no booked call."
    >
      <Loaded of={used} what="Usage">
        {(report) =>
          targets.length === 0 ? (
            <Blank title="No model was called in this time.">
              <a class="fig" href={hrefOf("/playground")}>
                Try one in the playground
              </a>
            </Blank>
          ) : (
            <div class="scroll">
              <table class="tbl compact">
                <Heads of={HEADS} />
                <tbody>
                  {sortedBy(targets, {
                    input: (target) => rules.get(target)?.input,
                    output: (target) => rules.get(target)?.output,
                    paid: (target) => -targets.indexOf(target),
                  }).map((target) => (
                    <Row
                      key={target}
                      target={target}
                      row={report.rows.find(
                        ({ group }) => `${group["provider"]}/${group["model"]}` === target,
                      )!}
                      price={rules.get(target)}
                      isKnown={prices.data !== undefined}
                      range={{ from, to }}
                    />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

const HEADS: readonly Head[] = [
  ["Model"],
  ...PRICE_HEADS.map((head): Head => {
    const [title, look] = head;
    return title === "Input" || title === "Output" ? [title, look, title.toLowerCase()] : head;
  }),
  ["Paid", "num", "paid"],
];

function Row(props: {
  target: string;
  row: UsageReport["rows"][number];
  price: Price | undefined;
  /** The prices are read. */
  isKnown: boolean;
  range: { from: number; to: number | undefined };
}) {
  const { target, row, price, isKnown, range } = props;
  const filter = { provider: row.group["provider"], model: row.group["model"], ...range };
  return (
    <tr>
      <td class="clip-cell" title={target}>
        {target}
      </td>
      {price ? (
        <PriceCells price={price} />
      ) : (
        PRICE_HEADS.map(([text, look], at) => (
          <td class={look} key={text}>
            {at === 0 && isKnown && (row.unpriced > 0 ? <Unpriced /> : <span class="dim">free</span>)}
          </td>
        ))
      )}
      <td class="num">
        <Figure query={filter}>
          {row.cost === 0 && row.unpriced > 0 ? (
            counted(row.unpriced, "attempt")
          ) : (
            <MoneyCell nano={row.cost} unsure={row.estimated + row.assumed > 0} />
          )}
        </Figure>
      </td>
    </tr>
  );
}

/** Called models, the dearest first. */
export function targetsOf(used: UsageReport | undefined): string[] {
  const rows = (used?.rows ?? []).filter(({ group }) => group["provider"] && group["model"]);
  return rows
    .toSorted((a, b) => b.cost - a.cost)
    .map(({ group }) => `${group["provider"]}/${group["model"]}`);
}
