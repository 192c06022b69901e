/** Faults of the options of a sign-in that a schema cannot express. */
import { type Fault, faultAt, type Path } from "../../../config/error.ts";
import type { ProviderConfig } from "../declarations.ts";
import { clientKeyFault } from "../../../auth/client-identification.ts";
import { graphFault } from "./declarations.ts";

/** @param url public address of weir */
export function signInFaults(at: Path, provider: ProviderConfig, url: string | undefined): Fault[] {
  const { client, secret, key, map = {} } = provider;
  const graph = graphFaults([...at, "map", "graph"], client, map);
  if (client === undefined && secret === undefined && key === undefined) return graph;
  const credential = key === undefined ? "secret" : "key";
  if (client === undefined)
    return faultAt([...at, credential], `${credential} needs client, the id of weir at the provider`);
  return [
    ...credentialFaults(at, provider),
    ...faultAt(
      [...at, "client"],
      url === undefined ? "client needs identity.url, to which the provider sends people back" : undefined,
    ),
    ...graph,
  ];
}

/** weir says who it is by a secret, or by a private key. */
function credentialFaults(at: Path, { secret, key, method }: ProviderConfig): Fault[] {
  const isByKey = method === "private_key_jwt";
  if (isByKey || key !== undefined) {
    if (!isByKey) return faultAt([...at, "key"], "key is for the method private_key_jwt");
    if (key === undefined)
      return faultAt([...at, "method"], "method private_key_jwt needs key, a private key");
    if (secret !== undefined)
      return faultAt([...at, "secret"], "secret and key are two ways to say who weir is; leave one out");
    // The text before it becomes a secret.
    const fault = clientKeyFault(String(key as unknown));
    return faultAt([...at, "key"], fault && `key ${fault}`);
  }
  return faultAt(
    [...at, "client"],
    secret === undefined
      ? "client needs secret, which the provider gives with it, or key with the method private_key_jwt"
      : undefined,
  );
}

/** Only a sign-in has a token for Graph, and groups at Graph have no pointer. */
function graphFaults(
  at: Path,
  client: string | undefined,
  { graph, groups = "groups" }: NonNullable<ProviderConfig["map"]>,
): Fault[] {
  if (graph === undefined || graph === false) return [];
  if (typeof graph === "string" && graphFault(graph) !== undefined)
    return faultAt(at, `graph ${graphFault(graph)}`);
  if (groups !== "groups") return faultAt(at, "graph is for the claim groups, but map.groups names another");
  return faultAt(
    at,
    client === undefined ? "graph needs client, because only a sign-in asks Graph" : undefined,
  );
}
