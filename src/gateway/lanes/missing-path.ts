/** Hosts that do not have the path of a format their provider declares. */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { PassedRefusal } from "./passed-error.ts";

/** What a 404 is about that names one of these: the path was found, what the request names was not. */
const ABOUT_MODEL = /\b(?:models?|deployments?|engines?)\b|model_not_found/i;

/** Whether an answer says that its host has no such path, and not that it has no such model. */
export function saysNoPath(status: number | undefined, said: string, model: string): boolean {
  if (status !== 404 && status !== 405) return false;
  return !ABOUT_MODEL.test(said) && (model === "" || !wordPattern(model).test(said));
}

/** A name as a word of its own: short ones stand inside of other words. */
function wordPattern(name: string): RegExp {
  return new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`);
}

/** The same of what an attempt threw. */
export function isMissingPath(thrown: unknown, { upstreamStatus, target }: Call): boolean {
  if (!(thrown instanceof GatewayError)) return false;
  const said = thrown instanceof PassedRefusal ? thrown.body : thrown.message;
  return saysNoPath(upstreamStatus, said, target!.model);
}
