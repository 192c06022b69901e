/** Compares a provider's invoice with the books, and splits the difference into its causes. */
import { sayNano, type Nano } from "../../ledger/money.ts";
import { priceUsage, withoutTiers } from "../../ledger/prices/price.ts";
import type { Sql } from "../store/sql.ts";
import { type Directory, inList } from "./directory.ts";
import type { Invoice, Reconciliation } from "./shapes.ts";

interface Booked {
  target: number;
  cost: Nano;
  estimated: Nano;
  assumed: Nano;
  untiered: Nano;
}

interface Cause {
  name: string;
  /** The cause explains a difference between these. */
  least: Nano;
  most: Nano;
  detail: string;
}

/**
 * The difference is explained in the order of the causes, each as far as it can be. What was not priced has an exact price if a rule
 * exists now; other causes have bounds: a provider may charge nothing for what weir assumed, and an estimate or a price without its
 * tier may be off by its own amount.
 */
export async function reconcile(
  sql: Sql,
  directory: Directory,
  { provider, month, amount: invoiced }: Invoice,
): Promise<Reconciliation> {
  const [from, to] = monthOf(month);
  await directory.refresh();
  const targets = inList(directory.targetsOf({ provider }) ?? []);
  const rows = await sql.all<Booked>(
    `SELECT target, sum(cost) AS cost, sum(estimated) AS estimated, sum(assumed) AS assumed, sum(untiered) AS untiered
     FROM use_day WHERE day >= $1 AND day < $2 AND target ${targets} GROUP BY target`,
    [from, to],
  );
  const total = (member: Exclude<keyof Booked, "target">) => rows.reduce((sum, row) => sum + row[member], 0);
  const booked = total("cost");
  const untiered = total("untiered");
  const estimated = total("estimated") - untiered;
  const assumed = total("assumed");
  const unpriced = await priceUnpriced(sql, directory, provider, from, to);
  return explain({ provider, month, invoiced, booked, difference: invoiced - booked }, [
    {
      name: "unpriced",
      least: unpriced.cost,
      most: unpriced.cost,
      detail: `${unpriced.attempts.toLocaleString("en")} attempts had no price${unpriced.unknown > 0 ? `; ${unpriced.unknown} still have none` : ""}`,
    },
    {
      name: "assumed",
      least: -assumed,
      most: 0,
      detail: `${sayNano(assumed)} was assumed for attempts without counts`,
    },
    {
      name: "tier unknown",
      least: -untiered,
      most: untiered,
      detail: `${sayNano(untiered)} was charged without the price of the tier that served it`,
    },
    {
      name: "estimated",
      least: -estimated,
      most: estimated,
      detail: `${sayNano(estimated)} was estimated from partial counts`,
    },
  ]);
}

function explain(
  figures: Pick<Reconciliation, "provider" | "month" | "invoiced" | "booked" | "difference">,
  causes: readonly Cause[],
): Reconciliation {
  let rest = figures.difference;
  const explained = causes.map(({ name, least, most, detail }) => {
    const amount = Math.min(most, Math.max(least, rest));
    rest -= amount;
    return { name, amount, detail };
  });
  const detail =
    rest > 0
      ? "calls that did not pass this gateway, or whose records were lost"
      : rest < 0
        ? "the provider charged less than its prices say: a discount, credits, or a price that is too high"
        : "nothing is left to explain";
  return { ...figures, causes: [...explained, { name: "not through weir", amount: rest, detail }] };
}

/** The cost that attempts without a price would have had by rules that exist now, for calls whose rows are kept. */
async function priceUnpriced(
  sql: Sql,
  directory: Directory,
  provider: string,
  from: number,
  to: number,
): Promise<{ cost: Nano; attempts: number; unknown: number }> {
  const targets = directory.targetsOf({ provider }) ?? [];
  const rules = new Map((await directory.rules()).map((rule) => [`${rule.provider}/${rule.model}`, rule]));
  const rows = await sql.all<{
    target: number;
    attempts: number;
    input: number;
    cache_read: number;
    cache_write: number;
    cache_write_1h: number;
    output: number;
    reasoning: number;
  }>(
    `SELECT target, count(*) AS attempts, sum(input) AS input, sum(cache_read) AS cache_read, sum(cache_write) AS cache_write,
       sum(cache_write_1h) AS cache_write_1h, sum(output) AS output, sum(reasoning) AS reasoning
     FROM calls WHERE at >= $1 AND at < $2 AND state = 4 AND target ${inList(targets)} GROUP BY target`,
    [from, to],
  );
  let cost = 0;
  let attempts = 0;
  let unknown = 0;
  for (const row of rows) {
    attempts += row.attempts;
    const { provider: name = "", model = "" } = directory.targets.get(row.target) ?? {};
    const rule = rules.get(`${name}/${model}`);
    if (rule) {
      const usage = {
        ...row,
        ...{ cacheRead: row.cache_read, cacheWrite: row.cache_write, cacheWrite1h: row.cache_write_1h },
      };
      const input = Math.ceil((usage.input + usage.cacheRead + usage.cacheWrite) / row.attempts);
      cost += priceUsage(usage, withoutTiers(rule, input)).cost;
    } else unknown += row.attempts;
  }
  return { cost, attempts, unknown };
}

/** The beginning and end of `2026-11`, UTC. @throws Error with one sentence */
function monthOf(month: string): [from: number, to: number] {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? [];
  if (year === undefined) throw new Error(`"${month}" is not a month like 2026-11`);
  return [Date.UTC(Number(year), Number(number) - 1), Date.UTC(Number(year), Number(number))];
}
