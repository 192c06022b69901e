/** A price rule as a row of a table, in dollars a million tokens. */
import type { Price } from "../../data/types.ts";
import { count } from "../../numbers/counts.ts";
import { MISSING, dollars, perMillion } from "../../numbers/money.ts";
import { Tag } from "../../parts/controls.tsx";
import type { Head } from "../../parts/heads.tsx";

export const PRICE_HEADS: readonly Head[] = [
  ["Input", "num"],
  ["Cache read", "num w3"],
  ["Cache write", "num w3"],
  ["Output", "num"],
  ["Source", "w3"],
];

/** Cells for {@link PRICE_HEADS}. */
export function PriceCells({ price }: { price: Price }) {
  const { input, cacheRead, cacheWrite, output, source } = price;
  return (
    <>
      <PriceCell pico={input} />
      <PriceCell pico={cacheRead} class="w3" usual={input} />
      <PriceCell pico={cacheWrite} class="w3" usual={input} />
      <PriceCell pico={output} />
      <td class="dim w3">
        {source === "config" ? "weir.yaml" : source} <Extras price={price} />
      </td>
    </>
  );
}

/** @param props.usual what an absent price is: that of the input */
function PriceCell(props: { pico: number | undefined; usual?: number | undefined; class?: string }) {
  const { pico, usual } = props;
  const look = `num ${props.class ?? ""}`;
  if (pico !== undefined)
    return <td class={look}>{pico === 0 ? <span class="dim">0</span> : perMillion(pico)}</td>;
  return (
    <td
      class={`${look} dim`}
      {...(usual !== undefined && { title: `No price of its own: as input, ${perMillion(usual)}` })}
    >
      {usual === undefined ? MISSING : "as input"}
    </td>
  );
}

/** Prices that are not in the columns: input and output on hover. */
function Extras({ price: { tiers = [], served = {}, regions, per } }: { price: Price }) {
  const others: (readonly [string, Partial<Price>])[] = [
    ...tiers.map((tier) => [`above ${count(tier.above)}`, tier] as const),
    ...Object.entries(served),
  ];
  return (
    <>
      {others.map(([name, { input, output }]) => (
        <Tag key={name} title={`${cost(input)} in, ${cost(output)} out`}>
          {name}
        </Tag>
      ))}
      {regions && <Tag title={Object.keys(regions).join(", ")}>by region</Tag>}
      {per?.request !== undefined && <Tag>{dollars(per.request)} a request</Tag>}
      {per?.search !== undefined && <Tag>{dollars(per.search)} a search</Tag>}
    </>
  );
}

const cost = (pico: number | undefined) => (pico === undefined ? MISSING : perMillion(pico));
