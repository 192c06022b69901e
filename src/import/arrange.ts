/**
 * Makes providers, aliases and routes of connections and names. A provider of weir sends each call to any of its deployments
 * that serves the model, so connections become deployments of one provider where that is what the source did, and providers
 * of their own where the source tells them apart.
 */
import type { Provider } from "../core/provider.ts";
import type { Connection, Draft, ServedName, Use } from "./draft.ts";
import { shortName } from "./draft.ts";
import { keyVariable } from "./hosts.ts";
import { ownSettings } from "./own-provider.ts";
import { wholeShares } from "./shares.ts";

export type Vendors = ReadonlyMap<string, Provider>;

export interface Arranged {
  providers: Record<string, Record<string, unknown>>;
  aliases: Record<string, string>;
  routes: Record<string, unknown[]>;
  prices: Record<string, unknown>;
  rates: Record<string, unknown>;
  /** Paths in the source, by path in `weir.yaml` (`providers.azure`). */
  origins: Map<string, string[]>;
  /** What differs from the source because of the arrangement, one sentence each. */
  remarks: string[];
}

export function arrange(draft: Draft, vendors: Vendors): Arranged {
  const remarks: string[] = [];
  const named = nameProviders(draft, vendors, remarks);
  const weights = deploymentWeights(draft, named);
  const providers: Arranged["providers"] = {};
  const origins: Arranged["origins"] = new Map();
  for (const [name, connections] of Map.groupBy(draft.connections, (one) => named.get(one)!)) {
    const patterns = draft.patterns.filter(({ connection }) => connections.includes(connection));
    providers[name] = {
      ...providerOf(connections, draft, vendors, weights, remarks),
      ...(patterns.length > 0 && { models: [...new Set(patterns.map(({ pattern }) => pattern))] }),
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

/** The provider of each connection, by name. */
function nameProviders(draft: Draft, vendors: Vendors, remarks: string[]): Map<Connection, string> {
  const named = new Map<Connection, string>();
  const taken = new Set<string>();
  const own = (connection: Connection) => {
    const wanted = connection.settings.speaks
      ? connection.provider
      : `${connection.provider}-${connection.hint}`;
    const base = shortName(wanted, "host").replace(/^(?=\d)/, "host-");
    for (let number = 1; ; number++) {
      const name = number === 1 ? base : `${base}-${number}`;
      if (taken.has(name) || vendors.has(name)) continue;
      taken.add(name);
      named.set(connection, name);
      return;
    }
  };
  for (const connection of draft.connections) {
    if (connection.settings.speaks === undefined) {
      named.set(connection, connection.provider);
      taken.add(connection.provider);
    }
  }
  for (const connection of draft.connections) if (connection.settings.speaks !== undefined) own(connection);
  for (const connection of [...toldApart(draft, named), ...colliding(draft, named)]) {
    const settings = ownSettings(connection, vendors);
    const shown = `${connection.provider} (${draft.origins.get(connection)?.[0]})`;
    if (!settings) {
      remarks.push(
        `${shown}: the source sends some names to this connection alone; weir sends calls for its models to every deployment of ${connection.provider} that serves them`,
      );
      continue;
    }
    Object.assign(connection.settings, settings);
    own(connection);
    remarks.push(
      `${shown} became the provider ${named.get(connection)}, because the source sends some names to it alone; weir knows no prices for it and none of the peculiarities of ${connection.provider}`,
    );
  }
  return named;
}

/**
 * Connections that share a provider and a model with others, where some name uses only a part of them. The first connection
 * of a provider stays.
 */
function toldApart(draft: Draft, named: ReadonlyMap<Connection, string>): Set<Connection> {
  const found = new Set<Connection>();
  const uses = draft.names.flatMap(({ uses }) => uses);
  for (const served of draft.names)
    for (const use of served.uses) {
      const inName = connectionsFor(served.uses, use, named);
      const inAll = connectionsFor(uses, use, named);
      if (inName.size === inAll.size && isEqualPriority(served.uses, use, named)) continue;
      for (const connection of [...inAll].slice(1)) found.add(connection);
    }
  return found;
}

/** The connections of a provider that serve a model. */
function connectionsFor(
  uses: readonly Use[],
  { connection, model }: Use,
  named: ReadonlyMap<Connection, string>,
): Set<Connection> {
  const provider = named.get(connection);
  return new Set(
    uses
      .filter((use) => named.get(use.connection) === provider && use.model === model)
      .map((use) => use.connection),
  );
}

/** Whether the uses of one model of one provider have the same priority, so that they can be one target of a route. */
function isEqualPriority(uses: readonly Use[], one: Use, named: ReadonlyMap<Connection, string>): boolean {
  const same = uses.filter(
    (use) => named.get(use.connection) === named.get(one.connection) && use.model === one.model,
  );
  return same.every(({ priority = 0 }) => priority === (one.priority ?? 0));
}

/** Connections whose `provider/model` is a name that clients use for something else. */
function colliding(draft: Draft, named: ReadonlyMap<Connection, string>): Set<Connection> {
  const found = new Set<Connection>();
  for (const { uses } of draft.names)
    for (const { connection, model } of uses) {
      const target = `${named.get(connection)}/${model}`;
      const other = draft.names.find(({ name }) => name === target);
      const isItself =
        other?.uses.every(
          (use) => named.get(use.connection) === named.get(connection) && use.model === model,
        ) ?? true;
      if (!isItself) found.add(connection);
    }
  return found;
}

function providerOf(
  connections: readonly Connection[],
  draft: Draft,
  vendors: Vendors,
  weights: ReadonlyMap<Connection, number>,
  remarks: string[],
): Record<string, unknown> {
  const [first] = connections;
  if (connections.length === 1 && !isOverridden(first!, vendors)) return { ...first!.settings };
  const lists = connections.map((connection) => modelsOf(connection, draft));
  const isSame = lists.every((list) => JSON.stringify(list) === JSON.stringify(lists[0]));
  const names = new Set<string>();
  const deployments = connections.map((connection, index) => {
    const { hint, settings } = connection;
    const { headers: _, ...own } = settings;
    let name = shortName(hint, "deployment");
    for (let number = 2; names.has(name); number++)
      name = `${shortName(hint, "deployment").slice(0, 36)}-${number}`;
    names.add(name);
    const models = lists[index]!;
    const weight = weights.get(connection) ?? 1;
    return {
      ...{ name, ...own },
      ...(!isSame && models.length > 0 && { models }),
      ...(weight !== 1 && { weight }),
    };
  });
  const headers = first!.settings.headers;
  const differs = connections.some(
    ({ settings }) => JSON.stringify(settings.headers) !== JSON.stringify(headers),
  );
  if (differs)
    remarks.push(
      `${first!.provider}: its connections have different headers; weir sends those of the first to all deployments`,
    );
  return { ...(headers && { headers }), deployments };
}

/** Whether the plugin's own variable could replace the key: the variable overrides `apiKey` of a provider, not of a deployment. */
function isOverridden({ provider, settings }: Connection, vendors: Vendors): boolean {
  const vendor = settings.speaks === undefined ? vendors.get(provider) : undefined;
  if (vendor === undefined || settings.apiKey === undefined) return false;
  return settings.apiKey !== `\${${keyVariable(vendor)}}`;
}

/** The models that are used at a connection, sorted; empty if it serves any model. */
function modelsOf(connection: Connection, draft: Draft): string[] {
  if (draft.open.has(connection)) return [];
  const models = draft.names.flatMap(({ uses }) =>
    uses.filter((use) => use.connection === connection).map(({ model }) => model),
  );
  return [...new Set(models)].sort();
}

/** Weights of connections that share a target: those of the first name in which they do. */
function deploymentWeights(draft: Draft, named: ReadonlyMap<Connection, string>): Map<Connection, number> {
  const weights = new Map<Connection, number>();
  for (const { uses } of draft.names)
    for (const group of groupsOf(uses, named)) {
      if (group.length === 1) continue;
      const shares = wholeShares(group.map(({ weight = 1 }) => weight));
      group.forEach(({ connection }, index) => {
        if (!weights.has(connection)) weights.set(connection, shares[index]!);
      });
    }
  return weights;
}

function groupsOf(uses: readonly Use[], named: ReadonlyMap<Connection, string>): Use[][] {
  return [...Map.groupBy(uses, (use) => `${named.get(use.connection)}/${use.model}`).values()];
}

interface Target {
  model: string;
  weight: number;
  priority: number;
}

function targetsOf(
  { uses }: ServedName,
  target: (use: Use) => string,
  weights: ReadonlyMap<Connection, number>,
): Target[] {
  const groups = [...Map.groupBy(uses, target)];
  const wanted = groups.map(([, [first]]) => (first!.weight ?? 1) / (weights.get(first!.connection) ?? 1));
  const shares = wholeShares(wanted);
  return groups.map(([model, [first]], index) => ({
    ...{ model, weight: shares[index]!, priority: first!.priority ?? 0 },
  }));
}

function writeTarget({ model, weight, priority }: Target): unknown {
  if (weight === 1 && priority === 0) return model;
  return { model, ...(weight !== 1 && { weight }), ...(priority !== 0 && { priority }) };
}
