/** The attempts at each deployment that failed: by what their provider answered, and the last of them. */
import type { FailedTry } from "../../ledger/columns.ts";
import { OUTCOMES, unpackId } from "../record/call-rows.ts";
import type { Sql } from "../store/sql.ts";
import type { Fault } from "./shapes.ts";
import { groupOf, LAST_FAILED, toldIn } from "./tried.ts";

/** The newest calls of a time. */
export interface Newest {
  /** The rows, as a table `newest` with the number of the deployment. */
  table: string;
  from: number;
  end: number;
  isBounded: boolean;
  deployment(column: string): string;
}

export interface DeploymentError {
  /** `status 503`, or a word. */
  class: string;
  status?: number;
  group: Fault;
  /** Attempts. */
  calls: number;
}

/** The last attempt that failed by no fault of the client. */
export interface LastError {
  at: number;
  call: string;
  /** Of the provider; of records of earlier versions, the one that the client got. */
  status?: number;
  code?: string;
}

export interface Failures {
  /** The most frequent first. */
  errors: ReadonlyMap<number, readonly DeploymentError[]>;
  last: ReadonlyMap<number, LastError>;
}

const FAILED = OUTCOMES.indexOf("failed");
const TOLD = toldIn("newest.detail");

export async function failuresOf(sql: Sql, newest: Newest): Promise<Failures> {
  const counts = new Map<number, Map<string, DeploymentError>>();
  const add = (id: number, error: DeploymentError) => {
    const known = counts.get(id) ?? new Map<string, DeploymentError>();
    counts.set(id, known);
    const key = `${error.group} ${error.class}`;
    known.set(key, { ...error, calls: (known.get(key)?.calls ?? 0) + error.calls });
  };
  const last = await untoldLast(sql, newest);
  for (const { deployment, n, at, request, detail } of await toldErrors(sql, newest)) {
    const { failures } = JSON.parse(detail) as { failures: readonly FailedTry[] };
    const failure = failures.find(({ try: number }) => number === n);
    if (!failure) continue;
    const error = { ...classOf(failure), group: groupOf(failure.what), calls: 1 };
    add(deployment, error);
    if (error.group === "request" || at < (last.get(deployment)?.at ?? 0)) continue;
    const code = failure.code ?? (error.status === undefined ? failure.what : undefined);
    const { status } = error;
    last.set(deployment, {
      ...{ at, call: unpackId(request, at) },
      ...(status !== undefined && { status }),
      ...(code !== undefined && { code }),
    });
  }
  for (const { deployment, status, class: kind, calls } of await untoldErrors(sql, newest)) {
    const named = status === null ? { class: kind } : { class: `status ${status}`, status };
    add(deployment, { ...named, group: groupOf(String(status ?? "")), calls });
  }
  const sorted = [...counts].map(([id, errors]) => [id, [...errors.values()].sort(byCalls)] as const);
  return { errors: new Map(sorted), last };
}

/** The most first; of equal ones always the same. */
const byCalls = (x: DeploymentError, y: DeploymentError) =>
  y.calls - x.calls || (x.class < y.class ? -1 : x.class > y.class ? 1 : 0);

function classOf({ status = 0, what }: FailedTry): { class: string; status?: number } {
  return status >= 400 ? { class: `status ${status}`, status } : { class: what };
}

interface ToldRow {
  deployment: number;
  /** The attempt. */
  n: number;
  at: number;
  request: Uint8Array;
  detail: string;
}

/** Attempts of which the record has what the provider said. */
function toldErrors(sql: Sql, { table, deployment }: Newest): Promise<ToldRow[]> {
  return sql.all<ToldRow>(
    `SELECT deployment, 1 AS n, at, request, detail FROM ${table} WHERE tries = 1 AND ${TOLD}
     UNION ALL
     SELECT ${deployment("charges.target")}, charges.n, newest.at, newest.request, newest.detail
       FROM ${table} JOIN charges ON charges.number = newest.number
       WHERE newest.tries > 1 AND charges.class <> 'answered' AND ${TOLD}`,
  );
}

/** Those of records of earlier versions: the status is the one that the client got. */
function untoldErrors(sql: Sql, { table, deployment }: Newest) {
  return sql.all<{ deployment: number; status: number | null; class: string; calls: number }>(
    `SELECT deployment, status, '' AS class, count(*) AS calls FROM ${table}
       WHERE outcome = ${FAILED} AND target IS NOT NULL AND NOT ${TOLD} GROUP BY deployment, status
     UNION ALL
     SELECT ${deployment("charges.target")}, NULL, charges.class, count(*)
       FROM ${table} JOIN charges ON charges.number = newest.number
       WHERE newest.tries > 1 AND charges.n < newest.tries AND NOT ${TOLD} GROUP BY 1, 3`,
  );
}

interface LastRow {
  deployment: number;
  at: number;
  request: Uint8Array;
  status: number;
  text: string | null;
}

async function untoldLast(sql: Sql, { table }: Newest): Promise<Map<number, LastError>> {
  const rows = await sql.all<LastRow>(
    `SELECT found.deployment, calls.at, calls.request, calls.status, names.text
     FROM (SELECT deployment, max(number) AS number FROM ${table}
           WHERE ${LAST_FAILED} AND target IS NOT NULL AND NOT ${TOLD} GROUP BY deployment) AS found
     JOIN calls ON calls.number = found.number LEFT JOIN names ON names.id = calls.error`,
  );
  return new Map(
    rows.map(({ deployment, at, request, status, text }) => {
      const code = text?.includes("/") ? text.slice(text.indexOf("/") + 1) : (text ?? undefined);
      return [deployment, { at, call: unpackId(request, at), status, ...(code !== undefined && { code }) }];
    }),
  );
}
