/**
 * Explains a request without sending it: who would serve it and why, what weir would send, which fields would be lost. It runs
 * the first step of the pipeline, `prepare`, and no other.
 */
import { Attempt, Call } from "../core/call.ts";
import type { ClientCodec, RequestCheck, Format } from "../core/format.ts";
import { repeatsByCause } from "../core/merge-policies.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { hasRequests, type KindRoute, type ModelKind } from "../core/model-kind.ts";
import { parseJson } from "../core/json.ts";
import type { Principal } from "../core/principal.ts";
import type { Target } from "../core/provider.ts";
import type { Upload, UploadPart } from "../core/upload.ts";
import { invalidRequest } from "../core/error.ts";
import { assertModel, prepareModel } from "./access.ts";
import { modelAsked, streamAsked, withModelSettings } from "./asked.ts";
import { chooseLane } from "./lanes/choose-lane.ts";
import type { PrepareContext, Prepared } from "./lanes/lane.ts";
import { earlyViewOf } from "./plugins/call-view.ts";
import { hasEarlyHooks, runAdmitHooks, runEarlyHooks, viewBefore } from "./plugins/early-hooks.ts";
import { explainedBy } from "./plugins/explained.ts";
import { keyName } from "./routing/credentials.ts";
import { foreseeEmbed } from "./embed/foresee.ts";
import { foreseeKind } from "./kinds/foresee.ts";
import { planIncoming } from "./kinds/plan-incoming.ts";
import { sizeFor } from "./kinds/prepare.ts";
import type { Plan } from "./routing/plan.ts";
import { describePlan, rank } from "./routing/plan.ts";
import { sizeOf, sizeOfInputs } from "./request-size.ts";
import type { Registry } from "./routing/registry.ts";
import { retriesOf } from "./retry/attempts.ts";
import { breakerOptions } from "./retry/health.ts";
import { findNamed } from "./find-named.ts";
import type { StoredCall } from "./stored/types.ts";
import type { Foresight, Incoming } from "./types.ts";

export interface ExplainOptions extends Omit<Incoming, "call" | "format"> {
  format: Format & { client: ClientCodec };
  headers: Headers;
  /** Who asks. */
  principal?: Principal;
  /** The request is one for embeddings. */
  embeds?: boolean;
  /** The request asks something of a kind. */
  asks?: { kind: ModelKind; route: KindRoute };
  /** The request is a form, and `body` has its fields. */
  upload?: Upload;
}

/** The first step of a call. */
export interface Foreseen {
  plan: Plan;
  attempt: Attempt;
  /** Absent if a program answers. */
  prepared?: Prepared;
  /** Facts that only some kinds of requests have. */
  more?: JsonObject;
}

/** @throws GatewayError as the call would: for an invalid body, an unknown model, a loss in strict mode */
export async function explain(options: ExplainOptions, context: PrepareContext): Promise<JsonObject> {
  const { embeds, asks } = options;
  const { registry } = context;
  const call = callOf(options, context);
  await prepareModel(call, call.model, registry);
  const { plan, attempt, prepared, more } = await foreseeCall(call, options, context);
  const { target, losses } = attempt;
  return {
    format: call.format,
    model: call.model,
    served_by: {
      provider: target.provider.name,
      deployment: target.deployment.name,
      model: target.model,
      lane: attempt.lane,
      format: target.format || null,
      reason: target.reason,
      ...(await endOf(target, context)),
    },
    plan: describePlan(plan, embeds || asks ? [] : context.hooks) as unknown as Json,
    ...describePolicies(call, target, context),
    candidates: registry.explain(call.model) as unknown as Json,
    request: await describe(prepared, registry),
    ...more,
    losses: losses as unknown as Json,
  };
}

/**
 * The first step of a call that is not sent, without its description. It asks no host for its models, and runs the hooks of plugins
 * that decide about a call before its first attempt.
 * @returns the target alone, if a plugin would answer in place of a provider
 * @throws GatewayError as {@link explain}
 */
export async function foreseeRequest(
  options: ExplainOptions,
  context: PrepareContext,
): Promise<Foreseen | { readonly answeredBy: Target }> {
  const call = callOf(options, context);
  assertModel(call.principal, call.model, context.registry);
  const { asks, embeds } = options;
  if (asks || embeds) {
    await runAdmitHooks(
      earlyViewOf(call, () => undefined),
      context.hooks,
    );
  } else if (hasEarlyHooks(context.hooks)) {
    const answeredBy = await runEarlyHooks({ ...options, call }, context.hooks);
    if (answeredBy) return { answeredBy };
  }
  return foreseeCall(call, options, context);
}

/** The call of a valid request. @throws GatewayError for an invalid one */
function callOf(
  { format, body, embeds, asks, headers, principal }: ExplainOptions,
  { registry }: PrepareContext,
): Call {
  const checks: Pick<RequestCheck, "checkRequest"> =
    asks?.route ?? (embeds ? format.client.beside.embeds![0]! : format.client.request);
  checks.checkRequest(body);
  if (!embeds && !asks && format.client.request.idle?.answer(body))
    throw invalidRequest("The request wants nothing of a model: weir answers it without a provider.");
  const id = asks?.kind.id ?? (embeds ? format.client.beside.embeds![0]!.dialect : format.id);
  const call = new Call("explain", id, headers);
  call.principal = principal;
  call.model = modelAsked(
    (body["model"] ?? asks?.route.defaultModel) as string,
    format.client.routes,
    registry,
  );
  call.stream = streamAsked(body["stream"], format.client.request);
  return call;
}

function foreseeCall(call: Call, options: ExplainOptions, context: PrepareContext): Promise<Foreseen> {
  const { embeds, asks } = options;
  if (asks) return foreseeAsk(options, asks, call, context);
  return embeds ? foreseeEmbedding(options, call, context) : foresee(options, call, context);
}

/** How often weir would repeat the call, and when it would skip the target. */
function describePolicies(
  { model }: Call,
  target: Target,
  { registry, retries }: PrepareContext,
): JsonObject {
  const wanted = retries && retriesOf(model, { registry, retries });
  const { enabled, failures, cooldownMs, longestCooldownMs, policy } = breakerOptions(target);
  return {
    ...(wanted && {
      retries: {
        attempts: wanted.attempts,
        maybe_sent: wanted.maybeSent,
        repeats_after: { ...repeatsByCause(wanted) },
      },
    }),
    circuit_breaker: {
      ...{ enabled, failures, cooldown_ms: cooldownMs, longest_cooldown_ms: longestCooldownMs },
      policy: { ...policy },
    },
  };
}

/** The day on which the provider turns the model off. */
async function endOf({ provider, model }: Target, { catalog }: PrepareContext): Promise<JsonObject> {
  const day = (await catalog?.known(`${provider.name}/${model}`))?.facts?.deprecatedOn;
  return day === undefined ? {} : { turned_off_on: day };
}

async function foresee(options: ExplainOptions, call: Call, context: PrepareContext): Promise<Foreseen> {
  const { format } = options;
  const { registry } = context;
  const { model, stream } = call;
  // Of a call, the URL says both.
  const body = format.client.routes.address ? { ...options.body, model, stream } : options.body;
  const { incoming, seen, hooks } = await foreseenBy(
    withModelSettings({ ...options, body, call }, registry),
    context,
  );
  await findNamed(incoming, context);
  const { stored, cached } = incoming;
  const whole = planIncoming({ ...options, call }, call.servingModel, registry);
  const continued = stored ? stored.narrow(whole) : whole;
  const plan = cached ? cached.narrow(continued) : continued;
  const attempt = new Attempt(call, rank(plan.choices, () => "")[0]!.target);
  const { bytes } = incoming;
  const added = [...seen.values()].reduce((sum, { tokens = 0 }) => sum + tokens, 0);
  const size = () => {
    const own = sizeOf(incoming);
    return { ...own, structure: own.structure + added };
  };
  const cost = context.ledger?.foresee?.(attempt, { bytes: bytes.length, size, affinity: () => "" });
  // Of a call, the ledger admits first.
  const prepared = await chooseLane(incoming, attempt, { ...context, hooks }).prepare();
  const said = explainedBy(context.hooks, viewBefore(incoming));
  const plugins = pluginsOf(seen, said);
  const more = {
    ...(stored && { stored: describeStored(stored, attempt) }),
    ...(cost && { cost }),
    ...(plugins && { plugins }),
  };
  return { plan, attempt, prepared, more };
}

/** The request as parts of weir hand it on, and hooks for what they would add. */
async function foreseenBy(incoming: Incoming, { foresee, hooks, registry }: PrepareContext) {
  const seen = (await foresee?.(incoming, registry)) ?? new Map<string, Foresight>();
  const edits = [...seen].flatMap(([plugin, { edit }]) => (edit ? [{ plugin, request: edit }] : []));
  const edited = Object.assign({}, ...[...seen.values()].map((one) => one.edited)) as Partial<Incoming>;
  return { incoming: { ...incoming, ...edited }, seen, hooks: [...edits, ...hooks] };
}

async function foreseeEmbedding(
  options: ExplainOptions,
  call: Call,
  context: PrepareContext,
): Promise<Foreseen> {
  const client = options.format.client.beside.embeds![0]!;
  const { incoming: asked, seen } = await foreseenBy({ ...options, call }, context);
  const { body, bytes, spanOf } = asked;
  const incoming = { call, client, request: client.decodeRequest(body), bytes, spanOf };
  const { requests, ...foreseen } = foreseeEmbed(incoming, context);
  const said = explainedBy(
    context.hooks,
    earlyViewOf(call, () => undefined),
  );
  const plugins = pluginsOf(seen, said);
  const size = () => sizeOfInputs(incoming.request.inputs);
  const cost = context.ledger?.foresee?.(foreseen.attempt, { bytes: bytes.length, size, affinity: () => "" });
  return { ...foreseen, more: { requests, ...(cost && { cost }), ...(plugins && { plugins }) } };
}

/** What parts of weir and plugins say, by their names. @returns undefined: nothing */
function pluginsOf(
  seen: ReadonlyMap<string, Foresight>,
  said: JsonObject | undefined,
): JsonObject | undefined {
  const own = Object.fromEntries([...seen].map(([name, one]) => [name, one.said]));
  return seen.size > 0 ? { ...own, ...said } : said;
}

async function foreseeAsk(
  { body, bytes, spanOf, upload }: ExplainOptions,
  { kind, route }: NonNullable<ExplainOptions["asks"]>,
  call: Call,
  context: PrepareContext,
): Promise<Foreseen> {
  const request = route.decodeRequest(body, upload);
  const form = upload && { upload, body };
  const incoming = { call, kind, route, request, bytes, spanOf, ...(form && { form }) };
  const foreseen = await foreseeKind(incoming, context);
  const size = (target: Target) => sizeFor(incoming, target);
  const cost = context.ledger?.foresee?.(foreseen.attempt, { bytes: bytes.length, size, affinity: () => "" });
  return { ...foreseen, ...(cost && { more: { cost } }) };
}

/** Additions of stored answers to the request, and who would store its answer. */
function describeStored(stored: StoredCall, attempt: Attempt): JsonObject {
  return {
    added_items: stored.added.length,
    only_at: stored.pin ?? null,
    stored_by: attempt.storesAnswer ? "weir" : stored.keeperOf(attempt) === "provider" ? "provider" : null,
  };
}

/** The request that weir would send, with the names of variables for credentials; null for a provider that is a program. */
async function describe(prepared: Prepared | undefined, registry: Registry): Promise<JsonObject | null> {
  if (!prepared) return null;
  const { method = "POST", url, body, upload, changed, expects, target } = prepared;
  const framing = target.provider.framing?.[target.format];
  return {
    method,
    url,
    headers: await shownHeaders(prepared, registry),
    ...authorization(target),
    ...(framing && expects === "stream" && { framing: framing.contentType }),
    ...(upload
      ? { parts: upload.parts.map(describePart) }
      : { body: parseJson(Buffer.concat(body).toString()) ?? null }),
    // Native lane: the top-level members that weir changes; it sends all others byte for byte.
    ...(changed && { changed: [...changed] }),
  };
}

/** The headers of a request, with the names of variables in place of credentials, and those that the provider's plugin adds. */
export async function shownHeaders(
  { method = "POST", url, headers, body, target }: Prepared,
  { formats, dialects, kinds }: Registry,
): Promise<JsonObject> {
  const lists =
    formats.get(target.format)?.upstream?.address ??
    dialects.get(target.format) ??
    [...kinds.values()]
      .filter(hasRequests)
      .flatMap((kind) => kind.dialects)
      .find(({ id }) => id === target.format);
  const shown = nameCredentials(headers, target, lists?.requestHeaders ?? []);
  const { authorizer } = target.deployment;
  if (!authorizer) return shown;
  const added = await authorizer.preview({ method, url: new URL(url), headers, body });
  return { ...shown, ...Object.fromEntries(added.map((name) => [name, "***"])) };
}

/** A part of a form. Files are described by what they are, and texts by their length. */
function describePart({ name, filename, type, length }: UploadPart): JsonObject {
  return {
    name,
    ...(filename !== undefined && { filename }),
    ...(type !== undefined && { type }),
    length,
  };
}

/** The credentials from which the provider's plugin makes further headers for each request, by the names of their variables. */
function authorization({
  deployment: { authorizer, secretNames = [], credentialSource },
}: Target): JsonObject {
  if (!authorizer) return {};
  const names = secretNames.map((name) => `$${name}`);
  return { authorized_with: credentialSource === undefined ? names : [...names, credentialSource] };
}

/**
 * Replaces credentials by the names of their variables.
 * @param known headers of the provider's format, which hold no secrets
 */
function nameCredentials(
  headers: Readonly<Record<string, string>>,
  { provider, deployment }: Target,
  known: readonly string[],
): JsonObject {
  const name = `$${deployment.secretNames?.[0] ?? keyName(provider)}`;
  const configured = Object.keys(provider.headers ?? {});
  const shown = Object.entries(headers).map(([header, value]): [string, string] => {
    if (deployment.credentials[header] !== undefined)
      return [header, header === "authorization" ? `Bearer ${name}` : name];
    // Headers of the config may contain other secrets.
    return [header, configured.includes(header) && !known.includes(header) ? "***" : value];
  });
  return Object.fromEntries(shown);
}
