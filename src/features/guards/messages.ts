/** What workers and the keeper tell each other about guards. */
import type { Tried } from "./watch/try.ts";
import type { Watched } from "./watch/watch.ts";

export type GuardsUp =
  /** The secret of the store, from which tokens are derived. */
  | { readonly wants: "secret" }
  /** The guards of the config that serves. */
  | { readonly guards: readonly Watched[] }
  /** What canaries found: guards whose values got out, with the sentence, and those that held. */
  | { readonly out: Readonly<Record<string, string>>; readonly held: readonly string[] }
  /** Absent: the worker could not try the text. */
  | { readonly tried: number; readonly result?: Tried };

export type GuardsDown =
  /** 32 bytes, base64url. */
  | { readonly secret: string }
  /** Why the store does not give it now. */
  | { readonly fault: string }
  /** @see GuardsUp.tried */
  | { readonly try: number; readonly text: string };
