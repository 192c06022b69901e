/** Finds what a request names of earlier ones: stored answers, cached content. */
import { findCached } from "./caches/find-cached.ts";
import { findStored } from "./stored/find-stored.ts";
import type { Gateway, Incoming } from "./types.ts";

/**
 * Sets `incoming.stored` and `incoming.cached`; at once if there is nothing to find.
 * @throws GatewayError for what is unknown or belongs to another key
 */
export function findNamed(
  incoming: Incoming,
  context: Pick<Gateway, "answers" | "answerOptions">,
): Promise<void> | undefined {
  const { stored } = incoming.format.client.beside;
  const storing = stored ? findStored(incoming, context) : undefined;
  const caching = findCached(incoming, context)?.then((cached) => void (incoming.cached = cached));
  if (!caching) return storing;
  return storing ? Promise.all([storing, caching]).then(() => undefined) : caching;
}
