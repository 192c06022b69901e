/**
 * The names of providers. Connections are providers of their own where the source tells them apart, because a provider of weir
 * sends each call to any of its deployments that serves the model.
 */
import type { Provider } from "../../core/provider.ts";
import { type SourceConnection, type Draft, shortName, type Use } from "./draft.ts";
import { ownSettings } from "./own-provider.ts";

/** The providers of plugins by name. */
export type Vendors = ReadonlyMap<string, Provider>;

/** The provider of each connection, by name. */
export function nameProviders(
  draft: Draft,
  vendors: Vendors,
  remarks: string[],
): Map<SourceConnection, string> {
  const named = new Map<SourceConnection, string>();
  const taken = new Set<string>();
  const own = (connection: SourceConnection, wanted: string) => {
    const sibling = draft.connections.find(
      (one) => named.has(one) && isSibling(one, connection) && one.settings.speaks !== undefined,
    );
    if (sibling) return void named.set(connection, named.get(sibling)!);
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
  for (const connection of draft.connections)
    if (connection.settings.speaks !== undefined) own(connection, connection.provider);
  for (const connection of new Set([
    ...toldApart(draft, named),
    ...colliding(draft, named),
    ...differing(draft, named),
    ...apart(draft, named),
  ])) {
    const settings = ownSettings(connection, vendors);
    const shown = `${connection.provider} (${draft.origins.get(connection)?.[0]})`;
    if (!settings) {
      remarks.push(
        `${shown}: the source sends some names to this connection alone; weir sends calls for its models to every deployment of ${connection.provider} that serves them`,
      );
      continue;
    }
    Object.assign(connection.settings, settings);
    own(connection, `${connection.provider}-${connection.hint}`);
    remarks.push(
      `${shown} became the provider ${named.get(connection)}, because the source tells it apart; weir knows no prices for it and none of the peculiarities of ${connection.provider}`,
    );
  }
  return named;
}

/**
 * Connections that share a provider and a model with others, where some name uses only a part of them. The first connection
 * of a provider stays.
 */
function toldApart(draft: Draft, named: ReadonlyMap<SourceConnection, string>): Set<SourceConnection> {
  const found = new Set<SourceConnection>();
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
  named: ReadonlyMap<SourceConnection, string>,
): Set<SourceConnection> {
  const provider = named.get(connection);
  return new Set(
    uses
      .filter((use) => named.get(use.connection) === provider && use.model === model)
      .map((use) => use.connection),
  );
}

/** Whether the uses of one model of one provider have the same priority, so that they can be one target of a route. */
function isEqualPriority(
  uses: readonly Use[],
  one: Use,
  named: ReadonlyMap<SourceConnection, string>,
): boolean {
  const same = uses.filter(
    (use) => named.get(use.connection) === named.get(one.connection) && use.model === one.model,
  );
  return same.every(({ priority = 0 }) => priority === (one.priority ?? 0));
}

/** Connections whose `provider/model` is a name that clients use for something else. */
function colliding(draft: Draft, named: ReadonlyMap<SourceConnection, string>): Set<SourceConnection> {
  const found = new Set<SourceConnection>();
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

/** Whether two connections are one provider of the source, with two keys. */
function isSibling(one: SourceConnection, other: SourceConnection): boolean {
  const isSame = one.settings.baseUrl === other.settings.baseUrl;
  return one !== other && one.group !== undefined && one.group === other.group && isSame;
}

/** Connections of one provider that the source always tells apart. */
function apart(draft: Draft, named: ReadonlyMap<SourceConnection, string>): SourceConnection[] {
  const groups = Map.groupBy(draft.connections, (connection) => named.get(connection));
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.filter(({ group }) => group !== first!.group),
  );
}

/** Connections whose headers differ from those of the first of their provider: deployments have no headers of their own. */
function differing(draft: Draft, named: ReadonlyMap<SourceConnection, string>): SourceConnection[] {
  const groups = Map.groupBy(draft.connections, (connection) => named.get(connection));
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.filter(
      ({ settings }) => JSON.stringify(settings.headers) !== JSON.stringify(first!.settings.headers),
    ),
  );
}
