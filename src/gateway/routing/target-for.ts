/** The target of a rule at one deployment, by what the client asks for. */
import type { Deployment, Target } from "../../core/provider.ts";
import { embedTarget } from "./embed-target.ts";
import { kindTarget } from "./kind-target.ts";
import type { KnownKind } from "../../core/model-kind.ts";
import type { Rule } from "./rules.ts";
import type { SpokenFormats } from "./spoken-formats.ts";
import { taskOfOperation, tasksOf } from "./tasks.ts";

const COMPLETION = "completion";

interface Asked {
  /** `generate`, `embed`, or the id of a kind. */
  readonly operation: string;
  /** The client's format or dialect. */
  readonly format: string;
  readonly model: string;
  /** Beginning of the target's reason: alias, route, fallback. */
  readonly prefix: string;
}

/** @returns undefined if the provider of the rule does not serve the operation with the model */
export function targetFor(
  { formats, kinds }: { formats: SpokenFormats; kinds: ReadonlyMap<string, KnownKind> },
  rule: Rule,
  deployment: Deployment,
  asked: Asked,
): Target | undefined {
  const { operation, format, model, prefix } = asked;
  const { does } = tasksOf(rule.provider, rule.pattern.strip(model), kinds);
  const isDone = does.includes(taskOfOperation(operation));
  if (!isDone && operation !== COMPLETION) return undefined;
  if (operation === "embed") return embedTarget(rule, deployment, model, format, prefix);
  if (operation === "generate") return formats.target(rule, deployment, model, format, prefix);
  const target = isDone ? kindTarget(rule, deployment, model, asked, prefix) : undefined;
  if (target ?? (operation !== COMPLETION || !does.includes("chat"))) return target;
  // Only where the operator says so, by the text that asks for it.
  const emulating = formats.target(rule, deployment, model, format, prefix);
  return (emulating?.traits ?? rule.provider.traits)?.completionPrompt === undefined ? undefined : emulating;
}
