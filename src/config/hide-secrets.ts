/** Hides the secrets of a config in its text, wherever and however they are written. */
import { Secret } from "../core/secret.ts";

/** A shorter text is no credential, and would hide half of the file. */
const SHORTEST = 4;

/** @param configs the config that is active, and the one that the text would make */
export function hideSecrets(text: string, configs: readonly unknown[]): string {
  const secrets = configs
    .flatMap(secretsIn)
    .filter(({ length }) => length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
  return secrets.reduce((hidden, secret) => hidden.replaceAll(secret, "***"), text);
}

function secretsIn(value: unknown): string[] {
  if (value instanceof Secret) return [value.reveal()];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}
