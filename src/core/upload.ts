/** A client's body in parts (`multipart/form-data`), which weir has taken in as a whole. */

/** A part without its content. */
export interface UploadPart {
  /** As the client wrote it: `image[]`. */
  readonly name: string;
  /** Of a file, as the client named it. */
  readonly filename?: string;
  /** Media type, if the part names one. */
  readonly type?: string;
  /** Where its content is in the body. Bytes. */
  readonly at: number;
  readonly length: number;
  /** Of a part that is no file. */
  readonly text?: string;
  /** Of a file: hexadecimal. */
  readonly sha256?: string;
  /** Of an audio file: its length by its container, or estimated by its bytes. */
  readonly audio?: { readonly seconds: number; readonly isEstimated: boolean };
}

export interface Upload extends AsyncDisposable {
  /** Content type of the body, with its boundary. */
  readonly type: string;
  /** In the order of the body. */
  readonly parts: readonly UploadPart[];
  /** Of the whole body, in bytes. */
  readonly length: number;
  /**
   * The body as it came; every reader gets it from its beginning. A piece is valid until the next one is asked for.
   * @param texts what parts have in place of their content
   */
  bytes(texts?: ReadonlyMap<UploadPart, Uint8Array>): AsyncGenerator<Uint8Array, void, undefined>;
  /** The content of a part, in memory. */
  read(part: UploadPart): Promise<Uint8Array>;
}
