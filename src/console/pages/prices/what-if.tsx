/** The calls of a time once more, at the prices of another model. */
import type { listPrices, UsageReport, WhatIf } from "../../data/types.ts";
import { query, setQuery } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { usePost } from "../../data/use-post.ts";
import { counted, percent, whole } from "../../numbers/counts.ts";
import { exactDollars, lineOf } from "../../numbers/money.ts";
import { Figure } from "../../parts/controls.tsx";
import { SelectField, Suggestions, TextField } from "../../parts/form.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { compare } from "./arithmetic.ts";
import { targetsOf } from "./in-use.tsx";

const TYPING = 400;
/** Stands for every model that was called. */
const EVERYTHING = "*";

interface WhatIfProps {
  used: UsageReport | undefined;
  from: number;
  to: number | undefined;
}

export function WhatIfPanel({ used, from, to }: WhatIfProps) {
  const targets = targetsOf(used);
  const { instead = targets[0] ?? EVERYTHING, ask = "" } = query.value;
  const suggestions = useApi<typeof listPrices>("/prices?limit=500").data?.prices ?? [];
  const body = ask !== "" ? { from, to, map: { [instead]: ask } } : undefined;
  const answer = usePost<WhatIf>("/whatif", body, { wait: TYPING });
  return (
    <Panel title="What if" busy={answer.busy}>
      <div class="body stack">
        <p class="mid">The calls of this time once more, at another model's prices. No provider is called.</p>
        <div class="two fields">
          <SelectField
            label="Instead of"
            options={[...new Set([...targets, instead])]
              .filter((name) => name !== EVERYTHING)
              .map((name) => [name, name] as const)
              .concat([[EVERYTHING, "every model"]])}
            value={instead}
            onChange={(name) => setQuery({ instead: name }, { replace: true })}
          />
          <TextField
            label="ask"
            list="what-if-models"
            value={ask}
            placeholder="anthropic/claude-sonnet-5"
            onChange={(text) => setQuery({ ask: text.trim() }, { replace: true })}
          />
          <Suggestions
            id="what-if-models"
            of={suggestions.map(({ provider, model }) => `${provider}/${model}`)}
          />
        </div>
        {body === undefined ? (
          <p class="dim">Name the other model as provider/model.</p>
        ) : (
          <Loaded of={answer} what="The comparison" rows={3}>
            {(result) => <Comparison result={result} instead={instead} range={{ from, to }} />}
          </Loaded>
        )}
      </div>
    </Panel>
  );
}

function Comparison(props: {
  result: WhatIf;
  instead: string;
  range: { from: number; to: number | undefined };
}) {
  const { result, instead, range } = props;
  const changed = result.rows.filter((row) => row.to !== row.from || row.from === instead);
  const priced = changed.filter((row) => row.then !== undefined);
  const unpriced = changed.find((row) => row.then === undefined);
  const calls = changed.reduce((sum, row) => sum + row.calls, 0);
  if (changed.length === 0)
    return <Blank title="No call used that model in this time.">Take a longer time, or another model.</Blank>;
  if (priced.length === 0)
    return (
      <Blank title="The other model has no price.">
        {unpriced?.why ?? ""}. Search below for its name in the price book, or set its price in weir.yaml.
      </Blank>
    );
  const now = priced.reduce((sum, row) => sum + row.now, 0);
  const then = priced.reduce((sum, row) => sum + row.then!, 0);
  const figures = compare(now, then);
  const model = changed.length === 1 ? changed[0]!.from.slice(changed[0]!.from.indexOf("/") + 1) : undefined;
  return (
    <>
      <table class="ledger">
        <tbody>
          <tr>
            <td>
              as it was, <Figure query={{ model, ...range }}>{counted(calls, "attempt")}</Figure>
            </td>
            <Amount nano={figures.now} exact={now} places={figures.places} />
          </tr>
          <tr>
            <td>as it would be, same tokens</td>
            <Amount nano={figures.then} exact={then} places={figures.places} />
          </tr>
          <tr class="sum">
            <td>
              difference
              {now > 0 &&
                `, ${figures.difference < 0 ? "−" : "+"}${percent(Math.abs(figures.difference) / now)}`}
            </td>
            <td class="num money-end">
              {figures.difference > 0 && "+"}
              {lineOf(figures.difference, figures.places)}
            </td>
          </tr>
        </tbody>
      </table>
      {priced.length < changed.length && (
        <p class="c-warn">
          {whole(changed.length - priced.length)} of {counted(changed.length, "model")} could not be compared,
          and are in neither line: {unpriced?.why}.
        </p>
      )}
      <p class="dim">
        Assumes the same token counts. Another tokenizer counts 5 to 15 % differently; answers may be longer,
        and other parts of a prompt may be read from a cache.
      </p>
    </>
  );
}

function Amount({ nano, exact, places }: { nano: number; exact: number; places: number }) {
  return (
    <td class="num" title={exactDollars(exact)}>
      {lineOf(nano, places)}
    </td>
  );
}
