/** A name for the provider of a host, from its address. */

/** @param taken names of known providers: the config would change these instead of describing a new one */
export function providerNameOf(baseUrl: string, taken: readonly string[]): string {
  const { hostname } = new URL(baseUrl);
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  const labels = isAddress ? [] : hostname.split(".").filter((label) => !GENERIC.test(label));
  const [first, ...others] = labels.length > 1 ? labels.slice(0, -1).reverse() : labels;
  const name = (first ?? others[0] ?? "").replace(/[^a-z0-9-]/g, "-").replace(/^[^a-z]+/, "");
  if (name === "" || name === "localhost") return "my-host";
  return taken.includes(name) ? `${name}-host` : name;
}

/** Labels that say what a host is for, not whose it is. */
const GENERIC = /^(?:api|www|llm|ai|inference|v\d+)$/;
