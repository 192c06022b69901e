/** The operations on files that all vendors have in their own shapes: list, look, delete, download. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { Vendor } from "../../../core/format.ts";
import { keptIdIn } from "../../../core/kept-id.ts";
import type { ByteRange } from "../../../core/kept-files.ts";
import type { FileRow, ListAsk } from "../messages.ts";
import { type Asked, callerOf, type Context, countOf, cursorOf, fileOf, type Handle } from "./context.ts";
import { rangeOf } from "./range.ts";
import { originOf, SHAPES } from "./shapes.ts";

/** Reads what a client asks of a list. @throws GatewayError */
const LISTS: Readonly<Record<Vendor, (query: URLSearchParams) => Omit<ListAsk, "seer">>> = {
  openai(query) {
    const order = query.get("order") ?? "desc";
    if (order !== "asc" && order !== "desc") throw invalidRequest("order must be asc or desc.", "order");
    return {
      ...from(cursorOf(query, "after")),
      ...(query.has("purpose") && { purpose: query.get("purpose")! }),
      ...{ isAscending: order === "asc", limit: countOf(query, "limit", 10_000, 10_000) },
    };
  },
  anthropic(query) {
    const ids = [...query.getAll("ids"), ...query.getAll("ids[]")].map((id) => keptIdIn(id) ?? id);
    const before = cursorOf(query, "before_id");
    const limit = ids.length > 0 ? MOST_IDS : countOf(query, "limit", 20, 1_000);
    if (ids.length > MOST_IDS) throw invalidRequest(`ids has at most ${MOST_IDS} ids.`, "ids");
    return {
      ...(ids.length > 0 && { ids }),
      ...from(before ?? cursorOf(query, "after_id") ?? cursorOf(query, "page")),
      ...(before !== undefined && { isBefore: true }),
      ...{ isAscending: false, limit },
    };
  },
  google: (query) => ({
    ...from(cursorOf(query, "pageToken")),
    ...{ isAscending: false, limit: countOf(query, "pageSize", 10, 100) },
  }),
};

const MOST_IDS = 100;

function from(id: string | undefined): { from?: string } {
  return id === undefined ? {} : { from: id };
}

export const listFiles: Handle = async (asked, { vault }) => {
  const { request, visit } = asked;
  const principal = await callerOf(asked);
  const list = LISTS[visit.vendor](new URL(request.url).searchParams);
  const { files = [], hasMore = false } = await vault.list(principal, list);
  return Response.json(SHAPES[visit.vendor].page({ files, hasMore }, originOf(request)));
};

export const getFile: Handle = async (asked, context) => {
  const file = await fileOf(asked, context);
  if (asked.method === "download") return contentOf(file, asked, context);
  if (asked.method !== undefined)
    throw new GatewayError("not-found", `Files have no method ${asked.method.slice(0, 40)}.`);
  return Response.json(SHAPES[asked.visit.vendor].file(file, originOf(asked.request)));
};

export const downloadFile: Handle = async (asked, context) =>
  contentOf(await fileOf(asked, context), asked, context);

export const deleteFile: Handle = async (asked, context) => {
  const file = await fileOf(asked, context);
  const { vendor } = asked.visit;
  try {
    await context.vault.remove(file.id);
  } catch (thrown) {
    // Google's clients know this as a failed precondition, which is a 400.
    if (vendor === "google" && thrown instanceof GatewayError && thrown.kind === "conflict")
      throw new GatewayError("invalid-request", thrown.message, { code: "file_in_use" });
    throw thrown;
  }
  return Response.json(SHAPES[vendor].deleted(file.id));
};

/** The bytes of a file, or a range of them. The first ones and the last ones are opened before the answer begins. */
async function contentOf(
  file: FileRow,
  { request, visit }: Asked,
  { vault, forms }: Context,
): Promise<Response> {
  const { bytes, sha256, name } = file;
  const formed = await forms?.formOf(file, visit.vendor, request.url);
  if (formed) return formedContent(formed, name);
  const etag = `"${sha256}"`;
  const found = rangeOf(request.headers, bytes, etag);
  if (found === "outside")
    throw new GatewayError(
      "invalid-request",
      `The file has ${bytes} bytes, and the range has none of them.`,
      {
        ...{ status: 416, headers: { "content-range": `bytes */${bytes}` } },
      },
    );
  const range = found ?? { from: 0, to: bytes };
  const end = vault.read(file, { from: Math.max(0, bytes - 1), to: bytes });
  for await (const piece of end) void piece;
  return new Response(await bodyOf(vault.read(file, range), range), {
    status: found ? 206 : 200,
    headers: {
      ...headersOf(name),
      ...{ "accept-ranges": "bytes", etag },
      ...(found && { "content-range": `bytes ${range.from}-${range.to - 1}/${bytes}` }),
    },
  });
}

/** Its length is not known before its end, so a range of it is answered with the whole, and it has no tag. */
async function formedContent(pieces: Pieces, name: string): Promise<Response> {
  return new Response(await bodyOf(pieces, { from: 0, to: Infinity }), {
    headers: { ...headersOf(name), "accept-ranges": "none" },
  });
}

function headersOf(name: string): Record<string, string> {
  const isLines = name.toLowerCase().endsWith(".jsonl");
  return {
    // A browser must not take a file of somebody for a page of weir.
    "content-type": isLines ? "application/jsonl" : "application/octet-stream",
    "content-disposition": "attachment",
    "x-content-type-options": "nosniff",
  };
}

type Pieces = AsyncGenerator<Uint8Array, void, undefined>;

/** Up to this length an answer is whole before it begins, and has a content-length: the runtime gives streams none. Bytes. */
const WHOLE = 1024 * 1024;

/** @throws GatewayError if the first bytes cannot be opened */
async function bodyOf(
  pieces: Pieces,
  { from, to }: ByteRange,
): Promise<ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>> {
  if (to - from <= WHOLE) return Buffer.concat(await Array.fromAsync(pieces));
  let next: IteratorResult<Uint8Array, void> | undefined = await pieces.next();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = next ?? (await pieces.next());
        next = undefined;
        if (piece.done) controller.close();
        else controller.enqueue(piece.value);
      },
      cancel: async () => void (await pieces.return()),
    },
    { highWaterMark: 1 },
  );
}
