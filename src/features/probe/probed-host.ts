/** The host that is asked. */
import type { Authorizer } from "../../core/place.ts";
import type { TlsSettings } from "../../core/provider.ts";

/** Where the calls go, and how they are authorized. */
export interface ProbedHost {
  /** Absolute URL without a trailing slash: `https://api.acme.example/v1`. */
  baseUrl: string;
  /** Absolute URL of chat-completions for a model. */
  chatUrl(model: string): string;
  /** Headers of every call, lower-case names; without the credential. */
  headers: Readonly<Record<string, string>>;
  /** Headers with the credential. */
  credentials: Readonly<Record<string, string>>;
  /** Adds headers to the final request, instead of `credentials`. */
  authorizer?: Authorizer;
  tls?: TlsSettings;
}
