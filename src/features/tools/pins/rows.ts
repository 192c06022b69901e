/** Rows of pins: hashes, which every worker holds, and definitions, which only operators read. */
import type { Sql } from "../../../keeper/store/sql.ts";
import type { JsonObject } from "../../../core/json.ts";
import { parseExact } from "../../../core/exact-json.ts";
import type { PinChange, ServerPins } from "./compare.ts";

export const PINS = `
-- The approved tools of each server. id: its name. pins: hashes by the names of tools, as JSON.
CREATE TABLE tools_pins (id TEXT PRIMARY KEY, pins TEXT NOT NULL, version {INT} NOT NULL, deleted_at {INT}) {KEYED};
CREATE INDEX tools_pins_version ON tools_pins (version);
-- state: 'approved'; 'new', 'changed' or 'gone' while nobody has approved it; 'seen' where definitions are not pinned. tool: its name as
-- JSON, because a name may have characters that no text of a store has. hash, definition: empty for a tool that is gone.
CREATE TABLE tools_definitions (server TEXT NOT NULL, state TEXT NOT NULL, place {INT} NOT NULL, tool TEXT NOT NULL, hash TEXT NOT NULL,
  definition TEXT NOT NULL, since {INT} NOT NULL, PRIMARY KEY (server, state, place)) {KEYED};
`;
export const PINS_REPLICA = "tools_pins";
export const PINS_TABLES = [PINS_REPLICA, "tools_definitions"];

/** A row that every worker holds. */
export interface PinsRow {
  /** Name of the server. */
  readonly id: string;
  readonly pins: string;
}

const STATES = ["approved", "new", "changed", "gone", "seen"] as const;
export type ToolState = (typeof STATES)[number];

/** A tool of a server in the store. */
export interface StoredTool {
  readonly server: string;
  readonly tool: string;
  readonly state: ToolState;
  readonly hash: string;
  /** Absent for a tool that is gone. */
  readonly definition?: JsonObject;
  /** Milliseconds since 1970. */
  readonly since: number;
}

export const isPending = ({ state }: Pick<StoredTool, "state">): boolean =>
  state === "new" || state === "changed" || state === "gone";

export function pinsIn({ pins }: Pick<PinsRow, "pins">): ServerPins {
  return JSON.parse(pins) as ServerPins;
}

/** @returns undefined for a server that was never seen */
export async function readPins(sql: Sql, server: string): Promise<ServerPins | undefined> {
  const [row] = await sql.all<PinsRow>(
    "SELECT id, pins FROM tools_pins WHERE id = $1 AND deleted_at IS NULL",
    [server],
  );
  return row && pinsIn(row);
}

export async function writePins(sql: Sql, server: string, pins: ServerPins, version: number): Promise<void> {
  await sql.run(
    `INSERT INTO tools_pins (id, pins, version) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET pins = excluded.pins, version = excluded.version, deleted_at = NULL`,
    [server, JSON.stringify(pins), version],
  );
}

type Row = Readonly<Record<"server" | "state" | "tool" | "hash" | "definition", string>> & {
  readonly since: number | string;
};

/** The same without definitions, which may be large. */
export type ToolHead = Omit<StoredTool, "definition">;

export async function readHeads(sql: Sql): Promise<ToolHead[]> {
  const rows = await sql.all<Omit<Row, "definition">>(
    "SELECT server, state, tool, hash, since FROM tools_definitions ORDER BY server, state, place",
  );
  return rows.map(headOf);
}

function headOf({ server, state, tool, hash, since }: Omit<Row, "definition">): ToolHead {
  return { server, tool: JSON.parse(tool) as string, state: state as ToolState, hash, since: Number(since) };
}

/** The tools of a server. */
export async function readTools(sql: Sql, server: string): Promise<StoredTool[]> {
  const rows = await sql.all<Row>(
    `SELECT server, state, tool, hash, definition, since FROM tools_definitions
     WHERE server = $1 ORDER BY state, place`,
    [server],
  );
  return rows.map((row) => ({
    ...headOf(row),
    ...(row.definition !== "" && { definition: parseExact(row.definition) as JsonObject }),
  }));
}

/** Replaces the rows of a server that have some states. */
export async function writeTools(
  sql: Sql,
  server: string,
  states: readonly ToolState[],
  tools: readonly StoredTool[],
): Promise<void> {
  for (const state of states) {
    await sql.run("DELETE FROM tools_definitions WHERE server = $1 AND state = $2", [server, state]);
    const rows = tools
      .filter((one) => one.state === state)
      .map(({ tool, hash, definition, since }, place) => [
        ...[server, state, place, JSON.stringify(tool), hash],
        ...[definition ? JSON.stringify(definition) : "", since],
      ]);
    if (rows.length > 0)
      await sql.insert(
        "tools_definitions",
        ["server", "state", "place", "tool", "hash", "definition", "since"],
        rows,
      );
  }
}

/** @returns the row of a change */
export function pendingTool(
  server: string,
  { tool, kind, definition }: PinChange,
  hash: string,
  since: number,
): StoredTool {
  return { server, tool, state: kind, hash, since, ...(definition && { definition }) };
}
