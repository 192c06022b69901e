/** What a build with a config would do with one call. Plain JSON: another process may have found it. */
import type { JsonObject } from "../../../core/json.ts";
import type { Loss } from "../../../core/loss.ts";

export interface Facts {
  /** weir would answer with this error. */
  readonly refused?: { readonly kind: string; readonly code?: string; readonly message: string };
  /** `provider/deployment/model` */
  readonly target?: string;
  /** Those among which weir chooses, and its fallbacks, each with its weight. */
  readonly targets?: readonly string[];
  /** The lane and the format in which the provider is asked. */
  readonly lane?: string;
  readonly format?: string;
  readonly url?: string;
  readonly headers?: JsonObject;
  /** The body as it would be sent; absent where a program answers. */
  readonly body?: string;
  readonly losses?: readonly Loss[];
  /** Nano-dollars, by the counts of the answer. Absent: no price is known. */
  readonly price?: number;
  /** `metered`, `unpriced` and the other states of a charge. */
  readonly priced?: string;
  /** What features and plugins would do, by their names. */
  readonly plugins?: JsonObject;
  /** Why this side cannot know: what decides is in a text. */
  readonly unknown?: readonly string[];
}
