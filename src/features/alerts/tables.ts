/** The table of what was sent to webhooks. */
import type { FeatureTables } from "../../keeper/seams.ts";

const DELIVERIES = `
-- One alert for one webhook. webhook: from a hash of its address. place: the origin of the address. node: the machine that sends.
-- result: 'waiting', 'delivered', 'failed'. ended_at: when what began was over; 0: its end cannot be known any more.
CREATE TABLE alert_deliveries (id TEXT NOT NULL, webhook TEXT NOT NULL, place TEXT NOT NULL, node TEXT NOT NULL, at {INT} NOT NULL,
  event TEXT NOT NULL, subject TEXT NOT NULL, state TEXT NOT NULL, message TEXT NOT NULL, result TEXT NOT NULL, reason TEXT,
  tries {INT} NOT NULL, tried_at {INT} NOT NULL, ended_at {INT}, PRIMARY KEY (id, webhook)) {KEYED};
CREATE INDEX alert_deliveries_at ON alert_deliveries (at);
`;

export const tables: FeatureTables = {
  migrations: [DELIVERIES],
  copied: ["alert_deliveries"],
  recovered: ["alert_deliveries"],
};
