/** Whether facts about a vendor's API apply to an address. */
import type { ActiveProvider, Deployment, Provider } from "./provider.ts";
import type { Traits } from "./traits.ts";

/** Whether the address of a deployment is the vendor's own. */
export function isOwnHost({ baseUrl, hostPerCustomer }: Provider, { elsewhere }: Deployment): boolean {
  return (baseUrl !== undefined || hostPerCustomer === true) && !elsewhere;
}

/** Declarations of a plugin about its vendor's API, and not of every host that speaks like it. */
const OF_VENDORS = ["storesAnswers", "compacts"] as const;

/** The deviations of a host: what only the vendor's own address can do counts elsewhere only if the config says it. */
export function traitsAt(
  traits: Traits,
  provider: Provider & Pick<ActiveProvider, "toldTraits">,
  deployment: Deployment,
): Traits {
  if (isOwnHost(provider, deployment)) return traits;
  const missing = OF_VENDORS.filter((name) => traits[name] && !provider.toldTraits?.[name]);
  if (missing.length === 0) return traits;
  return { ...traits, ...Object.fromEntries(missing.map((name) => [name, false])) };
}
