/** The spans of a call: one of the call, and one of each attempt. They contain no text of a prompt or an answer. */
import { usageState } from "../../core/events.ts";
import { toDollars } from "../../ledger/money.ts";
import type { AttemptRecord, CallRecord } from "../../ledger/record.ts";
import { type AttemptFacts, type TraceFacts, traceFacts } from "./columns.ts";
import { GENAI, providerName } from "./conventions.ts";
import type { TraceSettings } from "./section.ts";
import { isSampled, spanIdOf, traceIdOf } from "./ids.ts";
import { type Attributes, Double, FLAGS, type Span, SPAN_KIND } from "./otlp.ts";

const NO_FACTS: TraceFacts = { attempts: [] };
/** `error.type` where nothing else is known. */
const OTHER = "_OTHER";

export interface SpanOptions extends Pick<TraceSettings, "share" | "parent"> {
  /** Name of a key by its id. */
  keyName(id: string): string;
}

/** @returns no spans for a call whose trace is not recorded */
export function spansOf(call: CallRecord, { share, parent: mode, keyName }: SpanOptions): Span[] {
  const facts = traceFacts.in(call) ?? NO_FACTS;
  const parent = mode === "respect" ? facts.parent : undefined;
  const trace = parent?.trace ?? traceIdOf(call.id);
  if (!(parent ? parent.sampled : isSampled(trace, share))) return [];
  const shared = { trace, ...(parent?.state && { state: parent.state }) };
  const above = facts.within === undefined ? parent?.span : spanIdOf(facts.within);
  const isRemote = parent !== undefined && facts.within === undefined;
  const error = errorOf(call);
  const own: Span = {
    ...shared,
    span: spanIdOf(call.id),
    ...(above !== undefined && { parent: above }),
    flags: FLAGS.sampled | FLAGS.hasRemote | (isRemote ? FLAGS.isRemote : 0),
    name: facts.route ? `${facts.route.method} ${facts.route.path}` : `ask ${call.model}`,
    kind: facts.within === undefined ? SPAN_KIND.server : SPAN_KIND.internal,
    start: call.startedAt,
    end: call.startedAt + call.ms,
    attributes: callAttributes(call, facts, keyName),
    ...(error !== undefined && { error }),
  };
  const tries = call.attempts.map((attempt, index): Span => {
    const made = facts.attempts[index] ?? { at: 0 };
    const start = call.startedAt + made.at;
    return {
      ...shared,
      span: spanIdOf(call.id, index + 1),
      parent: own.span,
      flags: FLAGS.sampled | FLAGS.hasRemote,
      name: `${operationOf(facts)} ${attempt.model}`,
      kind: SPAN_KIND.client,
      start,
      end: Math.min(start + attempt.ms, own.end),
      attributes: attemptAttributes(call, index, made, facts),
      ...(attempt.class !== "answered" && { error: made.what ?? attempt.class }),
    };
  });
  return [own, ...tries];
}

/** The condition of an error in the span of a call: the conventions leave out errors of the client. */
function errorOf({ outcome, status, error }: CallRecord): string | undefined {
  if (outcome !== "failed" || (status >= 400 && status < 500)) return undefined;
  return error?.code ?? error?.kind ?? OTHER;
}

/** `error.type` of an attempt; undefined if it answered. */
export function errorTypeOf(attempt: AttemptRecord, made: AttemptFacts | undefined): string | undefined {
  return attempt.class === "answered" ? undefined : (made?.what ?? OTHER);
}

function operationOf({ route }: TraceFacts): string {
  return route?.operation ?? "chat";
}

function callAttributes(
  call: CallRecord,
  { route }: TraceFacts,
  keyName: SpanOptions["keyName"],
): Attributes {
  const { attempts, error } = call;
  const last = attempts.at(-1);
  return [
    ["http.request.method", route?.method],
    ["http.route", route?.path],
    ["http.response.status_code", call.status],
    ["error.type", error && (error.code ?? error.kind)],
    ["user_agent.original", call.client],
    [GENAI.requestModel, call.model || undefined],
    [GENAI.requestStream, call.stream],
    [GENAI.conversation, call.session],
    ["weir.call.id", call.id],
    ["weir.format", call.format],
    ["weir.lane", call.lane],
    ["weir.outcome", call.outcome],
    ["weir.refused", call.refused],
    ["weir.losses", call.losses?.map(({ code, path }) => `${code} ${path}`)],
    ["weir.key", call.key === undefined ? undefined : keyName(call.key)],
    ["weir.path", call.path],
    ["weir.tags", call.tags?.length ? call.tags : undefined],
    ["weir.attempts", attempts.length],
    ["weir.cost.usd", dollars(attempts.reduce((sum, { charge }) => sum + charge.cost, 0))],
    ["weir.cost.state", last?.charge.state],
    ["weir.own_ms", call.ownMs === undefined ? undefined : new Double(call.ownMs)],
  ];
}

function attemptAttributes(
  call: CallRecord,
  index: number,
  made: AttemptFacts,
  facts: TraceFacts,
): Attributes {
  const attempt = call.attempts[index]!;
  const isLast = index === call.attempts.length - 1;
  const { firstAt, choices } = made;
  return [
    [GENAI.operation, operationOf(facts)],
    ...(operationOf(facts) === "execute_tool" ? toolAttributes(attempt) : []),
    [GENAI.provider, providerName(attempt.provider)],
    [GENAI.requestModel, attempt.model],
    [GENAI.requestStream, call.stream],
    [GENAI.requestMaxTokens, made.maxTokens],
    [GENAI.requestTemperature, made.temperature === undefined ? undefined : new Double(made.temperature)],
    [GENAI.requestChoices, choices === 1 ? undefined : choices],
    [GENAI.conversation, call.session],
    [GENAI.finishReasons, isLast && call.finish !== undefined ? [call.finish] : undefined],
    [
      GENAI.timeToFirstChunk,
      call.stream && firstAt !== undefined ? new Double(round(firstAt - made.at) / 1000) : undefined,
    ],
    ...usageAttributes(attempt),
    ["server.address", made.host],
    ["server.port", made.port],
    ["http.response.status_code", made.status],
    ["error.type", errorTypeOf(attempt, made)],
    ["weir.call.id", call.id],
    ["weir.attempt", index + 1],
    ["weir.provider", attempt.provider],
    ["weir.deployment", attempt.deployment],
    ["weir.lane", isLast ? call.lane : undefined],
    ["weir.class", attempt.class],
    ["weir.upstream.request_id", isLast ? call.upstreamId : undefined],
    ["weir.cost.usd", dollars(attempt.charge.cost)],
    ["weir.cost.state", attempt.charge.state],
    ["weir.held.usd", attempt.held > 0 ? dollars(attempt.held) : undefined],
  ];
}

/** The conventions of GenAI and of MCP for the call of a tool. */
function toolAttributes({ model }: AttemptRecord): Attributes {
  return [
    [GENAI.tool, model],
    ["mcp.method.name", "tools/call"],
  ];
}

/** Nothing was counted: zeros would say that nothing was used. */
function usageAttributes({ usage }: AttemptRecord): Attributes {
  if (usageState(usage) === "absent") return [];
  const { input, cacheRead, cacheWrite, output, reasoning } = usage;
  const some = (count: number | undefined) => (count ? count : undefined);
  return [
    [GENAI.input, input + cacheRead + cacheWrite],
    [GENAI.cacheRead, some(cacheRead)],
    [GENAI.cacheWrite, some(cacheWrite)],
    [GENAI.cacheCreation, some(cacheWrite)],
    [GENAI.output, output],
    [GENAI.reasoning, some(reasoning)],
    [GENAI.audioInput, some(usage.audioIn)],
    [GENAI.imageInput, some(usage.imageIn)],
    [GENAI.audioOutput, some(usage.audioOut)],
    [GENAI.imageOutput, some(usage.imageOut)],
  ];
}

function dollars(nano: number): Double {
  return new Double(toDollars(nano));
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
