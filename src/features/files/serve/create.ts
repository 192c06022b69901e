/** `POST /v1/files`: a form with the file, and what it is for before or behind it. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import { boundaryOf, type Part, readParts, textOf } from "../../../stream/multipart.ts";
import type { Owner } from "../messages.ts";
import { type Draft, ownerOf, type Vault } from "../vault.ts";
import { callerOf, type Handle } from "./context.ts";
import {
  checkPurpose,
  lifeAfter,
  lifeOf,
  LONG_SECONDS,
  purposeOf,
  tooLong,
  USUAL_PURPOSE,
} from "./purposes.ts";
import { originOf, SHAPES } from "./shapes.ts";

/** What a form has besides its file. Bytes. */
const FORM = 256 * 1024;
const MAX_FIELD = 4_096;
const MAX_FIELDS = 32;
const MAX_NAME = 500;

/** A form whose file was written. */
interface Sent {
  readonly draft: Draft;
  readonly name: string;
  readonly mime: string;
  readonly fields: ReadonlyMap<string, string>;
}

export const createFile: Handle = async (asked, { vault, limits }) => {
  const { request, visit } = asked;
  const owner = ownerOf(await callerOf(asked));
  if (visit.vendor === "google")
    throw new GatewayError(
      "not-found",
      "Upload files to /upload/v1beta/files, with X-Goog-Upload-Protocol: resumable.",
    );
  const boundary = boundaryOf(request.headers.get("content-type"));
  const { left } = await vault.room(owner.path);
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limits.max + FORM) throw tooLong(limits.max);
  // The error says which of both limits it is.
  const body = visit.stream(Math.max(limits.max, declared) + FORM);
  if (declared - FORM > left) vault.full();
  const sent = await readForm(body, boundary, { vault, owner, field: "file", most: limits.max });
  const { draft, name, mime, fields } = sent;
  try {
    const isOpenAi = visit.vendor === "openai";
    const purpose = isOpenAi ? purposeOf(fields.get("purpose")) : USUAL_PURPOSE;
    const seconds = fields.get("expires_after[seconds]");
    const keptMs = isOpenAi
      ? lifeAfter(fields.get("expires_after[anchor]"), seconds, limits)
      : lifeOf(fields.get("expires_in_seconds"), "expires_in_seconds", limits, LONG_SECONDS);
    checkPurpose(purpose, name, draft.bytes);
    const facts = { ...owner, name, mime, purpose, expiresAt: Date.now() + keptMs };
    const { file } = await vault.keep(draft, facts);
    return Response.json(SHAPES[visit.vendor].file(file, originOf(request)));
  } catch (thrown) {
    await vault.drop(draft);
    throw thrown;
  }
};

export interface FormOptions {
  readonly vault: Vault;
  readonly owner: Owner;
  /** Name of the part with the file. */
  readonly field: string;
  /** Bytes of the file. */
  readonly most: number;
}

/** Writes the file of a form while it arrives. If it throws, nothing stays. */
export async function readForm(
  body: AsyncIterable<Uint8Array>,
  boundary: string,
  { vault, owner, field, most }: FormOptions,
): Promise<Sent> {
  const fields = new Map<string, string>();
  let file: Omit<Sent, "fields"> | undefined;
  try {
    for await (const part of readParts(body, boundary)) {
      if (part.name !== field) {
        if (fields.size >= MAX_FIELDS) throw invalidRequest("The form has too many fields.");
        fields.set(part.name, await textOf(part, MAX_FIELD));
        continue;
      }
      if (file) throw invalidRequest(`The form has several parts with the name ${field}.`, field);
      const draft = await vault.draft(owner.path, upTo(part.bytes, most));
      file = { draft, name: nameOf(part), mime: mimeOf(part.type) };
    }
    if (file) return { ...file, fields };
  } catch (thrown) {
    if (file) await vault.drop(file.draft);
    throw thrown;
  }
  throw invalidRequest(`The form has no part with the name ${field}.`, field);
}

/** @throws GatewayError beyond the limit */
export async function* upTo(
  bytes: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array, void> {
  let length = 0;
  for await (const piece of bytes) {
    length += piece.length;
    if (length > most) throw tooLong(most);
    yield piece;
  }
}

/** The last part of a path, as clients send whole ones too. */
function nameOf({ filename = "" }: Part): string {
  return fileName(filename);
}

export function fileName(text: string): string {
  const name = text.split(/[\\/]/).at(-1)!.slice(0, MAX_NAME);
  return name === "" ? "unnamed" : name;
}

/** A media type without its parameters. */
export function mimeOf(type: unknown): string {
  const media = typeof type === "string" ? type.split(";")[0]!.trim().toLowerCase() : "";
  return /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/.test(media) ? media : "application/octet-stream";
}
