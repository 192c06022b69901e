/** Whether the record of a call is one that a filter finds: the same conditions as those of the search in the store. */
import { matchesAny, namesOf } from "../../core/model-pattern.ts";
import type { AttemptRecord, CallRecord } from "../../ledger/record.ts";
import { wasTried } from "./tried.ts";
import { isWithin } from "./directory.ts";
import type { CallFilter } from "./shapes.ts";
import { costOf, isBeyond, isSession, isStatus, tokensOf } from "./wanted.ts";

export function matches(call: CallRecord, filter: CallFilter): boolean {
  const { path = "/", tags = [], attempts, losses = [] } = call;
  const last = attempts.at(-1);
  return (
    isWithin(path, filter.within ?? "/") &&
    isWithin(path, filter.path ?? "/") &&
    (filter.from === undefined || call.startedAt >= filter.from) &&
    (filter.to === undefined || call.startedAt < filter.to) &&
    isSame(filter.key, call.key) &&
    (filter.tag === undefined || tags.includes(filter.tag)) &&
    hasTarget(call, filter) &&
    (filter.failed === undefined || !filter.failed || call.outcome !== "complete") &&
    isSame(filter.outcome, call.outcome) &&
    (filter.status === undefined || isStatus(filter.status, call.status)) &&
    (filter.cost === undefined || isBeyond(filter.cost, costOf(attempts))) &&
    (filter.took === undefined || isBeyond(filter.took, call.ms)) &&
    (filter.tokens === undefined || isBeyond(filter.tokens, tokensOf(attempts))) &&
    (filter.id === undefined || call.id.startsWith(filter.id) || call.upstreamId === filter.id) &&
    (filter.slowerThan === undefined || call.ms >= filter.slowerThan) &&
    (filter.tried === undefined || wasTried(call, filter.tried)) &&
    (filter.retried === undefined || filter.retried === attempts.length > 1) &&
    (filter.rejected === undefined || filter.rejected === isRejected(call)) &&
    (filter.losses === undefined || filter.losses === losses.length > 0) &&
    (filter.state === undefined || attempts.some((attempt) => hasState(attempt, filter.state!))) &&
    (filter.refused === undefined ||
      (filter.refused === "any" ? call.refused !== undefined : call.refused === filter.refused)) &&
    (filter.asked === undefined || matchesAny(filter.asked, [call.model])) &&
    isSame(filter.format, call.format) &&
    (filter.client === undefined || call.client?.startsWith(filter.client) === true) &&
    (filter.session === undefined || isSession(call, filter.session)) &&
    hasColumns(call, filter) &&
    (filter.text === undefined || hasText(call, last, filter.text)) &&
    !(filter.not ?? []).some((other) => matches(call, other))
  );
}

function isRejected({ outcome, attempts, status }: CallRecord): boolean {
  return outcome === "failed" && attempts.length === 0 && status < 500;
}

function isSame<Value>(wanted: Value | undefined, value: Value | undefined): boolean {
  return wanted === undefined || wanted === value;
}

/** Whether the record has these values of columns. */
export function hasColumns(call: CallRecord, { columns = {} }: Pick<CallFilter, "columns">): boolean {
  return Object.entries(columns).every(([name, value]) => call[name as keyof CallRecord] === value);
}

/** A call whose client asked for the model needs no attempt with it. */
function hasTarget(call: CallRecord, { provider, deployment, model }: CallFilter): boolean {
  const isAnywhere = provider === undefined && deployment === undefined;
  const isAsked = model === undefined || matchesAny(model, [call.model]);
  if (isAnywhere && isAsked) return true;
  return call.attempts.some(
    (attempt) =>
      isSame(provider, attempt.provider) &&
      isSame(deployment, attempt.deployment) &&
      (isAsked || matchesAny(model!, namesOf(attempt.provider, attempt.model))),
  );
}

function hasState({ charge: { state } }: AttemptRecord, wanted: NonNullable<CallFilter["state"]>): boolean {
  const uncertain = state === "estimated" || state === "assumed";
  if (wanted === "certain") return !uncertain && state !== "unpriced";
  return wanted === "uncertain" ? uncertain : state === wanted;
}

function hasText(
  call: CallRecord,
  last: AttemptRecord | undefined,
  { text, keys }: NonNullable<CallFilter["text"]>,
): boolean {
  const { id, key, model, upstreamId } = call;
  const wanted = text.toLowerCase();
  const target = last ? `${last.deployment} ${last.provider}/${last.model}` : "";
  return (
    (text.startsWith("req_") && id.startsWith(text)) ||
    id === text ||
    upstreamId === text ||
    isSession(call, text) ||
    (key !== undefined && keys.includes(key)) ||
    `${model}\n${target}`.toLowerCase().includes(wanted)
  );
}
