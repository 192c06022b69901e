/**
 * One call of a kind, from the client's request to its answer. Retries, circuit breakers, fallbacks and the deployments of a model
 * are those of every call.
 */
import type { Attempt } from "../../core/call.ts";
import { NO_USAGE } from "../../core/events.ts";
import type { KindAnswer, KindRequest } from "../../core/kind.ts";
import { type AnswerFacts, type KindDialect, KindFault, type ModelKind } from "../../core/model-kind.ts";
import { inputLikely } from "../../core/tokens/likely.ts";
import { LongEvents } from "../../stream/long-events.ts";
import { writeFrame } from "../../stream/sse.ts";
import { planFor } from "../access.ts";
import { STREAM_HEADERS } from "../delivery/response-headers.ts";
import { WrittenSource } from "../delivery/written-source.ts";
import type { Opened } from "../lanes/lane.ts";
import { assertCanKeep, keep } from "../caches/kept.ts";
import { adoptReported, refuseLosses } from "../lanes/losses.ts";
import { passedHeaders, passedRefusal } from "../lanes/passed-error.ts";
import {
  discard,
  eventReader,
  invalidAnswer,
  isStream,
  readAnswer,
  readErrorText,
} from "../lanes/read-answer.ts";
import { withHint } from "../lanes/hints.ts";
import { tell } from "../lanes/receive.ts";
import { RelaySource } from "../lanes/relay-source.ts";
import { send } from "../lanes/send.ts";
import { earlyViewOf } from "../plugins/call-view.ts";
import { runAdmitHooks } from "../plugins/early-hooks.ts";
import { performedBy } from "../plugins/kind-programs.ts";
import { attempt } from "../retry/attempts.ts";
import type { UpstreamResponse } from "../lanes/transport.ts";
import type { RequestSize } from "../../core/request-size.ts";
import type { Gateway } from "../types.ts";
import { GatewayError } from "../../core/error.ts";
import { withFetched } from "./fetched.ts";
import { BytesSource } from "./bytes-source.ts";
import { answerForm, dialectOf, prepareKind, sizeFor } from "./prepare.ts";
import type { IncomingKind } from "./types.ts";

/**
 * Runs the `admit` hooks, and tries the deployments of the model until one has answered.
 * @throws GatewayError for a model that no provider serves the kind with, and when the last permitted attempt has failed
 */
export async function perform(incoming: IncomingKind, gateway: Gateway): Promise<Opened> {
  const { call, kind, request, bytes } = incoming;
  if (kind.keeps) assertCanKeep(call, gateway);
  call.asker = gateway.asker;
  await runAdmitHooks(
    earlyViewOf(call, () => undefined),
    gateway.hooks,
  );
  if (call.abortReason) throw call.abortReason;
  return attempt(
    {
      call,
      plan: planFor(call, call.servingModel, gateway.registry, request.dialect, kind.id),
      affinity: () => call.id,
      bytes: bytes.length,
      size: (target) => sizeFor(incoming, target),
      repeatsUnsentOnly: kind.repeats === "unsent",
      open: (running, receiver) => tell(open(incoming, running, gateway), receiver),
    },
    gateway,
  );
}

/** One attempt. */
async function open(incoming: IncomingKind, running: Attempt, gateway: Gateway): Promise<Opened> {
  const { request, kind } = incoming;
  const { target } = running;
  if (target.substitute) running.reportLoss("substituted", "model", target.reason);
  const dialect = dialectOf(incoming, target);
  if (dialect) return ask(incoming, running, dialect, gateway);
  refuseLosses(running, gateway);
  const answer = await performedBy(target.provider, kind.id, request, running);
  running.firstByteAt = performance.now();
  const made = completed(answer, incoming, running);
  await bind(made, incoming, running, gateway);
  return written(made, incoming, running);
}

async function ask(
  incoming: IncomingKind,
  running: Attempt,
  dialect: KindDialect,
  gateway: Gateway,
): Promise<Opened> {
  const { target } = running;
  running.opaque = opaqueOf(incoming, running);
  const response = await send(await prepareKind(incoming, running, dialect, gateway), running);
  if (!response.ok) throw await refusalOf(response, running, dialect);
  await adoptReported(response, running, gateway);
  const asked: Asked = { incoming, running, dialect, response };
  const form = answerForm(incoming, target, dialect);
  if (form === "bytes") return openBytes(asked, gateway);
  // A host may not stream for some of its models.
  if (form === "events" && isStream(response, target, true)) return openEvents(asked, gateway);
  return openJson(asked, gateway);
}

/** A request that its host has answered. */
interface Asked {
  incoming: IncomingKind;
  running: Attempt;
  dialect: KindDialect;
  response: UpstreamResponse;
}

async function openJson({ incoming, running, dialect, response }: Asked, gateway: Gateway): Promise<Opened> {
  const { call, request, kind } = incoming;
  const { target } = running;
  const bytes = await readAnswer(response, running, kind.answerBytes);
  running.firstByteAt = performance.now();
  const answer = dialect.readBytes
    ? dialect.readBytes(bytes, request)
    : dialect.readAnswer(new TextDecoder().decode(bytes), request);
  if (!answer) throw invalidAnswer(target);
  const whole = await withFetched(completed(answer, incoming, running), incoming, running, gateway);
  await bind(whole, incoming, running, gateway);
  call.status = response.status;
  const passed = passedHeaders(dialect, response, target);
  const passes =
    target.lane === "native" && whole === answer && !(request.stream && incoming.route.writeEvents);
  const opened: Opened = passes ? { ...JSON_ANSWER, body: bytes } : written(whole, incoming, running);
  return { ...opened, headers: { ...passed, ...opened.headers } };
}

/** Types of bodies that are no content: an error with status 200, a page of a proxy. */
const OTHER_ANSWER = /^\s*(?:text\/|application\/(?:[\w.-]+\+)?json\b)/i;

/** The provider's bytes, with its content type. @throws GatewayError for a body of another kind, and an empty one */
async function openBytes({ incoming, running, dialect, response }: Asked, gateway: Gateway): Promise<Opened> {
  const { body, headers, status } = response;
  const { target } = running;
  const type = headers.get("content-type") ?? "application/octet-stream";
  if (!body || OTHER_ANSWER.test(type)) {
    await discard(response);
    throw invalidAnswer(target);
  }
  const source = new BytesSource(body.getReader(), running, gateway);
  await source.begin();
  if (source.isEmpty) throw invalidAnswer(target);
  const usage = dialect.usageOfBytes?.(headers, incoming.request);
  noteUsage(usage ? { usage } : {}, incoming, running);
  const passed = { ...passedHeaders(dialect, response, target), "content-type": type };
  return { kind: "stream", isBinary: true, status, headers: passed, source };
}

/** The provider's events, which the dialect reads as they pass. */
async function openEvents(
  { incoming, running, dialect, response }: Asked,
  gateway: Gateway,
): Promise<Opened> {
  const { body, status } = response;
  const { target } = running;
  if (!body || !dialect.watch) throw invalidAnswer(target);
  const size = sizeFor(incoming, target);
  // Hosts may stream and count nothing.
  if (size.instead) noteEither(size, running);
  const tap = new LongEvents(dialect.watch);
  const source = new RelaySource(eventReader(body, target), tap, NO_CHOICES, running, gateway);
  await source.begin();
  const headers = { ...passedHeaders(dialect, response, target), ...STREAM_HEADERS };
  return { kind: "stream", status, headers, source };
}

const NO_CHOICES = { spanOf: () => undefined };

/** Notes whose it is what the provider keeps from now on. @throws GatewayError `overloaded` if it cannot be noted */
async function bind(answer: KindAnswer, incoming: IncomingKind, { target }: Attempt, gateway: Gateway) {
  const { kind, call } = incoming;
  if (!kind.keeps || (await keep(kind.keeps.thing(answer), call, target, gateway))) return;
  throw new GatewayError(
    "overloaded",
    "The provider keeps the content, but weir could not note whose it is; make it anew.",
    { code: "store_unavailable", shouldRetry: false },
  );
}

const JSON_ANSWER = {
  kind: "json",
  status: 200,
  headers: { "content-type": "application/json" },
} as const;

async function refusalOf(
  response: UpstreamResponse,
  { target }: Attempt,
  dialect: KindDialect,
): Promise<GatewayError> {
  if (target.lane === "native")
    return passedRefusal(response, { address: dialect, codec: dialect, native: dialect }, target);
  const text = await readErrorText(response, target);
  return withHint(dialect.decodeError(response.status, response.headers, text), text, target);
}

/** The answer as every dialect promises it; its usage is noted. @throws GatewayError for one that does not fit the request */
function completed(answer: KindAnswer, incoming: IncomingKind, running: Attempt): KindAnswer {
  // The provider charges for an answer that weir refuses, too.
  noteUsage(answer, incoming, running);
  try {
    return incoming.kind.complete(answer, incoming.request);
  } catch (thrown) {
    if (!(thrown instanceof KindFault)) throw thrown;
    throw new GatewayError("upstream", `The provider ${running.target.provider.name} ${thrown.message}.`, {
      code: "upstream_invalid_answer",
    });
  }
}

/** What the answer uses at most, where nothing shows how far it has come. */
function opaqueOf(incoming: IncomingKind, { target }: Attempt): Attempt["opaque"] {
  // Answers of such dialects are whole or none.
  if (dialectOf(incoming, target)?.charges) return undefined;
  const size = sizeFor(incoming, target);
  if (!size.opaque) return undefined;
  const output = (size.maxTokens ?? 0) * size.choices;
  return {
    ...{ input: inputLikely(size), output, [size.opaque]: output },
    ...(size.units && { units: size.units }),
  };
}

/** What the provider counted, else the estimate of the request. */
function noteUsage({ usage }: KindAnswer, incoming: IncomingKind, running: Attempt): void {
  const { input, units, ...counts } = usage ?? {};
  const charges = dialectOf(incoming, running.target)?.charges;
  const counted = { tokens: input !== undefined, units: units !== undefined };
  const size = charges && counted[charges] ? undefined : sizeFor(incoming, running.target);
  const isEither = size?.instead !== undefined;
  if (isEither && !counted.tokens && !counted.units) return noteEither(size, running);
  const isCounted =
    !size ||
    isEither ||
    (size.opaque ? counts.output !== undefined : counted[size.units ? "units" : "tokens"]);
  const estimate = isCounted ? 0 : inputLikely(size!);
  const used = units ?? (isCounted ? undefined : size!.units);
  if (!isCounted) running.estimated = { input: estimate, output: running.opaque?.output ?? 0 };
  running.usage = {
    ...{ ...NO_USAGE, ...counts },
    ...(!isCounted && size?.opaque && { [size.opaque]: running.opaque?.output ?? 0 }),
    input: input ?? estimate,
    ...(used && { units: used }),
    known: isCounted ? "final" : "partial",
  };
}

/** Units, and the tokens instead of them: the price of the model, which is not known here, says which of them count. */
function noteEither({ instead, units }: RequestSize, running: Attempt): void {
  const { input, output, ...audio } = instead!;
  running.estimated = { input, output, isInstead: true };
  running.usage = { ...NO_USAGE, ...audio, ...(units && { units }), known: "partial" };
}

/** What the provider counted, else an estimate: also where the provider charges by other units. Tokens. */
function inputOf({ usage }: KindAnswer, request: KindRequest, kind: ModelKind): number {
  return usage?.input ?? inputLikely(kind.sizeOf(request));
}

function written(answer: KindAnswer, { kind, route, request, call }: IncomingKind, running: Attempt): Opened {
  call.status = 200;
  const { target } = running;
  const created = Math.floor((Date.now() - (performance.now() - call.startedAt)) / 1000);
  const facts: AnswerFacts = {
    ...{ id: call.id, created, model: answer.model ?? target.model },
    // Not every answer shows it, and an estimate reads all of the request.
    get input() {
      return inputOf(answer, request, kind);
    },
  };
  const frames = request.stream ? route.writeEvents?.(answer, request, facts) : undefined;
  if (frames) {
    const text = frames.map(writeFrame).join("");
    const source = new WrittenSource(Buffer.from(text));
    return { kind: "stream", status: 200, headers: { ...STREAM_HEADERS }, source };
  }
  const body = route.writeAnswer(answer, request, facts);
  if (typeof body === "string") return { ...JSON_ANSWER, body };
  return { ...JSON_ANSWER, headers: { "content-type": body.type }, body: body.body };
}
