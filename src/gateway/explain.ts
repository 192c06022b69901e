/** What would become of a request, without calling anyone: who serves it and why, what would be sent, what is lost. */
import { Call } from "../core/call.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { parseJson } from "../core/json.ts";
import { variableName } from "../core/settings.ts";
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
  /** Where the value of a top-level member stands. */
  spanOf(name: string): { start: number; end: number } | undefined;
  headers: Headers;
}

/** @throws GatewayError as the call itself would: for a wrong body, an unknown model, a thing no provider can take. */
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
  const request = await outgoing(options, call, gateway);
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

async function outgoing(
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
    const made = nativeBody({ call, ...options }, target, codec!, asksForUsage(target));
    body = made.pieces;
    changed = made.changed;
    headers = upstreamHeaders(target, headerFilters(codec!).request(options.headers), call.stream);
    refuseLosses(call, gateway);
  } else {
    const request = options.format.client.decodeRequest(options.body, call);
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
    // Top-level members of the client's own body that weir changed; all others go out byte for byte.
    ...(changed && { changed: [...changed] }),
  };
}

/** Credentials are shown as the names they are known by. */
function nameCredentials(headers: Record<string, string>, call: Call): JsonObject {
  const { provider, deployment } = call.target!;
  const name = `$${provider.apiKey ?? variableName(provider.name, "API_KEY")}`;
  const configured = Object.keys(provider.headers ?? {});
  const shown = Object.entries(headers).map(([header, value]): [string, string] => {
    if (deployment.credentials[header] !== undefined)
      return [header, header === "authorization" ? `Bearer ${name}` : name];
    // Headers of the config may hold secrets of their own.
    return [header, configured.includes(header) && header !== "anthropic-version" ? "***" : value];
  });
  return Object.fromEntries(shown);
}
