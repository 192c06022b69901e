/** Puts the files of weir that a request names into the request: no provider knows their ids. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { FilePlace, FilePlaces } from "../../../core/file-places.ts";
import type { KeptFile, KeptFiles } from "../../../core/kept-files.ts";
import type { Call } from "../../../core/call.ts";
import { mediaTypeOf } from "./media-type.ts";
import { ownIdIn } from "./references.ts";
import { type Filling, spliced } from "./splice.ts";

/** Different files that one request may name: each is a question to the keeper. */
const MOST_FILES = 100;

export interface Inlining {
  readonly call: Pick<Call, "principal" | "abortReason">;
  readonly bytes: Uint8Array;
  readonly places: FilePlaces;
  readonly files: Pick<KeptFiles, "find" | "read">;
  /** Bytes of the files of the request together, each as often as it is named. */
  readonly most: number;
}

/** A place that names a file of weir. */
interface Named {
  readonly place: FilePlace;
  readonly id: string;
}

/**
 * @returns the body with the files in place; the same body if it names none of weir
 * @throws GatewayError for a file that is not there for the caller, is too large, or cannot be where it is named
 */
export async function inlined(inlining: Inlining): Promise<Uint8Array> {
  const { bytes, places, files, call } = inlining;
  const named = [...places.in(bytes)].flatMap((place): Named[] => {
    const id = ownIdIn(place.name);
    return id === undefined ? [] : [{ place, id }];
  });
  if (named.length === 0) return bytes;
  const found = await foundOf(named, inlining);
  const fillings: Filling[] = [];
  for (const [id, file] of found) {
    if (call.abortReason) throw call.abortReason;
    const content = await bytesOf(file, files);
    const put = { mediaType: mediaTypeOf(content, file.mime, file.name), name: file.name };
    for (const { place } of named.filter((each) => each.id === id)) {
      const text = () => jsonText(content, place);
      fillings.push(...place.put(put).map((splice) => ({ splice, bytes: content, text })));
    }
  }
  return spliced(bytes, fillings);
}

/** The files by their ids. @throws GatewayError before a byte of them is read */
async function foundOf(named: readonly Named[], { call, files, most }: Inlining) {
  const found = new Map<string, KeptFile>();
  let sum = 0;
  for (const { place, id } of named) {
    const file = found.get(id) ?? (await files.find(id, call.principal));
    if (!file) throw notFound(place);
    found.set(id, file);
    if (found.size > MOST_FILES)
      throw invalidRequest(
        `${place.path}: the request names more than ${MOST_FILES} files.`,
        place.path,
        "too_many_files",
      );
    sum += file.bytes;
    if (sum > most) throw tooLarge(place, most);
  }
  return found;
}

async function bytesOf(file: KeptFile, files: Inlining["files"]): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(file.bytes);
  let at = 0;
  for await (const piece of files.read(file)) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function jsonText(bytes: Buffer, { path }: FilePlace): Buffer {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return Buffer.from(JSON.stringify(text));
  } catch {
    throw invalidRequest(`${path}: the file is no text in UTF-8.`, path, "unsupported_value");
  }
}

function notFound({ path, name }: FilePlace): GatewayError {
  return new GatewayError("not-found", `${path}: there is no file ${JSON.stringify(name.slice(0, 200))}.`, {
    ...{ code: "file_not_found", param: path, shouldRetry: false },
  });
}

function tooLarge({ path }: FilePlace, most: number): GatewayError {
  return new GatewayError(
    "too-large",
    `${path}: the files that the request names have more than ${most} bytes together (files.inline).`,
    { code: "request_too_large", param: path, shouldRetry: false },
  );
}
