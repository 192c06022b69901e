/** The rows of what was sent to webhooks. The table keeps the newest ones. */
import type { Sql } from "../../keeper/store/sql.ts";
import type { Alert } from "./alert.ts";

/** Rows that stay in the table. */
const MOST_ROWS = 1_000;

export const DELIVERY_RESULTS = ["waiting", "delivered", "failed"] as const;

/** One alert for one webhook. */
export interface Delivery extends Omit<Alert, "facts"> {
  /** {@link webhookId} of its address. */
  readonly webhook: string;
  /** The origin of the address. */
  readonly place: string;
  /** Name of the machine that sends. */
  readonly node: string;
  readonly result: (typeof DELIVERY_RESULTS)[number];
  /** Why it failed, or has failed so far: a clause. */
  readonly reason?: string;
  readonly tries: number;
  /** When it was tried last, or made; milliseconds since 1970. */
  readonly triedAt: number;
  /** When what began was over, milliseconds since 1970; 0: its end cannot be known any more. */
  readonly endedAt?: number;
}

const COLUMNS = [
  ...["id", "webhook", "place", "node", "at", "event", "subject", "state", "message"],
  ...["result", "reason", "tries", "tried_at"],
];
/** What changes while an alert is sent. */
const CHANGING = ["result", "reason", "tries", "tried_at"].map((name) => `${name} = excluded.${name}`);

/** Names a webhook without its address, which may contain a credential. */
export function webhookId(url: string): string {
  return new Bun.CryptoHasher("sha256").update(url).digest("hex").slice(0, 12);
}

/** Writes deliveries as they are now, marks as over what they say has ended, and removes the oldest rows. */
export async function writeDeliveries(sql: Sql, deliveries: readonly Delivery[]): Promise<void> {
  const sorted = deliveries.toSorted((a, b) => (a.id + a.webhook < b.id + b.webhook ? -1 : 1));
  const rows = sorted.map(({ id, webhook, place, node, at, event, subject, state, message, ...said }) => [
    ...[id, webhook, place, node, at, event, subject, state, message],
    ...[said.result, said.reason ?? null, said.tries, said.triedAt],
  ]);
  const onConflict = `ON CONFLICT (id, webhook) DO UPDATE SET ${CHANGING.join(", ")}`;
  await sql.insert("alert_deliveries", COLUMNS, rows, onConflict);
  for (const { state, at, webhook, node, event, subject } of deliveries)
    if (state === "ends")
      await sql.run(
        `UPDATE alert_deliveries SET ended_at = $1 WHERE webhook = $2 AND node = $3 AND event = $4 AND subject = $5
         AND state = 'begins' AND at <= $1 AND (ended_at IS NULL OR ended_at = 0)`,
        [at, webhook, node, event, subject],
      );
  await sql.run(
    `DELETE FROM alert_deliveries WHERE at < (SELECT at FROM alert_deliveries ORDER BY at DESC LIMIT 1 OFFSET ${MOST_ROWS - 1})`,
  );
}

/** A keeper begins: what the former one of this machine waited for is lost, and it does not see how things ended. */
export async function giveUpFormer(sql: Sql, node: string, before: number): Promise<void> {
  await sql.run(
    `UPDATE alert_deliveries SET result = 'failed', reason = 'weir ended before it was delivered'
     WHERE node = $1 AND at < $2 AND result = 'waiting'`,
    [node, before],
  );
  await sql.run(
    "UPDATE alert_deliveries SET ended_at = 0 WHERE node = $1 AND at < $2 AND state = 'begins' AND ended_at IS NULL",
    [node, before],
  );
}

type Row = Readonly<Record<"id" | "webhook" | "place" | "node" | "message" | "subject", string>> &
  Readonly<Record<"at" | "tries" | "tried_at", number | string>> & {
    readonly event: Delivery["event"];
    readonly state: Delivery["state"];
    readonly result: Delivery["result"];
    readonly reason: string | null;
    readonly ended_at: number | string | null;
  };

/** The newest alerts of all nodes with all their deliveries, the newest first. */
export async function readNewest(sql: Sql, alerts: number): Promise<Delivery[]> {
  const rows = await sql.all<Row>(
    `SELECT * FROM alert_deliveries WHERE id IN
       (SELECT id FROM alert_deliveries GROUP BY id ORDER BY MAX(at) DESC, id DESC LIMIT ${alerts})
     ORDER BY at DESC, id DESC, webhook`,
  );
  return rows.map(deliveryOf);
}

/** The last delivery to each webhook that was tried. */
export async function readLast(sql: Sql): Promise<Delivery[]> {
  const rows = await sql.all<Row>(
    `SELECT * FROM alert_deliveries AS one WHERE tries > 0 AND tried_at =
       (SELECT MAX(tried_at) FROM alert_deliveries AS other WHERE other.webhook = one.webhook AND tries > 0)`,
  );
  return rows.map(deliveryOf);
}

function deliveryOf({ reason, tried_at: triedAt, ended_at: endedAt, ...row }: Row): Delivery {
  return {
    ...row,
    ...{ at: Number(row.at), tries: Number(row.tries), triedAt: Number(triedAt) },
    ...(reason !== null && { reason }),
    ...(endedAt !== null && { endedAt: Number(endedAt) }),
  };
}
