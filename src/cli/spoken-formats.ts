/** Which of its declared formats a host really speaks. */
import type { ActiveProvider, Deployment } from "../core/provider.ts";
import { saysNoPath } from "../gateway/missing-path.ts";

/** How long a host may take to answer. Milliseconds. */
const PATIENCE_MS = 1000;

/**
 * Formats whose path a host does not have. It is asked with an empty request, which generates nothing; a provider of one
 * format is not asked, and a host that does not answer is believed.
 */
export async function missingFormats(provider: ActiveProvider, place: Deployment): Promise<string[]> {
  const spoken = Object.entries(provider.speaks ?? {});
  if (spoken.length < 2) return [];
  const found = await Promise.all(
    spoken.map(async ([format, path]) =>
      (await hasPath(place.baseUrl + path, provider, place)) ? [] : [format],
    ),
  );
  const missing = found.flat();
  // A host that has none of them has another address.
  return missing.length < spoken.length ? missing : [];
}

async function hasPath(url: string, provider: ActiveProvider, place: Deployment): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...provider.headers, ...place.credentials, "content-type": "application/json" },
      body: "{}",
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return !saysNoPath(response.status, (await response.text()).slice(0, 10_000), "");
  } catch {
    return true;
  }
}
