/** Recognizes the addresses that people copy from the pages of Azure instead of the base URL. */

/** Sites for people. */
const PORTALS = new Set(["portal.azure.com", "ai.azure.com", "oai.azure.com"]);
/** Hosts of resources: `NAME.openai.azure.com`, also in national clouds. */
const RESOURCE = /\.(?:openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.(?:com|us|cn)$/;
/** The end of a URL of one operation. */
const OPERATION = /\/(?:chat\/completions|completions|responses|embeddings|messages)$/;

/**
 * The fault of an address, and what to write instead; undefined if it is fine.
 * @param path of the base URL behind the resource: `/openai/v1`
 * @param isHost the address is that of the resource, without a path
 */
export function azureAddressFault(url: URL, path: string, isHost: boolean): string | undefined {
  if (PORTALS.has(url.hostname))
    return "is that of a portal; write the endpoint of the resource, such as https://NAME.openai.azure.com";
  const given = url.pathname.replace(/\/+$/, "");
  const names = given.includes("/openai/deployments/");
  const isOperation = names || OPERATION.test(given);
  const fits = given === (isHost ? "" : path) || /^\/api\/projects\/[^/]+\/openai(\/v1)?$/.test(given);
  if (!isOperation && (fits || !RESOURCE.test(url.hostname))) return undefined;
  const instead = `write ${url.origin}${isHost ? "" : path}`;
  const dated = url.searchParams.has("api-version")
    ? "; for a dated version of the API, set OPENAI_API_VERSION and name the model azure-dated/DEPLOYMENT"
    : "";
  if (names) return `is that of one deployment; ${instead} and name the model azure/DEPLOYMENT${dated}`;
  if (isOperation) return `is that of one operation; ${instead}${dated}`;
  return `has another path than the API; ${instead}${dated}`;
}
