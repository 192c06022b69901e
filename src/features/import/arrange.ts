/**
 * Makes providers, aliases and routes of connections and names. A provider of weir sends each call to any of its deployments
 * that serves the model, so connections become deployments of one provider where that is what the source did, and providers
 * of their own where the source tells them apart.
 */
import { deploymentWeights, providerOf } from "./deployments.ts";
import { type SourceConnection, type Draft, type ServedName, shortName, type Use } from "./draft.ts";
import { nameProviders, type Vendors } from "./provider-names.ts";
import { wholeShares } from "./shares.ts";

export interface Arranged {
  providers: Record<string, Record<string, unknown>>;
  aliases: Record<string, string>;
  routes: Record<string, unknown[]>;
  prices: Record<string, unknown>;
  rates: Record<string, unknown>;
  /** Paths in the source, by path in `weir.yaml` (`providers.azure`). */
  origins: Map<string, string[]>;
  /** Differences from the source because of the arrangement, one sentence each. */
  remarks: string[];
}

export function arrange(draft: Draft, vendors: Vendors): Arranged {
  const remarks: string[] = [];
  const named = nameProviders(draft, vendors, remarks);
  const weights = deploymentWeights(draft, named);
  const providers: Arranged["providers"] = {};
  const origins: Arranged["origins"] = new Map();
  for (const [name, connections] of Map.groupBy(usedOf(draft), (one) => named.get(one)!)) {
    const patterns = draft.patterns
      .filter(({ connection, pattern }) => connections.includes(connection) && pattern !== `${name}/*`)
      .map(({ pattern }) => pattern);
    const usual = patterns.includes("*") ? [] : usualPatterns(connections[0]!, vendors);
    const models = [...usual.filter((pattern) => pattern !== `${name}/*`), ...patterns];
    providers[name] = {
      ...providerOf(connections, draft, vendors, weights, remarks),
      ...(patterns.length > 0 && { models: [...new Set(models)] }),
    };
    origins.set(
      `providers.${name}`,
      connections.flatMap((one) => draft.origins.get(one) ?? []),
    );
  }
  const target = ({ connection, model }: Pick<Use, "connection" | "model">) =>
    `${named.get(connection)}/${model}`;
  const aliases: Arranged["aliases"] = {};
  const routes: Arranged["routes"] = {};
  for (const served of draft.names) {
    const targets = targetsOf(served, target, weights);
    const only = targets.length === 1 ? targets[0] : undefined;
    const section = only ? "aliases" : "routes";
    if (only && only.model === served.name) continue;
    if (only) aliases[served.name] = only.model;
    else routes[served.name] = targets.map(writeTarget);
    origins.set(`${section}.${served.name}`, served.from);
  }
  return {
    ...{ providers, aliases, routes, origins, remarks },
    prices: Object.fromEntries(draft.prices.map((entry) => [target(entry), entry.price])),
    rates: Object.fromEntries(
      draft.rates.map((entry) => {
        const model = target(entry);
        return [shortName(model, "model"), { on: { model }, ...entry.rate }];
      }),
    ),
  };
}

/** The names that a provider serves without patterns of the config. */
function usualPatterns({ provider, settings }: SourceConnection, vendors: Vendors): readonly string[] {
  if (settings.speaks !== undefined) return settings.models ?? [];
  return vendors.get(provider)?.models ?? [];
}

/** Connections that get calls. A share of 0 in the source means none. */
function usedOf({ connections, names, open, limits, patterns }: Draft): SourceConnection[] {
  const used = new Set([
    ...names.flatMap(({ uses }) => uses.map(({ connection }) => connection)),
    ...patterns.map(({ connection }) => connection),
    ...open,
    ...limits.keys(),
  ]);
  return connections.filter((connection) => used.has(connection));
}

interface Target {
  model: string;
  weight: number;
  priority: number;
}

function targetsOf(
  { uses }: ServedName,
  target: (use: Use) => string,
  weights: ReadonlyMap<SourceConnection, number>,
): Target[] {
  const groups = [...Map.groupBy(uses, target)];
  const wanted = groups.map(([model, [first]]) => ({
    model,
    weight: (first!.weight ?? 1) / (weights.get(first!.connection) ?? 1),
    priority: first!.priority ?? 0,
  }));
  const levels = Map.groupBy(wanted, ({ priority }) => priority);
  for (const level of levels.values()) {
    const shares = wholeShares(level.map(({ weight }) => weight));
    level.forEach((one, index) => (one.weight = shares[index]!));
  }
  return wanted;
}

function writeTarget({ model, weight, priority }: Target): unknown {
  if (weight === 1 && priority === 0) return model;
  return { model, ...(weight !== 1 && { weight }), ...(priority !== 0 && { priority }) };
}
