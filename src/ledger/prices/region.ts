/** Where a deployment runs, for prices that differ by region. */
import type { Deployment } from "../../core/provider.ts";

const regions = new WeakMap<Deployment, string | undefined>();

/**
 * The region in which a deployment runs: its variable `location` or `region`, or the label before `api` in the name of its host
 * (`eu` in `eu.api.example.com`). What the provider itself says of an answer (`usage.region`) is more exact.
 */
export function regionOf(deployment: Deployment): string | undefined {
  if (!regions.has(deployment)) regions.set(deployment, findRegion(deployment));
  return regions.get(deployment);
}

function findRegion({ variables = {}, baseUrl }: Deployment): string | undefined {
  const { location, region } = variables;
  return location ?? region ?? /^https?:\/\/([a-z]{2})\.api\./.exec(baseUrl)?.[1];
}
