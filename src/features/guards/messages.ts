/** What workers ask the keeper about guards. */

/** The secret of the store, from which tokens are derived. */
export type GuardsUp = { readonly wants: "secret" };

export type GuardsDown =
  /** 32 bytes, base64url. */
  | { readonly secret: string }
  /** Why the store does not give it now. */
  | { readonly fault: string };
