/**
 * Sends one prepared request to a provider. A host may refuse a part of it (the usage of a stream, a feature): weir answers such a
 * refusal with another request without this part.
 */
import type { Attempt, Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import type { Authorizer } from "../../core/place.ts";
import type { Deployment, Target } from "../../core/provider.ts";
import { carriedBy } from "./carrier.ts";
import { headerFilters } from "./header-filter.ts";
import { textWithoutCredential } from "../delivery/redact.ts";
import { authorizedHeaders } from "../routing/authorizer.ts";
import type { Prepared } from "./lane.ts";
import { discard } from "./read-answer.ts";
import {
  describeReason,
  reasonOf,
  transport,
  type UpstreamRequest,
  type UpstreamResponse,
} from "./transport.ts";
import { PassedRefusal } from "./passed-error.ts";
import { tapped, wireTap } from "./wire.ts";

type HeaderRecord = Readonly<Record<string, string>>;

/** Cache: the headers of the last requests to a target, by whether they ask for a stream, and by what they forward. */
const requestHeaders = new WeakMap<Target, Map<string, HeaderRecord>>();
/** Clients choose the values, so number and length are limited. */
const MAX_CACHED_HEADERS = 8;
const MAX_CACHED_LENGTH = 512;

/**
 * Headers of a request to a provider. Requests that forward the same headers share one frozen record, which the transport
 * writes only once.
 * @param forwarded headers of the client
 * @param streams whether the request asks for a stream
 */
export function upstreamHeaders(target: Target, forwarded: HeaderRecord, streams: boolean): HeaderRecord {
  let key = streams ? "stream" : "json";
  for (const name in forwarded) key += `\n${name}\n${forwarded[name]}`;
  let known = requestHeaders.get(target);
  if (!known) requestHeaders.set(target, (known = new Map()));
  const found = known.get(key);
  if (found) return found;
  const made = Object.freeze(makeHeaders(target, forwarded, streams));
  if (key.length > MAX_CACHED_LENGTH) return made;
  if (known.size >= MAX_CACHED_HEADERS) known.clear();
  known.set(key, made);
  return made;
}

/** The credential comes last, so that no other header can replace it. */
function makeHeaders(target: Target, forwarded: HeaderRecord, streams: boolean): Record<string, string> {
  const { framing, envelope, headers } = target.provider;
  const streamType = framing?.[target.format]?.contentType ?? "text/event-stream";
  const passed = { ...forwarded };
  for (const name of envelope?.[target.format]?.withoutHeaders ?? []) delete passed[name];
  return {
    "user-agent": "weir",
    ...headers,
    ...passed,
    "content-type": "application/json",
    accept: streams ? streamType : "application/json",
    // A compressed stream would arrive in batches of the compressor and not event by event.
    ...(streams && { "accept-encoding": "identity" }),
    ...target.deployment.credentials,
  };
}

/** Gets the answer of {@link sendTo}: exactly one of its methods is called, once. They must not throw. */
export interface HeadReceiver {
  /** The response with its headers; who gets it reads the body. */
  head(response: UpstreamResponse): void;
  /** @param thrown GatewayError */
  failed(thrown: unknown): void;
}

/**
 * Sends a request. @returns the response with its headers; the caller reads the body
 * @throws GatewayError as {@link sendTo}
 */
export function send(prepared: Prepared, attempt: Attempt): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => sendTo(prepared, attempt, { head: resolve, failed: reject }));
}

/**
 * Sends a request. weir follows no redirect: it would send the credential and the prompt to an origin that is not configured.
 * @param receiver its error is `upstream` if the request could not be sent, or the connection broke before the response headers
 */
export function sendTo(prepared: Prepared, attempt: Attempt, receiver: HeadReceiver): void {
  const { authorizer } = prepared.target.deployment;
  const carrier = carriedBy.get(attempt);
  const tap = wireTap.get(attempt.call);
  let sending: Promise<UpstreamResponse>;
  try {
    tap?.sent(prepared);
    if (carrier) sending = carrier.carry(prepared, attempt);
    else {
      const request = requestOf(prepared, attempt);
      attempt.wasSent = true;
      sending = authorizer ? sendAuthorized(request, authorizer) : transport(request);
    }
  } catch (cause) {
    return receiver.failed(sendFailure(cause, attempt));
  }
  sending.then(
    (response) => {
      attempt.wasSent = true;
      noteHead(response, attempt);
      if (isRedirect(response)) refuseRedirect(response, attempt, receiver);
      else receiver.head(tap ? tapped(response, tap) : response);
    },
    (cause: unknown) => receiver.failed(sendFailure(cause, attempt)),
  );
}

function requestOf(
  { target, method, url, headers, body, upload }: Prepared,
  attempt: Attempt,
): UpstreamRequest {
  const { timeouts, tls } = target.deployment;
  const { call, stop } = attempt;
  return {
    method,
    url,
    headers,
    body,
    ...(upload && { rest: upload }),
    stop,
    connectMs: timeouts?.connectMs,
    pool: poolOf(target, call),
    fresh: call.attempts.some(({ failure }) => failure?.what === "stale"),
    tls,
  };
}

function noteHead(response: UpstreamResponse, attempt: Attempt): void {
  const { target } = attempt;
  attempt.headAt = performance.now();
  attempt.upstreamStatus = response.status;
  const { requestIdHeader = "x-request-id" } = target.provider;
  const id = response.headers.get(requestIdHeader) ?? response.headers.get("request-id");
  attempt.upstreamRequestId = id === null ? undefined : textWithoutCredential(id, target);
}

function isRedirect({ status }: UpstreamResponse): boolean {
  return status >= 300 && status < 400;
}

function refuseRedirect(response: UpstreamResponse, { target }: Attempt, receiver: HeadReceiver): void {
  const error = new GatewayError(
    "upstream",
    `The provider ${target.provider.name} answered with a redirect (${response.status}), which is not followed; check its base URL.`,
    { code: "upstream_redirect" },
  );
  discard(response).then(
    () => receiver.failed(error),
    (thrown: unknown) => receiver.failed(thrown),
  );
}

/** Sends a request with the headers of the provider's plugin; if the host refuses them, once more with new ones. */
async function sendAuthorized(request: UpstreamRequest, authorizer: Authorizer): Promise<UpstreamResponse> {
  for (let isRepeated = false; ; isRepeated = true) {
    const { generation } = authorizer;
    const headers = await authorizedHeaders(request, authorizer);
    const response = await transport({ ...request, headers });
    const isRefused = response.status === 401 || response.status === 403;
    if (!isRefused || isRepeated) return response;
    if (!(await authorizer.renew(generation, response.headers.get("date")))) return response;
    await discard(response);
  }
}

/** The pool names of a deployment. `digest`: of its credential, headers and TLS settings. */
interface Pools {
  digest: string;
  /** By the name of the gateway key. */
  names: Map<string, string>;
}

const poolsByDeployment = new WeakMap<Deployment, Pools>();

/** The pool of a call. Calls share a connection only if they have the same credential and the same gateway key. */
function poolOf(target: Target, { key = "" }: Call): string {
  let pools = poolsByDeployment.get(target.deployment);
  if (!pools)
    poolsByDeployment.set(target.deployment, (pools = { digest: digestOf(target), names: new Map() }));
  let name = pools.names.get(key);
  if (name === undefined) pools.names.set(key, (name = pools.digest + key));
  return name;
}

function digestOf({ provider, deployment }: Target): string {
  const { authorizer, credentials, name, tls } = deployment;
  const identity = JSON.stringify([authorizer ? name : credentials, provider.headers, tls]);
  return new Bun.CryptoHasher("sha256").update(identity).digest("base64");
}

function sendFailure(cause: unknown, { target, stop }: Attempt): GatewayError {
  if (stop.reason) return stop.reason;
  if (cause instanceof GatewayError) return cause;
  const reason = reasonOf(cause) ?? "unreachable";
  return new GatewayError("upstream", `The provider ${target.provider.name} ${describeReason(reason)}.`, {
    code: "upstream_unreachable",
    cause,
  });
}

/** Deployments that refused the member. A reload creates new deployments, so weir asks again after it. */
const refusing = new WeakSet<Deployment>();

/** Whether weir asks a target for token counts if the client did not. */
export function asksForUsage({ provider, deployment, traits = provider.traits }: Target): boolean {
  return traits?.streamOptions !== false && !refusing.has(deployment);
}

/**
 * Whether an error says that the host refuses the member. If so, weir records it for the deployment, and should repeat the
 * request without the member.
 */
export function noteUsageRefusal(
  thrown: unknown,
  { native: { usageRequest } }: UpstreamCodec,
  { deployment }: Target,
): boolean {
  const error = thrown as Partial<GatewayError>;
  if (!usageRequest || error.kind !== "invalid-request") return false;
  const text = thrown instanceof PassedRefusal ? thrown.body : `${error.param} ${error.message}`;
  if (!text.includes(usageRequest.member)) return false;
  refusing.add(deployment);
  return true;
}

/** Records the refusal on the attempt, for `call.refused`. @returns whether the next request leaves the part out; true once */
export function leavesOutFeature({ refused }: GatewayError, attempt: Attempt): boolean {
  const { provider, format } = attempt.target;
  if (refused === undefined || attempt.refused.includes(refused)) return false;
  if (!provider.envelope?.[format]?.leavesOut?.includes(refused)) return false;
  attempt.refused = [...attempt.refused, refused];
  return true;
}
