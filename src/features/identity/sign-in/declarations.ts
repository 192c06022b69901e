/** What options of a sign-in mean: where Microsoft Graph is. */
import { isLoopback } from "../../../core/host-names.ts";

/** Graph of the world, and those of national clouds (https://learn.microsoft.com/graph/deployments). */
const HOSTS = [
  ...["graph.microsoft.com", "graph.microsoft.us", "dod-graph.microsoft.us"],
  "microsoftgraph.chinacloudapi.cn",
];

/** A clause that states the fault of an address of Graph; undefined when there is none. */
export function graphFault(text: string): string | undefined {
  const { protocol, host, hostname, pathname, search } = URL.parse(text) ?? {};
  const isKnown = protocol === "https:" && HOSTS.includes(host ?? "");
  if ((isKnown || isLoopback(hostname ?? "")) && pathname === "/" && search === "") return undefined;
  return `must be true, or the address of a national cloud, such as https://${HOSTS[1]}`;
}

/** @param graph option of the config @returns the address; undefined: Graph is not asked */
export function graphAddress(graph: boolean | string | undefined): string | undefined {
  if (graph === undefined || graph === false) return undefined;
  return graph === true ? `https://${HOSTS[0]}` : new URL(graph).origin;
}
