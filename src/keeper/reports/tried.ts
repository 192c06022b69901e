/** Attempts that failed, in groups by who is at fault: in records, and as conditions on rows of the store. */
import type { CallRecord } from "../../ledger/record.ts";
import type { FailedTry } from "../../ledger/columns.ts";
import { OUTCOMES } from "../record/call-rows.ts";
import { inList } from "./directory.ts";
import type { Fault, Tried, TriedFilter } from "./shapes.ts";

const CREDENTIAL = ["401", "402", "403", "authentication", "authorization", "permission", "quota"];
/** What weir says of a request before it is sent. */
const REQUEST = ["invalid-request", "not-found", "conflict", "too-large", "unsupported-media-type"];
const BY_WORD = new Map<string, Fault>([
  ["429", "429"],
  ...CREDENTIAL.map((word) => [word, "credential"] as const),
  ...REQUEST.map((word) => [word, "request"] as const),
]);

/** @param what the status of the provider's error, or a word */
export function groupOf(what: string): Fault {
  const known = BY_WORD.get(what);
  if (known) return known;
  if (/^5\d\d$/.test(what)) return "5xx";
  return /^4\d\d$/.test(what) ? "request" : "broken";
}

/** Whether an attempt of the call failed so. */
export function wasTried(call: CallRecord, { group, at }: TriedFilter): boolean {
  const { failures } = call as { failures?: readonly FailedTry[] };
  return call.attempts.some(({ deployment }, index) => {
    if (at !== undefined && deployment !== at) return false;
    const isLast = index === call.attempts.length - 1;
    const what = failures
      ? failures.find(({ try: number }) => number === index + 1)?.what
      : untold(call, isLast);
    if (what === undefined) return false;
    return group === "failed" ? groupOf(what) !== "request" : groupOf(what) === group;
  });
}

/** Records of earlier versions have the status that the client got. */
function untold({ outcome, status }: CallRecord, isLast: boolean): string | undefined {
  if (!isLast) return "";
  return outcome === "failed" ? String(status) : undefined;
}

/** Whether the store has what the provider said. @param detail a column */
export const toldIn = (detail: string) => `coalesce(${detail}, '') LIKE '%"failures":[{%'`;

/** What a group has, and what it has not although it looks so: patterns of {@link FailedTry.what}. */
const PATTERNS: Readonly<Record<Fault, { has: readonly string[]; not?: readonly string[] }>> = {
  "429": { has: ["429"] },
  "5xx": { has: ["5__"] },
  credential: { has: CREDENTIAL },
  request: { has: ["4__", ...REQUEST], not: ["429", "401", "402", "403"] },
  broken: { has: ["%"], not: ["4__", "5__", ...CREDENTIAL, ...REQUEST] },
};

const CLIENTS = "status BETWEEN 400 AND 499 AND status NOT IN (401, 402, 403, 429)";
const STATUSES: Readonly<Record<Fault, string>> = {
  "429": "status = 429",
  "5xx": "status BETWEEN 500 AND 599",
  credential: "status IN (401, 402, 403)",
  request: CLIENTS,
  broken: "status NOT BETWEEN 400 AND 599",
};

/** @param number of the attempt, as SQL. A quotation mark within a text of `detail` is escaped there. */
function saidOf(group: Tried, number: string): string {
  if (group === "failed") return `(${any(["%"], number)} AND NOT ${saidOf("request", number)})`;
  const { has, not } = PATTERNS[group];
  return not ? `(${any(has, number)} AND NOT ${any(not, number)})` : any(has, number);
}

function any(patterns: readonly string[], number: string): string {
  const found = patterns.map(
    (pattern) => `coalesce(detail, '') LIKE '%{"try":' || ${number} || ',"what":"${pattern}"%'`,
  );
  return `(${found.join(" OR ")})`;
}

/** The last attempt failed and the record does not say how: the status is the one that the client got. */
function lastOf(group: Tried): string {
  const is = group === "failed" ? `NOT (${CLIENTS})` : STATUSES[group];
  return `(outcome = ${OUTCOMES.indexOf("failed")} AND ${is})`;
}

/** The last attempt failed, by no fault of the client. */
export const LAST_FAILED = lastOf("failed");

/**
 * A condition on rows `scanned` of `calls`.
 * @param targets those of the deployment, undefined for any
 */
export function triedCondition(group: Tried, targets: readonly number[] | undefined): string {
  const at = (column: string) => (targets ? `${column} ${inList(targets)}` : "1 = 1");
  const told = toldIn("detail");
  const earlier = group === "broken" || group === "failed" ? "charges.n < tries" : "1 = 0";
  const last = lastOf(group);
  return `(tries = 1 AND ${at("target")} AND (${saidOf(group, "1")} OR (NOT ${told} AND ${last}))
    OR tries > 1 AND EXISTS (SELECT 1 FROM charges WHERE charges.number = scanned.number AND ${at("charges.target")}
      AND (${saidOf(group, "charges.n")} OR (NOT ${told} AND (${earlier} OR (charges.n = tries AND ${last}))))))`;
}
