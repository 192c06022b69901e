/** The members of a call's record that are declared as columns, in every build. */
import { type Static, Type } from "@sinclair/typebox";
import type { Attempt, Call } from "../core/call.ts";
import { REFUSED_BY, type RefusedBy } from "../core/refusal.ts";
import { formatNano } from "./money.ts";
import { column } from "../core/column.ts";
import { MAX_PROVIDER_TEXT } from "./record.ts";

const upstreamId = column({
  name: "upstreamId",
  schema: Type.String({ description: "The provider's id of the request." }),
  of: ({ attempt }) => attempt?.upstreamRequestId?.slice(0, MAX_PROVIDER_TEXT),
  fact: { label: "Provider's id", text: (id) => id, find: (id) => id },
  filter: { value: "ID", help: "calls whose request has this id at the provider" },
});

const FailedTry = Type.Object({
  try: Type.Integer({ description: "Number of the attempt, from 1." }),
  what: Type.String({
    description: "The provider's status, or one word of what happened: `timeout`, `reset`, `refused`.",
  }),
  status: Type.Optional(Type.Integer({ description: "Status of the provider's answer." })),
  code: Type.Optional(Type.String({ description: "The provider's own code or type." })),
  message: Type.Optional(
    Type.String({
      description:
        "Its message, or that of weir without one: the first 200 bytes, hosts and credentials masked.",
    }),
  ),
  upstreamId: Type.Optional(Type.String({ description: "The provider's id of the request." })),
  retryAfter: Type.Optional(Type.Number({ description: "Seconds that the provider asked for." })),
});
export type FailedTry = Static<typeof FailedTry>;

/** What the providers said of the attempts that failed; those that the client aborted are none. */
const failures = column({
  name: "failures",
  schema: Type.Array(FailedTry, { description: "The attempts that failed, with what the provider said." }),
  of: (_call, attempts) => failedTries(attempts),
  fact: { label: "Failed tries", text: (tries) => tries.map(failureText).join("; ") },
});

/** @returns undefined if none failed */
function failedTries(attempts: readonly Attempt[]): FailedTry[] | undefined {
  let tries: FailedTry[] | undefined;
  for (let at = 0; at < attempts.length; at++) {
    const { failure } = attempts[at]!;
    if (failure && failure.what !== "cancelled") (tries ??= []).push(failedTry(attempts[at]!, at + 1));
  }
  return tries;
}

function failedTry({ failure, said, upstreamStatus, upstreamRequestId }: Attempt, number: number): FailedTry {
  const { what } = failure!;
  // A program has no answer of HTTP, but an error status.
  const status = upstreamStatus ?? (/^\d{3}$/.test(what) ? Number(what) : undefined);
  return {
    ...{ try: number, what },
    ...(status !== undefined && { status }),
    ...said,
    ...(upstreamRequestId !== undefined && { upstreamId: upstreamRequestId.slice(0, MAX_PROVIDER_TEXT) }),
  };
}

type Words = Pick<FailedTry, "what" | "status" | "code" | "message">;

/** `503 overloaded_error: Overloaded`; without an error status what happened comes first: `timeout: …`. */
function saidText({ what, status, code, message }: Words): string {
  const failed = status !== undefined && status >= 400 ? String(status) : what;
  const head = code === undefined || code === failed ? failed : `${failed} ${code}`;
  return message === undefined ? head : `${head}: ${message}`;
}

/** The same with the attempt, the id and the pause: `try 1: 503 overloaded_error: Overloaded, retry after 3 s, request req_1`. */
function failureText(made: FailedTry): string {
  const { try: number, retryAfter, upstreamId } = made;
  const parts = [
    `try ${number}: ${saidText(made)}`,
    retryAfter === undefined ? "" : `retry after ${retryAfter} s`,
    upstreamId === undefined ? "" : `request ${upstreamId}`,
  ];
  return parts.filter(Boolean).join(", ");
}

const RefusedRule = Type.Object({
  kind: Type.Union([Type.Literal("budget"), Type.Literal("rate")]),
  id: Type.String(),
  name: Type.String(),
  unit: Type.Optional(Type.String({ description: "Of a rate limit: `rpm`, `concurrency`." })),
  limit: Type.Optional(
    Type.Number({
      description: "Nano-dollars, or of the unit. Amounts are absent where the reader may not see the rule.",
    }),
  ),
  needed: Type.Optional(Type.Number({ description: "What the call needed at most." })),
  left: Type.Optional(Type.Number()),
  until: Type.Optional(
    Type.Number({ description: "When it has room again. Milliseconds since 1970; absent: not by itself." }),
  ),
});

function ruleOf(call: Call): RefusedBy | undefined {
  return call.refused !== undefined && call.error !== undefined ? REFUSED_BY.get(call) : undefined;
}

/** The budget or rate limit that refused the call. */
const refusedBy = column({
  name: "refusedBy",
  schema: RefusedRule,
  of: ruleOf,
  fact: { label: "Refused by", text: ruleText },
});

/** Its id, to find the calls that it refused. */
const refusedRule = column({
  name: "rule",
  schema: Type.String({ description: "The id of the budget or rate limit that refused the call." }),
  of: (call) => ruleOf(call)?.id,
  filter: { value: "ID", help: "calls that the budget or rate limit of this id refused" },
});

/** `budget ci-bot: needed $0.53, $0.096 of $5.00 left until 2026-12-01T00:00:00Z` */
function ruleText({ kind, name, unit, limit, needed, left, until }: RefusedBy): string {
  const amount = (value: number) => (kind === "budget" ? formatNano(value) : String(value));
  const needs = needed === undefined ? "" : `needed ${amount(needed)}, `;
  const when = until === undefined ? "" : ` until ${new Date(until).toISOString().slice(0, 19)}Z`;
  if (limit === undefined || left === undefined) return `${kind} ${name}`;
  return `${kind} ${name}: ${needs}${amount(left)} of ${amount(limit)}${unit === undefined ? "" : ` ${unit}`} left${when}`;
}

/** The values of columns that plugins declare, by `PLUGIN.NAME`. They are checked when they come in here. */
export const pluginValues = column({
  name: "plugins",
  schema: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    description: "What plugins say of the call, by the name of the plugin and of its column.",
  }),
  log: { name: "plugins" },
  line: (values) => listed(values, "="),
  fact: { label: "Plugins", text: (values) => listed(values, " ") },
});

function listed(values: Readonly<Record<string, string | number | boolean>>, between: string): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}${between}${value}`)
    .join(", ");
}

export const LEDGER_COLUMNS = [upstreamId, failures, refusedBy, refusedRule, pluginValues];
