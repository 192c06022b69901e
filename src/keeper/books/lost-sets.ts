/** Rules on sets of models that the configuration does not have, as when a set was removed. */
import { setNamed, unknownSets } from "../../core/model-sets.ts";
import type { Policy } from "../../ledger/policy.ts";

/** A sentence without its full stop for each rule. @returns none while the configuration is not known */
export function lostSets({ keys, budgets, rates, modelSets }: Policy): string[] {
  if (!modelSets) return [];
  const lost = (text: string) => `modelSets of the config has no set ${setNamed(text)}`;
  const limits = [
    ...budgets.map(({ name, on }) => ({ where: `the budget ${name}`, on })),
    ...rates.map(({ name, on }) => ({ where: `the rate limit ${name}`, on })),
  ].filter(({ on }) => on.kind === "model" && unknownSets([on.what], modelSets).length > 0);
  const scopes = keys
    .filter(({ revokedAt }) => revokedAt === undefined)
    .flatMap(({ name, scopes: { models = [] } }) =>
      models
        .filter((text) => unknownSets([text], modelSets).length > 0)
        .map((text) => `${lost(text)}, so ${text} of the key ${name} permits no model`),
    );
  return [
    ...limits.map(({ where, on }) => `${lost(on.what)}, so ${where} on ${on.what} counts every call`),
    ...scopes,
  ];
}
