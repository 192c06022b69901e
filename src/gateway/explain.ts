/** What would become of a request, without calling anyone: who serves it and why, what would be sent, what is lost. */
import { Call } from "../core/call.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { parseJson } from "../core/json.ts";
import { variableName } from "../core/settings.ts";
import { encodeUpstream } from "./exchange-events.ts";
import type { Gateway } from "./exchange.ts";
import { nativeBody } from "./exchange-native.ts";
import { describePlan } from "./plan.ts";
import type { Registry } from "./registry.ts";
import { headerFilters, upstreamHeaders } from "./send.ts";

export interface ExplainOptions {
  format: Format & { client: ClientCodec };
  body: JsonObject;
  bytes: Uint8Array;
  modelSpan: { start: number; end: number };
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
  const target = gateway.registry.resolve(call.model, format.id);
  call.target = target;
  if (target.substitute) call.lose("substituted", "model", target.reason);
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
  let body: Uint8Array[];
  if (native) body = nativeBody({ call, ...options }, target, upstreamOf(gateway.registry, target.format));
  else {
    const request = options.format.client.decodeRequest(options.body, call);
    call.request = request;
    for (const hook of gateway.hooks) await hook.request?.(request, call);
    if (target.lane === "generated") return null;
    body = [encodeUpstream(request, call, upstreamOf(gateway.registry, target.format), gateway.strict)];
  }
  const forwarded = native
    ? headerFilters(upstreamOf(gateway.registry, target.format)).request(options.headers)
    : {};
  return {
    method: "POST",
    url: target.url,
    headers: nameCredentials(upstreamHeaders(target, call, forwarded), call),
    body: parseJson(Buffer.concat(body).toString()) ?? null,
  };
}

function upstreamOf(registry: Registry, format: string) {
  return registry.formats.get(format)!.upstream!;
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
