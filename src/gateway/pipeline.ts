/**
 * One call, from the client's request to the beginning of its answer. Native lane: client and provider speak the same
 * format, and weir passes the bytes of both. Otherwise weir translates through the canonical request and events.
 */
import { isMissingPath } from "./lanes/missing-path.ts";
import { answerNative } from "./lanes/native.ts";
import { answerTranslated } from "./lanes/translated.ts";
import { attempt } from "./retry/attempts.ts";
import { inNextFormat } from "./routing/spoken-formats.ts";
import type { Answer, Gateway, Incoming } from "./types.ts";

/**
 * Answers a call: tries one target after another until one begins to answer.
 * @throws GatewayError for a failure before the first byte of the answer
 */
export function exchange(incoming: Incoming, gateway: Gateway): Promise<Answer> {
  return attempt(incoming, gateway, ask);
}

/**
 * One attempt. If the host lacks the path of a format, weir sends the request in the provider's next format, and records
 * the missing one after that has answered.
 */
async function ask(incoming: Incoming, gateway: Gateway): Promise<Answer> {
  const { call, format } = incoming;
  const target = call.target!;
  try {
    return await askOnce(incoming, gateway);
  } catch (thrown) {
    const next = isMissingPath(thrown, call) && inNextFormat(target, format.id);
    if (!next) throw thrown;
    call.turnTo(next);
    const answer = await ask(incoming, gateway);
    gateway.registry.noteMissingFormat(target.deployment, target.format);
    return answer;
  }
}

function askOnce(incoming: Incoming, gateway: Gateway): Promise<Answer> {
  const { call } = incoming;
  const target = call.target!;
  if (target.substitute) call.reportLoss("substituted", "model", target.reason);
  const rewrites = gateway.hooks.some((hook) => hook.request || hook.answer);
  if (target.lane === "native" && !rewrites) return answerNative(incoming, gateway);
  return answerTranslated(incoming, gateway);
}
