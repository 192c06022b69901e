/** Which budgets and limits count a call, and how. */
import type { Target } from "../../core/provider.ts";
import type { Principal } from "../../core/principal.ts";
import { namesOf } from "../../core/model-pattern.ts";
import { matchesSet, type ModelSets } from "../../core/model-sets.ts";
import type { Budget, RateLimit, RateUnit, Subject } from "../policy.ts";
import { rateAccount } from "../record.ts";
import type { Line } from "./share.ts";

/** The lines of a budget or a limit; those of an earlier policy keep their shares. */
export function budgetLine(budget: Budget, earlier: Line | undefined): Line {
  const isSameWindow = earlier?.budget?.zone === budget.zone && isSame(earlier.budget.window, budget.window);
  return {
    unit: "money",
    mode: budget.mode,
    name: budget.name,
    on: budget.on,
    most: Infinity,
    budget,
    share: isSameWindow ? earlier?.share : undefined,
  };
}

export function rateLines(limit: RateLimit, earlier: ReadonlyMap<string, Line>): Line[] {
  return Object.entries(limit.limits).map(([name, amount]) => {
    const unit = name as RateUnit;
    const account = rateAccount(limit.id, unit);
    return {
      unit,
      mode: "hard",
      name: limit.name,
      on: limit.on,
      most: limit.burst?.[unit] ?? amount,
      account,
      share: earlier.get(account)?.share,
    };
  });
}

/** The part of a caller that budgets and limits read. */
type Counted = Pick<Principal, "key" | "path" | "tags">;

/** Whether a line counts the calls of a caller to a target. @param sets those of the config */
export function applies(
  { kind, what }: Subject,
  principal: Counted | undefined,
  target: Target,
  sets: ModelSets = {},
): boolean {
  switch (kind) {
    case "all":
    case "session":
      return true;
    case "provider":
      return target.provider.name === what;
    case "model":
      // weir cannot know what a set that does not exist would count. A limit that counted nothing would be lost in silence.
      return matchesSet(what, namesOf(target.provider.name, target.model, target.asked), sets) ?? true;
    case "key":
      return principal?.key?.id === what;
    case "tag":
      return principal?.tags.includes(what) === true;
    case "path":
      return principal !== undefined && isBelow(principal.path, what);
  }
}

/** Whether a subject that names no model and no provider counts all calls of a caller. */
export function isOnKey(on: Subject, principal: Counted | undefined): boolean {
  return on.kind !== "model" && on.kind !== "provider" && applies(on, principal, NO_TARGET);
}

/** Whether a subject is not shared with callers of other paths. */
export function isOwn({ kind, what }: Subject, { key, path }: Pick<Counted, "key" | "path">): boolean {
  return kind === "key" ? what === key?.id : kind === "path" && what === path && path !== "/";
}

const NO_TARGET = { provider: { name: "" }, model: "" } as Target;

function isBelow(path: string, above: string): boolean {
  return above === "/" || path === above || path.startsWith(`${above}/`);
}

/** Whether another target could be permitted where this line refuses one. */
export function dependsOnTarget({ unit, on }: Line): boolean {
  return unit === "money" || on.kind === "model" || on.kind === "provider";
}

/** Units that count a call once, however many attempts it makes. */
export function countsCalls({ unit, on }: Line): boolean {
  if (on.kind === "model" || on.kind === "provider") return false;
  return unit === "rpm" || unit === "rpd" || unit === "concurrency";
}

function isSame(one: Budget["window"], other: Budget["window"]): boolean {
  if (typeof one === "string" || typeof other === "string") return one === other;
  return one.hours === other.hours;
}
