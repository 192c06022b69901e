/**
 * Provenance of opaque values (src/formats/README.md#reasoning-and-signatures).
 * A signature is worth something only to the provider that made it, and
 * fails at every other; so a value that has to travel through a field of another vendor's format carries who made it:
 * `weir1.<provider>.<base64url(payload)>`.
 */

/** An opaque value and the provider that made it. */
export interface Sealed {
  /** Name of the provider. */
  origin: string;
  payload: string;
}

const SEALED = /^weir1\.([a-z0-9][a-z0-9-]*)\.([A-Za-z0-9_-]*)$/;

/** Seals a value; `origin` is a provider's name. */
export function wrap(origin: string, payload: string): string {
  return `weir1.${origin}.${Buffer.from(payload, "utf8").toString("base64url")}`;
}

/** Opens a sealed value; `undefined` when it is not one, that is: when its maker sent it as it is. */
export function unwrap(value: string): Sealed | undefined {
  const match = SEALED.exec(value);
  if (!match) return undefined;
  return { origin: match[1]!, payload: Buffer.from(match[2]!, "base64url").toString("utf8") };
}

/** Whether a value was sealed by a gateway, whoever made it. */
export function isWrapped(value: string): boolean {
  return SEALED.test(value);
}
