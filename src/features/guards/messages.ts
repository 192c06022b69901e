/** What workers and the keeper tell each other about guards. */
import type { Watched } from "./watch/watch.ts";

export type GuardsUp =
  /** The secret of the store, from which tokens are derived. */
  | { readonly wants: "secret" }
  /** The guards of the config that serves. */
  | { readonly guards: readonly Watched[] };

export type GuardsDown =
  /** 32 bytes, base64url. */
  | { readonly secret: string }
  /** Why the store does not give it now. */
  | { readonly fault: string };
