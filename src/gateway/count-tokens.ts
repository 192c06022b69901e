/** `POST …/count_tokens`: weir forwards it to a provider that counts tokens, and estimates otherwise. */
import { Attempt } from "../core/call.ts";
import { estimateTokens } from "../core/estimate.ts";
import { isObject, parseJson } from "../core/json.ts";
import { editMembers } from "../stream/scan.ts";
import type { Opened } from "./lanes/lane.ts";
import { discard, readAnswer } from "./lanes/read-answer.ts";
import { headerFilters, send, upstreamHeaders } from "./lanes/send.ts";
import type { Gateway, Incoming } from "./types.ts";

/**
 * The count in the shape of the client's format. If the provider fails to count, weir estimates, and reports that in `x-weir-warnings`.
 * @throws GatewayError for a model that no provider serves, or a request that weir cannot decode
 */
export async function countTokens(incoming: Incoming, gateway: Gateway): Promise<Opened> {
  const { call, format, body } = incoming;
  const target = gateway.registry.resolve(call.model, format.id);
  const attempt = new Attempt(call, target);
  const { member, constant } = format.client.count!;
  const canCount = target.lane === "native" && target.provider.traits?.countTokens;
  const counted = canCount ? await askProvider(incoming, attempt, gateway) : undefined;
  if (canCount && !counted)
    attempt.reportLoss("synthesized", member, "the provider did not count the tokens; weir estimated them");
  const text =
    counted ??
    JSON.stringify({
      ...constant,
      [member]: estimateTokens(format.client.decodeRequest(body, attempt.context)),
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
  if (codec.countPath === undefined) return undefined;
  const edits = new Map(target.model === call.model ? [] : [["model", JSON.stringify(target.model)]]);
  const body = editMembers(bytes, edits, spanOf);
  const headers = upstreamHeaders(target, headerFilters(codec).request(call.headers), false);
  try {
    const url = target.url + codec.countPath;
    const response = await send({ target, url, headers, body, expects: "json" }, attempt);
    if (!response.ok) {
      await discard(response);
      return undefined;
    }
    const text = new TextDecoder().decode(await readAnswer(response, attempt));
    const answer = parseJson(text);
    return isObject(answer) && typeof answer[format.client.count!.member] === "number" ? text : undefined;
  } catch (thrown) {
    if (attempt.stop.aborted) throw thrown;
    return undefined;
  }
}
