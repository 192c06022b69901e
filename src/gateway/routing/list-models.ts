/** The models of `GET /v1/models`, under names a client can use: routes, aliases, catalogs, model lists of hosts. */
import type { ActiveProvider } from "../../core/provider.ts";
import type { LiveModels } from "./live-models.ts";
import type { ModelNames } from "./model-names.ts";

/** One line of `GET /v1/models`. */
export interface ModelEntry {
  id: string;
  provider: string;
}

/** A model as its provider names it. */
export interface ServedModel {
  provider: ActiveProvider;
  model: string;
}

interface Listing {
  names: ModelNames;
  providers: readonly ActiveProvider[];
  live: LiveModels;
  servedBy(name: string): ServedModel[];
}

/** @param isOwn whether a provider serves the model under its name alone */
export function* listModels(
  listing: Listing,
  isOwn: (provider: ActiveProvider, model: string) => boolean,
): Generator<ModelEntry> {
  const { names, providers, live } = listing;
  const seen = new Set<string>();
  for (const id of [...names.routes.keys(), ...names.aliases.names]) {
    const [winner] = listing.servedBy(id);
    if (!winner || seen.has(id)) continue;
    seen.add(id);
    yield { id, provider: winner.provider.name };
  }
  const listed = providers.flatMap((provider) =>
    (provider.catalog ?? []).map((model) => ({ provider, model })),
  );
  for (const { provider, model } of [...listed, ...live.all()]) {
    const id = isOwn(provider, model) ? model : `${provider.name}/${model}`;
    if (seen.has(id)) continue;
    seen.add(id);
    yield { id, provider: provider.name };
  }
}
