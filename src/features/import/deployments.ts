/** Connections of one provider as its settings: alone, or as deployments. */
import { type SourceConnection, type Draft, shortName, type Use } from "./draft.ts";
import { keyVariable } from "./hosts.ts";
import type { Vendors } from "./provider-names.ts";
import { wholeShares } from "./shares.ts";

export function providerOf(
  connections: readonly SourceConnection[],
  draft: Draft,
  vendors: Vendors,
  weights: ReadonlyMap<SourceConnection, number>,
  remarks: string[],
): Record<string, unknown> {
  const [first] = connections;
  const isAlone = connections.length === 1 && !draft.limits.has(first!) && !isOverridden(first!, vendors);
  if (isAlone) return { ...first!.settings };
  const lists = connections.map((connection) => modelsOf(connection, draft));
  const isSame = lists.every((list) => JSON.stringify(list) === JSON.stringify(lists[0]));
  const names = new Set<string>();
  const deployments = connections.map((connection, index) => {
    const { hint, settings } = connection;
    const { headers: _, speaks: __, models: ___, ...own } = settings;
    let name = shortName(hint, "deployment");
    for (let number = 2; names.has(name); number++)
      name = `${shortName(hint, "deployment").slice(0, 36)}-${number}`;
    names.add(name);
    const models = lists[index]!;
    const weight = weights.get(connection) ?? 1;
    const priority = draft.shares.get(connection)?.priority ?? 0;
    return {
      ...{ name, ...own },
      ...((!isSame || draft.limits.has(connection)) && models.length > 0 && { models }),
      ...(weight !== 1 && { weight }),
      ...(priority !== 0 && { priority }),
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
  const { speaks, models } = first!.settings;
  return {
    ...(speaks !== undefined && { speaks }),
    ...(models && { models }),
    ...(headers && { headers }),
    deployments,
  };
}

/** Whether the plugin's own variable could replace the key: the variable overrides `apiKey` of a provider, not of a deployment. */
function isOverridden({ provider, settings }: SourceConnection, vendors: Vendors): boolean {
  const vendor = settings.speaks === undefined ? vendors.get(provider) : undefined;
  if (vendor === undefined || settings.apiKey === undefined) return false;
  return settings.apiKey !== `\${${keyVariable(vendor)}}`;
}

/** The models that are used at a connection, sorted; empty if it serves any model. */
function modelsOf(connection: SourceConnection, draft: Draft): string[] {
  if (draft.open.has(connection)) return [];
  const limits = draft.limits.get(connection);
  if (limits) return limits;
  const models = draft.names.flatMap(({ uses }) =>
    uses.filter((use) => use.connection === connection).map(({ model }) => model),
  );
  return [...new Set(models)].sort();
}

/** Weights of connections that share a target: those of the first name in which they do. */
export function deploymentWeights(
  draft: Draft,
  named: ReadonlyMap<SourceConnection, string>,
): Map<SourceConnection, number> {
  const weights = new Map<SourceConnection, number>();
  const shared = [...draft.shares].filter(([, { weight }]) => weight !== undefined);
  for (const group of Map.groupBy(shared, ([connection]) => named.get(connection)).values()) {
    const shares = wholeShares(group.map(([, { weight = 1 }]) => weight));
    group.forEach(([connection], index) => weights.set(connection, shares[index]!));
  }
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

function groupsOf(uses: readonly Use[], named: ReadonlyMap<SourceConnection, string>): Use[][] {
  return [...Map.groupBy(uses, (use) => `${named.get(use.connection)}/${use.model}`).values()];
}
