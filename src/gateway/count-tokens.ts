/** `POST …/count_tokens`: weir forwards it to a provider that counts tokens, and estimates otherwise. */
import { Attempt } from "../core/call.ts";
import { estimateTokens } from "../core/estimate.ts";
import type { JsonObject } from "../core/json.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { TokenCounting } from "../core/provider.ts";
import { editMembers } from "../stream/scan.ts";
import { planFor } from "./access.ts";
import { findCached } from "./caches/find-cached.ts";
import type { Opened, Prepared } from "./lanes/lane.ts";
import { nativeBody } from "./lanes/native-body.ts";
import { discard, readAnswer } from "./lanes/read-answer.ts";
import { headerFilters } from "./lanes/header-filter.ts";
import { send, upstreamHeaders } from "./lanes/send.ts";
import { rank } from "./routing/plan.ts";
import { urlBelow, urlOfPath } from "./routing/endpoint.ts";
import type { Gateway, Incoming } from "./types.ts";

/**
 * The count in the shape of the client's format. If the provider fails to count, weir estimates, and reports that in `x-weir-warnings`.
 * @throws GatewayError for a model that no provider serves, or a request that weir cannot decode
 */
export async function countTokens(incoming: Incoming, gateway: Gateway): Promise<Opened> {
  const { call, format, body } = incoming;
  const { member, constant, requestOf = (whole) => whole } = format.client.beside.count!;
  const cached = await findCached(incoming, gateway, requestOf(body));
  const plan = planFor(call, call.servingModel, gateway.registry, format.id);
  const { target } = rank((cached?.narrow(plan) ?? plan).choices, () => "")[0]!;
  const attempt = new Attempt(call, target);
  const counting = target.provider.counting?.[target.format];
  const canCount = target.lane === "native" && (counting ?? target.provider.traits?.countTokens);
  const ask = counting ? askHost(counting) : askProvider;
  const counted = canCount ? await ask(incoming, attempt, gateway) : undefined;
  if (canCount && !counted)
    attempt.reportLoss("synthesized", member, "the provider did not count the tokens; weir estimated them");
  const text =
    counted ??
    JSON.stringify({
      ...constant,
      [member]: estimateTokens(format.client.codec.decodeRequest(requestOf(body), attempt.context)),
    });
  return { kind: "json", status: 200, headers: { "content-type": "application/json" }, body: text };
}

/** The provider's answer as text; `undefined` if it did not count. */
async function askProvider(
  { call, format, bytes, spanOf }: Incoming,
  attempt: Attempt,
  gateway: Gateway,
): Promise<string | undefined> {
  const { target } = attempt;
  const codec = gateway.registry.formats.get(target.format)!.upstream!;
  if (codec.address.countPath === undefined) return undefined;
  const isNamed = codec.address.requestInUrl || target.model === call.model;
  const edits = new Map(isNamed ? [] : [["model", JSON.stringify(target.model)]]);
  const body = editMembers(bytes, edits, spanOf);
  const headers = upstreamHeaders(target, headerFilters(codec.address).request(call.headers), false);
  const url = countUrl(target.url, codec.address.countPath);
  const prepared: Prepared = { target, url, headers, body, expects: "json" };
  const text = await answerTo(prepared, attempt);
  const answer = parseJson(text ?? "");
  return isObject(answer) && typeof answer[format.client.beside.count!.member] === "number"
    ? text
    : undefined;
}

/** As {@link askProvider}, for a host that counts in its own way. No header of the client is forwarded. */
function askHost({ path, modelFor, request, read }: TokenCounting) {
  return async (incoming: Incoming, attempt: Attempt, gateway: Gateway): Promise<string | undefined> => {
    const { target } = attempt;
    const { member, constant } = incoming.format.client.beside.count!;
    const codec = gateway.registry.formats.get(target.format)!.upstream!;
    const { pieces } = nativeBody(incoming, attempt, codec, false);
    const edited = parseJson(Buffer.concat(pieces).toString()) as JsonObject;
    const body = [Buffer.from(JSON.stringify(request(edited, target.model)))];
    const url = urlOfPath(path, target.deployment, modelFor?.(target.model) ?? target.model);
    const headers = upstreamHeaders(target, {}, false);
    const answer = parseJson(
      (await answerTo({ target, url, headers, body, expects: "json" }, attempt)) ?? "",
    );
    const count = isObject(answer) ? read(answer) : undefined;
    return count === undefined ? undefined : JSON.stringify({ ...constant, [member]: count });
  };
}

/** The text of the answer; undefined if the request failed. */
async function answerTo(prepared: Prepared, attempt: Attempt): Promise<string | undefined> {
  try {
    const response = await send(prepared, attempt);
    if (response.ok) return new TextDecoder().decode(await readAnswer(response, attempt));
    await discard(response);
    return undefined;
  } catch (thrown) {
    if (attempt.stop.aborted) throw thrown;
    return undefined;
  }
}

/** A path that begins with a colon takes the place of the method at the end of the address. */
function countUrl(url: string, countPath: string): string {
  return countPath.startsWith(":") ? url.replace(/:\w+(?=\?|$)/, countPath) : urlBelow(url, countPath);
}
