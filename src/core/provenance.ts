/**
 * Provenance of opaque values. A signature is valid only at the provider that made it; every other provider refuses it. So
 * when weir returns a signature in a field of another vendor's format, the value names the provider that made it:
 * `weir1.<provider>.<base64url(payload)>`. See src/formats/README.md#reasoning-and-signatures.
 */

/** An opaque value bound to the provider that made it. */
export interface ProviderBound {
  /** Name of the provider. */
  origin: string;
  payload: string;
}

const BOUND = /^weir1\.([a-z0-9][a-z0-9-]*)\.([A-Za-z0-9_-]*)$/;

/** Binds a value to a provider. @param origin the provider's name */
export function wrap(origin: string, payload: string): string {
  return `weir1.${origin}.${Buffer.from(payload, "utf8").toString("base64url")}`;
}

/** Reads a provider-bound value; `undefined` for any other value, which the client got from its vendor unchanged. */
export function unwrap(value: string): ProviderBound | undefined {
  const match = BOUND.exec(value);
  if (!match) return undefined;
  return { origin: match[1]!, payload: Buffer.from(match[2]!, "base64url").toString("utf8") };
}

/** Whether a gateway bound the value to a provider. */
export function isWrapped(value: string): boolean {
  return BOUND.test(value);
}
