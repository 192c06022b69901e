/** The body of a form as JSON: what checks, guards and plans see of an upload. */
import { invalidRequest } from "../../core/error.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { FormFields } from "../../core/model-kind.ts";
import type { Upload, UploadPart } from "../../core/upload.ts";

/** A name, and whether it says that its field is a list: `image[]`, `image[0]`. */
const LISTED = /^(.+?)\[\d*\]$/;

/**
 * Texts by name, numbers and booleans where the form has them, and files as `{ filename, type, bytes, sha256 }`. A name that occurs
 * twice is a list, as one that the form or the client names so.
 * @throws GatewayError `invalid-request` for what is no number
 */
export function bodyOfForm({ parts }: Upload, form: FormFields): JsonObject {
  const fields = new Map<string, Json[]>();
  const lists = new Set(form.lists);
  for (const part of parts) {
    const name = fieldOf(part);
    if (name !== part.name) lists.add(name);
    const values = fields.get(name) ?? [];
    values.push(valueOf(part, name, form));
    fields.set(name, values);
  }
  const body: JsonObject = Object.create(null);
  for (const [name, values] of fields)
    body[name] = values.length > 1 || lists.has(name) ? values : values[0]!;
  return { ...body };
}

/** The name of the field that a part belongs to. */
export function fieldOf({ name }: Pick<UploadPart, "name">): string {
  return LISTED.exec(name)?.[1] ?? name;
}

function valueOf(
  { text, filename = "", type, length, sha256 }: UploadPart,
  name: string,
  form: FormFields,
): Json {
  if (text === undefined)
    return { filename, ...(type !== undefined && { type }), bytes: length, sha256: sha256! };
  if (form.booleans?.includes(name) && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (!form.numbers?.includes(name)) return text;
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(number))
    throw invalidRequest(`Invalid '${name}': expected a number.`, name, "invalid_type");
  return number;
}

const encoder = new TextEncoder();

/** The parts that have another text in `body` than the client sent, for {@link Upload.bytes}. */
export function editsOf({ parts }: Upload, body: JsonObject): Map<UploadPart, Uint8Array> {
  const edits = new Map<UploadPart, Uint8Array>();
  const seen = new Map<string, number>();
  for (const part of parts) {
    const name = fieldOf(part);
    const index = seen.get(name) ?? 0;
    seen.set(name, index + 1);
    const value = body[name];
    const now = Array.isArray(value) ? value[index] : value;
    if (part.text !== undefined && typeof now === "string" && now !== part.text)
      edits.set(part, encoder.encode(now));
  }
  return edits;
}
