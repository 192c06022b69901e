/** The canonical request for images and its answer. */
import type { KindAnswer, KindRequest } from "./kind.ts";

export interface ImageRequest extends KindRequest {
  /** `vary`: other images like the one that is given, without words. */
  task: "generate" | "edit" | "vary";
  /** Empty for variations. */
  prompt: string;
  images: readonly ImageInput[];
  /** Where its pixels are transparent, the first image is edited. */
  mask?: ImageInput;
  /** How many images the client wants. At least 1. */
  count: number;
  /** `1024x1024`. Absent: the model chooses. */
  size?: string;
  /** In the vendor's words, such as `high`. Absent: the model chooses. */
  quality?: string;
  /** `png`, `webp`, `jpeg`. */
  format?: string;
  background?: string;
  /** How the client wants images. Absent: as the provider gives them. */
  wants?: "url" | "b64_json";
  /** Images of the way to the whole one, in a stream. */
  partials: number;
  /** Members of one vendor, as the client wrote them. */
  own: Readonly<Record<string, unknown>>;
}

/** An image that a client sends: its address or data URI, or a file. */
export interface ImageInput {
  url?: string;
  filename?: string;
  /** Media type. */
  type?: string;
  /** Of a file: length in bytes, and hexadecimal digest. */
  bytes?: number;
  sha256?: string;
  /** Of a file: its content. */
  read?: () => Promise<Uint8Array>;
}

export interface ImageAnswer extends KindAnswer {
  images: readonly MadeImage[];
  /** In a stream before the whole image: base64. */
  partials?: readonly string[];
  /** As they were made. */
  size?: string;
  quality?: string;
  format?: string;
  background?: string;
}

export interface MadeImage {
  /** As text, or as the bytes of that text: an image may have 100 MB. */
  base64?: string | Uint8Array;
  url?: string;
  /** Media type, where it is known. */
  type?: string;
  /** The prompt that the model made of the client's. */
  revisedPrompt?: string;
}
