/** Another way to a provider than a connection for each request: a part of weir gathers requests and hands their answers out. */
import type { Attempt, Call } from "../../core/call.ts";
import { Slot } from "../../core/slot.ts";
import { Stop } from "../../core/stop.ts";
import type { Target } from "../../core/provider.ts";
import { GatewayError } from "../../core/error.ts";
import { authorizedHeaders } from "../routing/authorizer.ts";
import type { Plan } from "../routing/plan.ts";
import type { Prepared } from "./lane.ts";
import { type Method, transport, type UpstreamResponse } from "./transport.ts";

export type { Method } from "./transport.ts";
export type { Plan } from "../routing/plan.ts";
export type { Prepared } from "./lane.ts";
export type { UpstreamResponse } from "./transport.ts";

export interface Carrier {
  /**
   * Decides once for a call, before its attempt. A call that it takes has one attempt, no deadline, and no part in the health of
   * the deployment.
   * @returns the target to which it brings the request; undefined: the call goes the ordinary way
   */
  takes(plan: Plan, call: Call): Target | undefined;
  /**
   * Brings a request to the provider. Called once more if the lane leaves out what the provider refused.
   * @returns the answer, however much later @throws GatewayError; the attempt says by `wasSent` whether the provider may have it
   */
  carry(prepared: Prepared, attempt: Attempt): Promise<UpstreamResponse>;
}

/** Set on a call before its first attempt. */
export const carrierOf = new Slot<Carrier>();

/** The carrier that has taken the attempt. */
export const carriedBy = new Slot<Carrier>();

/** A request to the host of a target, beside those of calls. */
export interface BesideRequest {
  readonly method: Method;
  /** Path with query behind the base URL of the deployment. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  readonly stop?: Stop;
}

/** Time until the head of an answer. Milliseconds. */
const HEAD_MS = 120_000;

/**
 * Asks the host of a target with the credentials of its deployment.
 * @throws GatewayError `timeout` after two minutes without a head, and what the transport throws
 */
export async function askBeside(target: Target, asked: BesideRequest): Promise<UpstreamResponse> {
  const { deployment, provider } = target;
  const stop = asked.stop ?? new Stop();
  const timer = setTimeout(() => stop.abort(silent(provider.name)), HEAD_MS);
  const request = {
    method: asked.method,
    url: deployment.baseUrl + asked.path,
    headers: { "user-agent": "weir", ...provider.headers, ...asked.headers, ...deployment.credentials },
    ...{ body: asked.body ?? [], stop, tls: deployment.tls },
    ...{ connectMs: deployment.timeouts?.connectMs, pool: `beside ${deployment.name}` },
  };
  const { authorizer } = deployment;
  try {
    return await transport(
      authorizer ? { ...request, headers: await authorizedHeaders(request, authorizer) } : request,
    );
  } catch (cause) {
    throw stop.reason ?? cause;
  } finally {
    clearTimeout(timer);
  }
}

function silent(provider: string): GatewayError {
  return new GatewayError("timeout", `The provider ${provider} did not answer within ${HEAD_MS / 1_000} s.`, {
    code: "timeout",
  });
}
