/** The mock in place of a vendor, so that a first try needs no key. */
import type { ActiveProvider, Target } from "../../core/provider.ts";
import type { OffProvider } from "./activate.ts";

const MOCK_PROVIDER = "mock";
const MOCK_MODELS = { generate: "chat", embed: "embed" };

/**
 * Whether only the mock is on, and the operator has set nothing.
 * @param settings what the operator may have set: providers, aliases, routes and fallbacks of the config
 */
export function isUnconfigured(
  active: readonly ActiveProvider[],
  off: readonly OffProvider[],
  settings: readonly (object | undefined)[],
): boolean {
  return (
    active.every(({ name }) => name === MOCK_PROVIDER) &&
    !off.some(({ configured }) => configured) &&
    settings.every((group = {}) => Object.keys(group).length === 0)
  );
}

/** @param provider the mock @param off the vendor that it answers for */
export function standIn(
  provider: ActiveProvider,
  off: OffProvider,
  operation: keyof typeof MOCK_MODELS,
): Target {
  return {
    provider,
    deployment: provider.deployments[0]!,
    model: MOCK_MODELS[operation],
    lane: "generated",
    format: "",
    url: "",
    reason: `no provider is configured; ${provider.name} answers in place of ${off.provider.name}`,
    substitute: true,
  };
}
