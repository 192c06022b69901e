/**
 * Scopes of weir's own tokens: `models` for all models that the person may use, `models:NAME` for some, and the same with `tools` for
 * the servers of tools.
 */
import { scopesFault } from "../../../ledger/keys/scopes.ts";
import { OAuthError } from "./oauth.ts";

export const SCOPES = ["models", "tools"] as const;

const PREFIX = "models:";
const TOOLS = /^tools(:[a-z][a-z0-9-]{0,23})?$/;

/** The models of a scope: `models:gpt-5-mini models:claude-*`. @returns undefined: all, or none at all ({@link hasModels}) */
export function modelsIn(scope: string): readonly string[] | undefined {
  const words = wordsOf(scope);
  const models = words.flatMap((word) => (word.startsWith(PREFIX) ? [word.slice(PREFIX.length)] : []));
  return models.length > 0 && !words.includes("models") ? models : undefined;
}

/** Whether a scope permits to use models. */
export function hasModels(scope: string): boolean {
  return wordsOf(scope).some((word) => word === "models" || word.startsWith(PREFIX));
}

/** Whether a scope has one of some words. */
export function hasOneOf(scope: string, words: readonly string[]): boolean {
  return wordsOf(scope).some((word) => words.includes(word));
}

/** Whether a scope says nothing but what weir knows. */
export function isKnown(scope: string): boolean {
  const words = wordsOf(scope);
  const models = words.filter((word) => word.startsWith(PREFIX));
  const isWhole = words.every((word) => word === "models" || word.startsWith(PREFIX) || TOOLS.test(word));
  return words.length > 0 && isWhole && !modelsFault(models);
}

/**
 * What a client gets of the scope that it asks for: words that weir does not know, such as `openid`, are left out
 * (RFC 6749 3.3). @param usual what it gets if nothing is left @throws OAuthError for a name of a model that is none
 */
export function grantedScope(asked: string | undefined, usual = "models"): string {
  const words = [...new Set(wordsOf(asked ?? ""))];
  const models = words.filter((word) => word.startsWith(PREFIX));
  if (modelsFault(models))
    throw new OAuthError("invalid_scope", "A scope is written models, or models:NAME.");
  const granted = [
    ...(words.includes("models") ? ["models"] : models),
    ...words.filter((word) => TOOLS.test(word)),
  ];
  return granted.length > 0 ? granted.join(" ") : usual;
}

/** Whether all that a scope permits is permitted by another one. */
export function isNarrower(scope: string, other: string): boolean {
  const permitted = new Set(wordsOf(other));
  return wordsOf(scope).every((word) => permitted.has(word) || permitted.has(word.replace(/:.*$/s, "")));
}

/** Both together. */
export function joined(scope: string, other: string): string {
  return [...new Set([...wordsOf(scope), ...wordsOf(other)])].join(" ");
}

function modelsFault(words: readonly string[]): boolean {
  return words.length > 0 && Boolean(scopesFault({ models: words.map((word) => word.slice(PREFIX.length)) }));
}

function wordsOf(scope: string): string[] {
  return scope.split(" ").filter((word) => word !== "");
}
