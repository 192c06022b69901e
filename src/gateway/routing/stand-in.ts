/** The mock in place of a vendor, so that a first try needs no key. */
import type { KnownKind } from "../../core/model-kind.ts";
import type { ActiveProvider, Target } from "../../core/provider.ts";
import { type OffProvider, patternsOf } from "./activate.ts";
import type { NameOptions } from "./model-names.ts";
import { compilePattern } from "./pattern.ts";
import type { RegistryOptions } from "./registry-options.ts";

const MOCK_PROVIDER = "mock";

/**
 * Whether only the mock is on, and the operator has set nothing.
 * @param settings what the operator may have set
 */
export function isUnconfigured(
  active: readonly ActiveProvider[],
  off: readonly OffProvider[],
  { order, aliases, routes, fallbacks, models }: NameOptions & Pick<RegistryOptions, "order">,
): boolean {
  return (
    active.every(({ name }) => name === MOCK_PROVIDER) &&
    !off.some(({ configured }) => configured) &&
    [order, aliases, routes, fallbacks, models].every((group = {}) => Object.keys(group).length === 0)
  );
}

/** The models of the mock that stand in for those of vendors. */
const MOCK_MODELS: Readonly<Record<string, string>> = { generate: "chat", embed: "embed" };

/** The mock's model for an operation. */
export function mockModel(operation: string, kinds: ReadonlyMap<string, KnownKind>): string {
  return kinds.get(operation)?.mock ?? MOCK_MODELS[operation] ?? "chat";
}

/** @param provider the mock @param off the vendor that it answers for @param model the mock's */
export function standIn(provider: ActiveProvider, off: OffProvider, model: string): Target {
  return {
    provider,
    deployment: provider.deployments[0]!,
    model,
    lane: "generated",
    format: "",
    url: "",
    reason: `no provider is configured; ${provider.name} answers in place of ${off.provider.name}`,
    substitute: true,
  };
}

/** The provider that would serve a model if it were on. */
export function offProviderOf(off: readonly OffProvider[], name: string): OffProvider | undefined {
  return off.find(({ provider }) =>
    patternsOf(provider).some((pattern) => compilePattern(pattern).test(name)),
  );
}
