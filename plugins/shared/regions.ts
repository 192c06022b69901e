/** The variable of vendors that serve several regions under addresses of their own, each with keys of its own. */
import type { Variable } from "weir";

type Addresses = Readonly<Record<string, string>>;

/** @param addresses base URLs by region; the first is the default @param env the variable that selects one */
export function regions(addresses: Addresses, env: string) {
  const names = Object.keys(addresses);
  const region: Variable = {
    env: [env],
    default: names[0],
    describe: `the region of the account: ${names.join(" or ")}`,
  };
  return { variables: { region }, baseUrl: ({ region = "" }: Addresses) => addressOf(region, addresses) };
}

function addressOf(region: string, addresses: Addresses): string {
  const address = Object.hasOwn(addresses, region) ? addresses[region] : undefined;
  if (address === undefined)
    throw new Error(`There is no region "${region}"; the regions are ${Object.keys(addresses).join(", ")}.`);
  return address;
}
