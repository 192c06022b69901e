/** Warnings about patterns that match no model: the entry is saved, but it may be mistyped. */
import { unmatchedSentence } from "../core/model-pattern.ts";
import type { AdminRequest } from "./operation.ts";

/** @param where `the budget claude` @returns what an answer adds; nothing where no worker can be asked */
export async function modelWarnings(
  { books: { gateway } }: Pick<AdminRequest, "books">,
  where: string,
  patterns: readonly string[] = [],
): Promise<{ warnings?: string[] }> {
  if (patterns.length === 0 || gateway.workers.length === 0) return {};
  const answer = await gateway.ask({ what: "unmatched", patterns }).catch(() => []);
  const unmatched = answer as string[];
  if (unmatched.length === 0) return {};
  return { warnings: unmatched.map((pattern) => unmatchedSentence(pattern, where)) };
}
