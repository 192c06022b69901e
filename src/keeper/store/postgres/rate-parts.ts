/** The parts of rate limits that each node has. Together they are at most the limit, at every moment. */
import type { Sql } from "../sql.ts";
import { type RateDemand, type RatePart, StoreLost } from "../store.ts";

/** Of the lock under which nodes change their parts. */
const LOCK = 0x72_61_74_65;
/** A node that has not asked for this time uses only its least part. Seconds; the others wait a little longer. */
const SILENT_S = 10;
const MARGIN_S = 2;

export const RATE_TABLES = `
-- part: of the limit, 0 to 1. least: what the node uses when it cannot ask.
CREATE TABLE rate_parts (account text, node text, part double precision NOT NULL, least double precision NOT NULL,
  asked double precision NOT NULL, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (account, node));
-- When a node last gave up a part: that part was used up until then.
CREATE TABLE rate_releases (account text PRIMARY KEY, at timestamptz NOT NULL);
`;

interface PartRow {
  account: string;
  node: string;
  part: number;
  least: number;
  asked: number;
  silent: number;
}

export interface Part {
  part: number;
  least: number;
}

/** The parts of this node, also while the server is away. */
export class RateParts {
  readonly #parts = new Map<string, Part>();
  #takenAt = -Infinity;

  /** @param take takes the parts of the demands from the server @returns them; without the server those of before */
  async share(
    demands: readonly RateDemand[],
    take: () => ReturnType<typeof takeParts>,
  ): Promise<ReadonlyMap<string, RatePart>> {
    const began = performance.now();
    let taken: Awaited<ReturnType<typeof takeParts>> = new Map();
    try {
      taken = await take();
      this.#takenAt = began;
      for (const [account, part] of taken) this.#parts.set(account, part);
    } catch (cause) {
      if (!(cause instanceof StoreLost)) throw cause;
    }
    // The other nodes take what this one no longer uses when it is silent.
    const isSilent = began - this.#takenAt > SILENT_S * 1_000;
    return new Map(
      demands.map(({ account }) => {
        const { part, least } = this.#parts.get(account) ?? { part: 0, least: 0 };
        return [account, { part: isSilent ? least : part, credit: taken.get(account)?.credit ?? 0 }];
      }),
    );
  }
}

const RELEASED = "ON CONFLICT (account) DO UPDATE SET at = now()";

/** Gives up all parts of a node that begins or ends. */
export async function releaseParts(tx: Sql, node: string): Promise<void> {
  await tx.run(
    `INSERT INTO rate_releases SELECT account, now() FROM rate_parts WHERE node = $1 AND part > 0 ${RELEASED}`,
    [node],
  );
  await tx.run("DELETE FROM rate_parts WHERE node = $1", [node]);
}

/** Takes the parts that this node may have now. @returns them by account */
export function takeParts(
  sql: Sql,
  node: string,
  demands: readonly RateDemand[],
): Promise<ReadonlyMap<string, Part & { credit: number }>> {
  return sql.transaction(async (tx) => {
    await tx.all("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    const [count] = await tx.all<{ nodes: number }>("SELECT count(*) AS nodes FROM nodes WHERE lapsed = 0");
    const rows = await tx.all<PartRow>(
      `SELECT rate_parts.account, rate_parts.node, part, least, asked,
         extract(epoch FROM now() - at)::double precision AS silent
       FROM rate_parts JOIN nodes ON nodes.node = rate_parts.node AND nodes.lapsed = 0
       WHERE account IN (SELECT json_array_elements_text($1::text::json))`,
      [JSON.stringify(demands.map(({ account }) => account))],
    );
    const released = await tx.all<{ account: string; ms: number }>(
      `SELECT account, (extract(epoch FROM now() - at) * 1000)::double precision AS ms FROM rate_releases
       WHERE account IN (SELECT json_array_elements_text($1::text::json))`,
      [JSON.stringify(demands.map(({ account }) => account))],
    );
    const byAccount = Map.groupBy(rows, ({ account }) => account);
    const freeFor = new Map(released.map(({ account, ms }) => [account, ms]));
    const parts = new Map<string, Part & { credit: number }>();
    const smaller: string[] = [];
    const written = demands.map((demand) => {
      const all = byAccount.get(demand.account) ?? [];
      const mine = all.find((row) => row.node === node);
      // What was asked a moment ago still counts for a part, so that parts do not jump with every call.
      const asked = Math.max(demand.asked, (mine?.asked ?? 0) / 2);
      const others = all.filter((row) => row.node !== node);
      const part = partOf({ ...demand, asked }, others, Math.max(1, count!.nodes));
      const grown = part.part - (mine?.part ?? 0);
      if (grown < 0) smaller.push(demand.account);
      // What was given up has refilled since then; what no node ever had is full.
      const full = Math.min(1, (freeFor.get(demand.account) ?? Infinity) / demand.periodMs);
      const credit = grown > 0 && demand.periodMs > 0 ? grown * demand.limit * full : 0;
      parts.set(demand.account, { ...part, credit });
      return [demand.account, node, part.part, part.least, asked];
    });
    if (smaller.length > 0)
      await tx.run(
        `INSERT INTO rate_releases SELECT json_array_elements_text($1::text::json), now() ${RELEASED}`,
        [JSON.stringify(smaller)],
      );
    await tx.insert(
      "rate_parts",
      ["account", "node", "part", "least", "asked"],
      written,
      `ON CONFLICT (account, node) DO UPDATE
         SET part = excluded.part, least = excluded.least, asked = excluded.asked, at = now()`,
    );
    return parts;
  });
}

/**
 * Half of a limit is divided equally, the other half by demand, in whole numbers: a part of less than one would never admit a
 * call. No node gets what another one still has.
 */
export function partOf(
  { limit, asked, used }: Pick<RateDemand, "limit" | "asked" | "used">,
  others: readonly Pick<PartRow, "part" | "least" | "asked" | "silent">[],
  nodes: number,
): Part {
  const taken = others.reduce(
    (sum, { part, least, silent }) => sum + (silent > SILENT_S + MARGIN_S ? Math.min(part, least) : part),
    0,
  );
  const total = others.reduce((sum, other) => sum + other.asked, asked);
  const equal = Math.floor(limit / (2 * nodes));
  const wanted = total > 0 ? equal + ((limit - nodes * equal) * asked) / total : limit / nodes;
  // The sums are of fractions, so a whole number may look a little smaller.
  const room = Math.max(0, Math.floor((1 - taken) * limit + 1e-6));
  const part = Math.min(Math.ceil(wanted - 1e-6), room);
  return { part: Math.max(part, used) / limit, least: Math.max(Math.min(part, equal), used) / limit };
}
