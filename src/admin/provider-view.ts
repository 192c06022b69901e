/** The providers page: what workers say of deployments, with what the books say of their calls. */
import type { DeploymentReport, DeploymentUse } from "../keeper/reports/deployments.ts";
import type { WorkerState } from "../ledger/messages.ts";
import type { BreakerFact, DeploymentFact, ProviderFact, ProviderFacts } from "../ledger/provider-facts.ts";
import type { Breaker, DeploymentEntry, ProviderEntry } from "../operator/providers.ts";

const MILLION = 1_000_000;

export interface Seen {
  /** Of each worker. */
  facts: readonly ProviderFacts[];
  states: readonly (WorkerState | undefined)[];
  report: DeploymentReport;
}

/** Those with trouble first, those without a key last. */
export function providersOf({ facts, states, report }: Seen): ProviderEntry[] {
  const providers = new Map(facts[0]?.providers.map((provider) => [provider.name, provider]));
  // A provider of the past that no config names any more.
  for (const { provider } of report.deployments)
    if (!providers.has(provider)) providers.set(provider, gone(provider));
  const breakers = facts.flatMap((of) => of.breakers);
  const all = report.deployments.reduce((sum, { calls }) => sum + calls, 0);
  const entries = [...providers.values()].map((provider) => ({
    name: provider.name,
    source: provider.source,
    formats: [...provider.formats],
    patterns: [...provider.patterns],
    on: provider.on,
    deployments: deploymentsOf(provider, report).map(([fact, use]) =>
      entryOf({ provider, fact, use, breakers, inflight: inflightOf(states, fact.name), all }),
    ),
  }));
  return entries.sort((a, b) => rankOf(a) - rankOf(b) || callsOf(b) - callsOf(a));
}

function gone(name: string): ProviderFact {
  const why = "The config does not name it any more.";
  return { name, source: "config", formats: [], patterns: [], on: false, why, deployments: [] };
}

/** Those of the config, and those of which only calls are left; a provider that is off stands for its deployment. */
function deploymentsOf(
  provider: ProviderFact,
  report: DeploymentReport,
): [DeploymentFact, DeploymentUse | undefined][] {
  const used = report.deployments.filter((use) => use.provider === provider.name);
  const names = new Set([
    ...provider.deployments.map(({ name }) => name),
    ...used.map(({ deployment }) => deployment),
  ]);
  if (names.size === 0) names.add(provider.name);
  return [...names].map((name) => [
    provider.deployments.find((fact) => fact.name === name) ?? {
      ...{ name, url: "", weight: 1, priority: 0 },
      ...(provider.keyVariable !== undefined && { keyVariable: provider.keyVariable }),
    },
    used.find(({ deployment }) => deployment === name),
  ]);
}

interface Given {
  provider: ProviderFact;
  fact: DeploymentFact;
  use: DeploymentUse | undefined;
  breakers: readonly BreakerFact[];
  inflight: number;
  /** Attempts of all deployments. */
  all: number;
}

function entryOf({ provider, fact, use, breakers, inflight, all }: Given): DeploymentEntry {
  const own = merged(breakers.filter(({ deployment }) => deployment === fact.name));
  const { calls = 0, looked = 0, failed = 0, cost = 0, tokens = 0 } = use ?? {};
  return {
    ...fact,
    state: stateOf(provider, own),
    ...(provider.why !== undefined && { why: provider.why }),
    inflight,
    breakers: own,
    ...{ calls, looked, failed, cost },
    shareOfCalls: all === 0 ? 0 : calls / all,
    ...(tokens > 0 && { perMillion: Math.round((cost / tokens) * MILLION) }),
    latency: use?.latency ?? { calls: 0 },
    errors: [...(use?.errors ?? [])],
    ...(use?.lastError && { lastError: use.lastError }),
    series: [...(use?.series ?? [])],
  };
}

/** Breakers of one model in several workers as one: the worst, and until the last of them tries. */
function merged(breakers: readonly BreakerFact[]): Breaker[] {
  const byModel = Map.groupBy(breakers, ({ model }) => model);
  return [...byModel].map(([model, group]) => {
    const worst = group.find(({ state }) => state !== "half-open") ?? group[0]!;
    const { reason } = group.find((one) => one.reason !== undefined) ?? worst;
    return {
      model,
      state: worst.state,
      since: Math.min(...group.map(({ since }) => since)),
      until: Math.max(...group.map(({ until }) => until)),
      ...(reason !== undefined && { reason }),
      workers: group.length,
    };
  });
}

function stateOf({ on }: ProviderFact, breakers: readonly Breaker[]): DeploymentEntry["state"] {
  if (!on) return "no-key";
  if (breakers.some(({ state }) => state !== "half-open")) return "left-alone";
  return breakers.length > 0 ? "on-trial" : "healthy";
}

function inflightOf(states: Seen["states"], name: string): number {
  return states
    .flatMap((state) => state?.inflight ?? [])
    .filter(({ deployment }) => deployment === name)
    .reduce((sum, { calls }) => sum + calls, 0);
}

function rankOf({ on, deployments }: ProviderEntry): number {
  if (!on) return 2;
  return deployments.some(({ state }) => state !== "healthy") ? 0 : 1;
}

function callsOf({ deployments }: ProviderEntry): number {
  return deployments.reduce((sum, { calls }) => sum + calls, 0);
}
