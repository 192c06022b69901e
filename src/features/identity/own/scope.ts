/** Scopes of weir's own tokens: `models` for all that the person may use, `models:NAME` for some. */
import { scopesFault } from "../../../ledger/keys/scopes.ts";
import { OAuthError } from "./oauth.ts";

export const SCOPES = ["models"] as const;

const PREFIX = "models:";

/** The models of a scope: `models:gpt-5-mini models:claude-*`. @returns undefined for a scope that says something else */
export function modelsIn(scope: string): readonly string[] | undefined {
  const words = wordsOf(scope);
  const models = words.flatMap((word) => (word.startsWith(PREFIX) ? [word.slice(PREFIX.length)] : []));
  return models.length > 0 && models.length === words.length ? models : undefined;
}

/**
 * What a client gets of the scope that it asks for: words that weir does not know, such as `openid`, are left out
 * (RFC 6749 3.3). @throws OAuthError for a name of a model that is none
 */
export function grantedScope(asked: string | undefined): string {
  const words = wordsOf(asked ?? "");
  const models = words.filter((word) => word.startsWith(PREFIX));
  if (models.length === 0 || words.includes("models")) return "models";
  const wrong = scopesFault({ models: models.map((word) => word.slice(PREFIX.length)) });
  if (wrong) throw new OAuthError("invalid_scope", "A scope is written models, or models:NAME.");
  return models.join(" ");
}

/** Whether all that a scope permits is permitted by another one. */
export function isNarrower(scope: string, other: string): boolean {
  const permitted = new Set(wordsOf(other));
  return permitted.has("models") || wordsOf(scope).every((word) => permitted.has(word));
}

function wordsOf(scope: string): string[] {
  return scope.split(" ").filter((word) => word !== "");
}
