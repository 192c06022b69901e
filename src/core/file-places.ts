/** Where a request names files by ids, for code that puts their bytes in place: each client codec says where they are. */

/** What decides how a file is written into a request. */
export interface PutFile {
  /** Normalised media type. */
  readonly mediaType: string;
  /** As its client named it. */
  readonly name: string;
}

/** The bytes of the file: their base64 without quotes, or their text as a JSON string with quotes. */
export interface FileContent {
  readonly as: "base64" | "string";
}

/** What goes in place of a range of the body; the rest of the body stays as it is. */
export interface FileSplice {
  /** Range in the bytes of the body; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly parts: readonly (string | FileContent)[];
}

/** A place of a request that names a file. */
export interface FilePlace {
  /** Path of the member in the client's body. */
  readonly path: string;
  /** The id or the address, as the client wrote it. */
  readonly name: string;
  /**
   * The changes that put a file in place of its name. No two of them overlap.
   * @throws GatewayError `invalid-request` for a file that the format cannot hold there
   */
  put(file: PutFile): readonly FileSplice[];
}

/** The places of a format. */
export interface FilePlaces {
  /** Whether a request may have such a place. False is certain. */
  mayHave(bytes: Uint8Array): boolean;
  /** The places of a request of any operation, in the order of its bytes. @param bytes a valid JSON object */
  in(bytes: Uint8Array): Iterable<FilePlace>;
}
