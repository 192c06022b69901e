/** Recognises answers of hosts that lack the path of a format, although their provider declares it. */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { PassedRefusal } from "./passed-error.ts";

/** Words of a 404 for an unknown model: the host has the path. */
const MODEL_WORDS = /\b(?:models?|deployments?|engines?)\b|model_not_found/i;

/**
 * Whether an answer says that the host lacks the path, and not that it lacks the model.
 * @param body text of the answer @param model name in the request; empty if it has none
 */
export function saysNoPath(status: number | undefined, body: string, model: string): boolean {
  if (status !== 404 && status !== 405) return false;
  return !MODEL_WORDS.test(body) && (model === "" || !wordPattern(model).test(body));
}

/** Matches the name as a whole word: short names occur inside other words. */
function wordPattern(name: string): RegExp {
  return new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`);
}

/** The same for what an attempt threw. */
export function isMissingPath(thrown: unknown, { upstreamStatus, target }: Attempt): boolean {
  if (!(thrown instanceof GatewayError)) return false;
  const body = thrown instanceof PassedRefusal ? thrown.body : thrown.message;
  return saysNoPath(upstreamStatus, body, target.model);
}
