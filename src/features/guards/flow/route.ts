/** Leads a call in which a guard has found a value to the model of the guard, and holds it there. */
import { namesOf } from "../../../core/model-pattern.ts";
import type { Target } from "../../../core/provider.ts";
import type { Entry } from "../../../gateway/seams.ts";
import type { Guard } from "../guard.ts";
import { plannedAs } from "./models.ts";

/** Something that a guard found in a request. */
export interface RequestFinding {
  readonly kind: string;
  /** As all spellings of the value have it. */
  readonly normal: string;
  /** Path of the text. */
  readonly path: string;
}

/** A guard leads the call to another model: which guards look at it, and who answers it, is decided again. */
export class Rerouted extends Error {
  readonly guard: Guard;
  readonly findings: readonly RequestFinding[];

  constructor(guard: Guard, findings: readonly RequestFinding[]) {
    super(`the guard ${guard.name} leads the call to ${guard.route}`);
    this.guard = guard;
    this.findings = findings;
  }
}

/**
 * From now on the call has no model but that of the guard, and of its fallbacks those that the guard permits.
 * @throws GatewayError `not-found` if no provider serves the model
 */
export async function reroute(
  entry: Pick<Entry, "call" | "registry" | "format" | "operation">,
  guard: Guard,
): Promise<void> {
  const { call, registry, format } = entry;
  const model = guard.route!;
  await registry.prepare(model);
  const { choices } = registry.plan(model, format.id, plannedAs(entry));
  const own = new Set(choices.map(({ target }) => keyOf(target)));
  const before = call.confined;
  const allows = (target: Target) =>
    guard.hasPermitted ? guard.permits(namesOf(target.provider.name, target.model)) : own.has(keyOf(target));
  call.confinement = {
    model,
    by: `guard ${guard.name}`,
    allows: (target) => allows(target) && (before?.allows(target) ?? true),
  };
}

const keyOf = ({ provider, model }: Target) => `${provider.name}\n${model}`;
