/** For which callers and models a guard is. Calls and their records are judged by the same rules. */
import { matchesAny } from "../../core/model-pattern.ts";
import type { GuardedModel } from "./flow/models.ts";

/** The options that say it. */
export interface Scope {
  readonly keys?: readonly string[];
  readonly models?: readonly string[];
  readonly unless?: readonly string[];
}

/** @param caller name and path of a key; undefined: a call without one */
export function isOfCaller(
  { keys = ["*"] }: Scope,
  caller: { name: string; path: string } | undefined,
): boolean {
  return keys.some((one) => {
    if (one === "*") return true;
    if (!caller) return false;
    const { path, name } = caller;
    return one.startsWith("/")
      ? path === one || path.startsWith(one === "/" ? one : `${one}/`)
      : name === one;
  });
}

/** @param targets all models that may answer */
export function isOfModels({ models, unless = [] }: Scope, targets: readonly GuardedModel[]): boolean {
  if (models && !targets.some(({ names }) => matchesAny(models, names))) return false;
  return targets.length === 0 || !targets.every(({ sure }) => matchesAny(unless, sure));
}
