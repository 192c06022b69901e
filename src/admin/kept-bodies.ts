/** Bodies of calls that a feature keeps, for the operations of other features. */
import { Slot } from "../core/slot.ts";
import type { Talk } from "../operator/talk.ts";

/** What of a call is kept. */
export interface KeptBody {
  /** `generate`, `count`, `embeddings`, `compact`. */
  readonly operation: string;
  /** Id of the client's format. */
  readonly format: string;
  /** JSON. */
  readonly request: string;
  /** Bodies of which only the beginning is kept. */
  readonly cut?: readonly string[];
  /** What is not in the request as the client sent it: see {@link Replaced}. */
  readonly replaced?: readonly Replaced[];
  /** Headers of the client that change what its request means. */
  readonly asked?: Readonly<Record<string, string>>;
}

/** `data`: digests stand for images and files. `secrets`: `***` stands for credentials, and for what the operator masks. */
export type Replaced = "data" | "secrets";

/** Each reader notes its look. */
export interface KeptBodies {
  has(id: string): boolean;
  /** The conversation of a call. @throws AdminError 503 if the bodies cannot be used */
  talk(id: string): Promise<Talk | undefined>;
  /** @throws AdminError 503 */
  body(id: string): KeptBody | undefined;
}

/** Absent where nothing keeps bodies. */
export const keptBodies = new Slot<KeptBodies>();
