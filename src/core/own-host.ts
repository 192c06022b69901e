/** Whether facts about a vendor's API apply to an address. */
import type { Deployment, Provider } from "./provider.ts";

/** Whether the address of a deployment is the vendor's own. */
export function isOwnHost({ baseUrl, hostPerCustomer }: Provider, { elsewhere }: Deployment): boolean {
  return (baseUrl !== undefined || hostPerCustomer === true) && !elsewhere;
}
