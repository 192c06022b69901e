/** How each vendor's clients read files. */
import type { Vendor } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { FileRow } from "../messages.ts";

/** A page of a list. */
export interface Page {
  readonly files: readonly FileRow[];
  readonly hasMore: boolean;
}

export interface Shape {
  /** @param origin at which the client knows weir, for URLs: `https://weir.example` */
  file(file: FileRow, origin: string): JsonObject;
  page(page: Page, origin: string): JsonObject;
  deleted(id: string): JsonObject;
}

const seconds = (ms: number) => Math.floor(ms / 1000);
/** RFC 3339 with seconds. */
const time = (ms: number) => new Date(seconds(ms) * 1000).toISOString().replace(".000Z", "Z");

const openai: Shape = {
  file: ({ id, bytes, createdAt, name, purpose, expiresAt }) => ({
    ...{ id: `file-${id}`, object: "file", bytes, created_at: seconds(createdAt) },
    ...{ filename: name, purpose, status: "processed" },
    ...(expiresAt !== undefined && { expires_at: seconds(expiresAt) }),
  }),
  page: ({ files, hasMore }, origin) => ({
    object: "list",
    data: files.map((file) => openai.file(file, origin)),
    // The vendor's document wants texts.
    first_id: files[0] ? `file-${files[0].id}` : "",
    last_id: files.length > 0 ? `file-${files.at(-1)!.id}` : "",
    has_more: hasMore,
  }),
  deleted: (id) => ({ id: `file-${id}`, object: "file", deleted: true }),
};

const anthropic: Shape = {
  file: ({ id, name, mime, bytes, createdAt, expiresAt }) => ({
    ...{ id: `file_${id}`, type: "file", filename: name, mime_type: mime, size_bytes: bytes },
    ...{ created_at: time(createdAt), downloadable: true },
    ...(expiresAt !== undefined && { expires_at: time(expiresAt) }),
  }),
  page: ({ files, hasMore }, origin) => {
    const last = files.length > 0 ? `file_${files.at(-1)!.id}` : null;
    return {
      data: files.map((file) => anthropic.file(file, origin)),
      ...{ has_more: hasMore, first_id: files[0] ? `file_${files[0].id}` : null, last_id: last },
      next_page: hasMore ? last : null,
    };
  },
  deleted: (id) => ({ id: `file_${id}`, type: "file_deleted" }),
};

const google: Shape = {
  file: ({ id, name, mime, bytes, createdAt, expiresAt, sha256 }, origin) => ({
    ...{ name: `files/${id}`, displayName: name, mimeType: mime, sizeBytes: String(bytes) },
    ...{ createTime: new Date(createdAt).toISOString(), updateTime: new Date(createdAt).toISOString() },
    ...(expiresAt !== undefined && { expirationTime: new Date(expiresAt).toISOString() }),
    sha256Hash: Buffer.from(sha256, "hex").toString("base64"),
    uri: `${origin}/v1beta/files/${id}`,
    downloadUri: `${origin}/v1beta/files/${id}:download?alt=media`,
    ...{ state: "ACTIVE", source: "UPLOADED" },
  }),
  page: ({ files, hasMore }, origin) => ({
    ...(files.length > 0 && { files: files.map((file) => google.file(file, origin)) }),
    ...(hasMore && { nextPageToken: files.at(-1)!.id }),
  }),
  deleted: () => ({}),
};

export const SHAPES: Readonly<Record<Vendor, Shape>> = { openai, anthropic, google };

/** The address at which a client knows weir: a proxy that ends TLS says so by `x-forwarded-proto`. */
export function originOf(request: Request): string {
  const url = new URL(request.url);
  const proto = request.headers.get("x-forwarded-proto");
  return proto === "https" || proto === "http" ? `${proto}://${url.host}` : url.origin;
}
