/**
 * Keeps a provider's credential out of what clients and logs are told. Upstreams repeat what they were sent when they
 * complain, so everything they say in anger is looked through before it leaves.
 */
import type { Call } from "../core/call.ts";
import { GatewayError } from "../core/error.ts";
import type { ActiveProvider } from "../core/provider.ts";

const MASK = "***";

/** Headers whose values are secrets, whoever set them. */
const SECRET_HEADER = /auth|key|token|secret|cookie|password/i;

/** A shorter value is no secret, and would be found in innocent words. */
const SHORTEST = 6;

const known = new WeakMap<ActiveProvider, readonly string[]>();

function secretsOf(provider: ActiveProvider): readonly string[] {
  let secrets = known.get(provider);
  if (!secrets) known.set(provider, (secrets = collectSecrets(provider)));
  return secrets;
}

/** The longest first, so that none is cut in two by another; each also as JSON writes it. */
function collectSecrets({ deployments, headers = {} }: ActiveProvider): string[] {
  const listed = Object.entries(headers).flatMap(([name, value]) =>
    SECRET_HEADER.test(name) ? [value] : [],
  );
  const credentials = deployments.flatMap((deployment) => Object.values(deployment.credentials));
  const bare = [...credentials, ...listed].map((value) => value.replace(/^(Bearer|Basic) /i, ""));
  const written = bare.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
  return [...new Set(written)]
    .filter((value) => value.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
}

/** Masks the credentials of all providers. */
export function secretFilter(providers: readonly ActiveProvider[]): (text: string) => string {
  const secrets = [...new Set(providers.flatMap(secretsOf))];
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, MASK), text);
}

/** The text with the provider's credentials masked. */
export function withoutSecrets(text: string, provider: ActiveProvider | undefined): string {
  if (!provider) return text;
  return secretsOf(provider).reduce((left, secret) => left.replaceAll(secret, MASK), text);
}

/** The bytes with the provider's credentials masked; the same bytes where there are none. */
export function bytesWithoutSecrets(bytes: Uint8Array, provider: ActiveProvider): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!secretsOf(provider).some((secret) => buffer.includes(secret))) return bytes;
  return Buffer.from(withoutSecrets(buffer.toString("latin1"), provider), "latin1");
}

/** What was thrown, as the client may read it. */
export function tellable(thrown: unknown, call: Call): GatewayError {
  const error = GatewayError.from(thrown);
  error.message = withoutSecrets(error.message, call.target?.provider);
  return error;
}
