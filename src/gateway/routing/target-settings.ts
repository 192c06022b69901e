/** Settings of the config for the model of a target: members of its body, timeouts, circuit breaker. */
import { mergeBreaker } from "../../core/merge-policies.ts";
import type { ModelSettings, Strategy } from "../../core/settings.ts";
import type { ModelTable } from "./model-table.ts";
import type { Choice } from "./plan.ts";

/** @param names of the model or route that the choices serve */
export function withSettings(
  choices: Choice[],
  settings: ModelTable<ModelSettings> | undefined,
  names: readonly string[],
): Choice[] {
  if (!settings || settings.all.length === 0) return choices;
  return choices.map((choice) => {
    const { target } = choice;
    const { body, timeouts, circuitBreaker } = settings.of(names, [target]) ?? {};
    const limits = timeouts && target.deployment.timeouts && { ...target.deployment.timeouts, ...timeouts };
    const breaker = circuitBreaker && mergeBreaker(target.deployment.circuitBreaker, circuitBreaker);
    const settled = {
      ...(body && { body }),
      ...(limits && { timeouts: limits }),
      ...(breaker && { circuitBreaker: breaker }),
    };
    return { ...choice, target: { ...target, ...settled } };
  });
}

/** The choices with what decides between them. */
export function orderedBy(choices: Choice[], by: Strategy): Choice[] {
  if (by === "weight" || choices.length < 2) return choices;
  return choices.map((choice) => {
    const { target } = choice;
    return { ...choice, by, target: { ...target, reason: `${target.reason}; by ${by}` } };
  });
}
