/** Explains a request without sending it: who would serve it and why, what weir would send, which fields would be lost. */
import { Call } from "../core/call.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { parseJson } from "../core/json.ts";
import { variableName } from "../core/settings.ts";
import { contextOf } from "./lanes/codec-context.ts";
import { encodeUpstream } from "./lanes/translated.ts";
import type { Gateway } from "./types.ts";
import { nativeBody } from "./lanes/native-body.ts";
import { describePlan } from "./routing/plan.ts";
import { headerFilters, upstreamHeaders } from "./lanes/send.ts";
import { refuseLosses } from "./lanes/strict.ts";
import { asksForUsage } from "./lanes/usage-request.ts";

export interface ExplainOptions {
  format: Format & { client: ClientCodec };
  body: JsonObject;
  bytes: Uint8Array;
  /** Byte range of the value of a top-level member. */
  spanOf(name: string): { start: number; end: number } | undefined;
  headers: Headers;
}

/** @throws GatewayError as the call would: for an invalid body, an unknown model, a loss in strict mode */
export async function explain(
  options: ExplainOptions,
  gateway: Pick<Gateway, "registry" | "hooks" | "strict">,
): Promise<JsonObject> {
  const { format, body } = options;
  const client: ClientCodec = format.client;
  client.checkRequest(body);
  const call = new Call("explain", format.id, options.headers);
  call.model = body["model"] as string;
  call.stream = body["stream"] === true;
  await gateway.registry.prepare(call.model);
  const target = gateway.registry.resolve(call.model, format.id);
  call.target = target;
  if (target.substitute) call.reportLoss("substituted", "model", target.reason);
  const request = await upstreamRequest(options, call, gateway);
  return {
    format: format.id,
    model: call.model,
    served_by: {
      provider: target.provider.name,
      deployment: target.deployment.name,
      model: target.model,
      lane: target.lane,
      format: target.format || null,
      reason: target.reason,
    },
    plan: describePlan(gateway.registry.plan(call.model, format.id)) as unknown as Json,
    candidates: gateway.registry.explain(call.model) as unknown as Json,
    request,
    losses: call.losses as unknown as Json,
  };
}

/** The request that weir would send; null for a provider that is a program. */
async function upstreamRequest(
  options: ExplainOptions,
  call: Call,
  gateway: Pick<Gateway, "registry" | "hooks" | "strict">,
): Promise<JsonObject | null> {
  const target = call.target!;
  const rewrites = gateway.hooks.some((hook) => hook.request || hook.answer);
  const native = target.lane === "native" && !rewrites;
  const codec = gateway.registry.formats.get(target.format)?.upstream;
  let body: Uint8Array[];
  let headers: Record<string, string>;
  let changed: readonly string[] | undefined;
  if (native) {
    const { pieces, changed: members } = nativeBody(
      { call, ...options },
      target,
      codec!,
      asksForUsage(target),
    );
    body = pieces;
    changed = members;
    headers = upstreamHeaders(target, headerFilters(codec!).request(options.headers), call.stream);
    refuseLosses(call, gateway);
  } else {
    const request = options.format.client.decodeRequest(options.body, contextOf(call));
    call.request = request;
    for (const hook of gateway.hooks) await hook.request?.(request, call);
    if (target.lane === "generated") return null;
    const encoded = encodeUpstream(request, call, codec!, gateway);
    body = [encoded.body];
    headers = encoded.headers;
  }
  return {
    method: "POST",
    url: target.url,
    headers: nameCredentials(headers, call),
    body: parseJson(Buffer.concat(body).toString()) ?? null,
    // Native lane: the top-level members that weir changes; it sends all others byte for byte.
    ...(changed && { changed: [...changed] }),
  };
}

/** Replaces credentials by the names of their variables. */
function nameCredentials(headers: Record<string, string>, call: Call): JsonObject {
  const { provider, deployment } = call.target!;
  const name = `$${provider.apiKey ?? variableName(provider.name, "API_KEY")}`;
  const configured = Object.keys(provider.headers ?? {});
  const shown = Object.entries(headers).map(([header, value]): [string, string] => {
    if (deployment.credentials[header] !== undefined)
      return [header, header === "authorization" ? `Bearer ${name}` : name];
    // Headers of the config may contain other secrets.
    return [header, configured.includes(header) && header !== "anthropic-version" ? "***" : value];
  });
  return Object.fromEntries(shown);
}
