/**
 * Google's resumable uploads: a request that begins one, and requests with its bytes one after another. What arrived of a request that
 * broke off counts, so a client asks how far it is, and goes on there. The URL of the upload is its credential, as with the vendor.
 */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import { isObject } from "../../../core/json.ts";
import { createKeptId, keptIdIn } from "../../../core/kept-id.ts";
import type { FileRow, PartRow, UploadRow } from "../messages.ts";
import { granted, ownerOf } from "../vault.ts";
import { type Asked, bodyOf, callerOf, type Context, type Handle, unknown } from "./context.ts";
import { fileName, mimeOf } from "./create.ts";
import { assemble } from "./parts.ts";
import { tooLong, USUAL_PURPOSE } from "./purposes.ts";
import { originOf, SHAPES } from "./shapes.ts";
import { UPLOAD_MS } from "./uploads.ts";

export const uploadResumable: Handle = async (asked, context) => {
  const { headers, url } = asked.request;
  const id = new URL(url).searchParams.get("upload_id");
  const commands = (headers.get("x-goog-upload-command") ?? "").toLowerCase().split(/\s*,\s*/);
  if (id !== null) return proceed(asked, context, id, commands);
  const owner = ownerOf(await callerOf(asked));
  if (headers.get("x-goog-upload-protocol") === "resumable" && commands.includes("start"))
    return begin(asked, context, owner);
  throw invalidRequest(
    "Begin an upload with X-Goog-Upload-Protocol: resumable and X-Goog-Upload-Command: start; weir knows no other way.",
  );
};

async function begin(
  asked: Asked,
  { vault, limits }: Context,
  owner: ReturnType<typeof ownerOf>,
): Promise<Response> {
  const { headers, url } = asked.request;
  const { file = {} } = await bodyOf(asked);
  if (!isObject(file)) throw invalidRequest("file must be an object.", "file");
  if (file["name"] !== undefined)
    throw invalidRequest("weir names files itself; send displayName in place of name.", "file.name");
  const declared = headers.get("x-goog-upload-header-content-length") ?? file["sizeBytes"];
  const bytes = declared === undefined ? -1 : Number(declared);
  if (!Number.isInteger(bytes) || bytes < -1)
    throw invalidRequest("The length of the file must be an integer.", "file.sizeBytes");
  if (bytes > limits.max) throw tooLong(limits.max);
  const { left } = await vault.room(owner.path);
  if (bytes > left) vault.full();
  const sent = file["displayName"] ?? headers.get("x-goog-upload-file-name");
  const name = fileName(typeof sent === "string" ? sent : "");
  const mime = mimeOf(headers.get("x-goog-upload-header-content-type") ?? file["mimeType"]);
  const now = Date.now();
  const upload: UploadRow = {
    ...{ ...owner, id: createKeptId(now), kind: "resumable", bytes, received: 0, state: "pending" },
    facts: { name, mime, purpose: USUAL_PURPOSE, keepMs: limits.keepMs },
    ...{ createdAt: now, expiresAt: now + UPLOAD_MS },
  };
  await vault.asks.ask({ begin: upload });
  const { pathname } = new URL(url);
  const own = `${originOf(asked.request)}${pathname}?upload_id=${upload.id}&upload_protocol=resumable`;
  return answer("active", 0, { "x-goog-upload-url": own });
}

async function proceed(
  asked: Asked,
  context: Context,
  name: string,
  commands: readonly string[],
): Promise<Response> {
  const { vault } = context;
  const { upload } = await vault.asks.ask({ upload: keptIdIn(name) ?? "" });
  if (upload?.kind !== "resumable") throw unknown("upload", name);
  // The answer to the last request may have been lost.
  if (upload.state === "completed") return ended(asked, context, upload);
  if (commands.includes("query"))
    return answer(upload.state === "pending" ? "active" : "cancelled", upload.received);
  if (commands.includes("cancel")) {
    const { parts = [] } = granted(await vault.asks.ask({ cancel: upload.id }));
    for (const part of parts) await vault.drop(part);
    return answer("cancelled", 0);
  }
  if (!commands.includes("upload") && !commands.includes("finalize"))
    throw invalidRequest("X-Goog-Upload-Command must be upload, finalize, query or cancel.");
  const received = commands.includes("upload") ? await receive(asked, context, upload) : upload.received;
  if (!commands.includes("finalize")) return answer("active", received);
  asked.visit.allowSilence();
  const { upload: now, parts = [] } = granted(await vault.asks.ask({ upload: upload.id }));
  return final(asked, await assemble(vault, now!, parts));
}

/** Keeps what arrives. @returns bytes of the upload so far @throws GatewayError, also if the request broke off */
async function receive(asked: Asked, { vault, limits }: Context, upload: UploadRow): Promise<number> {
  const { request, visit } = asked;
  const offset = Number(request.headers.get("x-goog-upload-offset") ?? 0);
  if (offset !== upload.received)
    throw new GatewayError(
      "invalid-request",
      `The upload has ${upload.received} bytes; go on there, and not at ${offset}.`,
      {
        headers: { "x-goog-upload-status": "active", "x-goog-upload-size-received": String(upload.received) },
      },
    );
  const most = (upload.bytes >= 0 ? upload.bytes : limits.max) - offset;
  const arriving = new Arriving(visit.stream(most));
  const { id, bytes, keptIn } = await vault.draft(upload.path, arriving.pieces());
  const part: PartRow = { id, bytes, keptIn, upload: upload.id, createdAt: Date.now() };
  try {
    if (bytes > 0) {
      const add = { addPart: part, at: offset, most: offset + most, quota: limits.quota };
      granted(await vault.asks.ask(add));
    } else await vault.drop(part);
  } catch (thrown) {
    await vault.drop(part);
    throw thrown;
  }
  if (arriving.fault !== undefined) throw arriving.fault;
  return offset + bytes;
}

/** What arrives of a body: its fault ends it, and is known afterwards. */
class Arriving {
  readonly #bytes: AsyncIterable<Uint8Array>;
  fault: unknown;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#bytes = bytes;
  }

  async *pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* this.#bytes;
    } catch (cause) {
      // A body that is too long is a mistake of the client, and nothing of it counts.
      if (cause instanceof GatewayError && cause.kind === "too-large") throw cause;
      this.fault = cause;
    }
  }
}

async function ended(asked: Asked, { vault }: Context, upload: UploadRow): Promise<Response> {
  const file = await vault.find(upload.file ?? "", undefined);
  if (!file) throw unknown("file", upload.file ?? "");
  return final(asked, file);
}

function final({ request }: Asked, file: FileRow): Response {
  const headers = { "x-goog-upload-status": "final", "x-goog-upload-size-received": String(file.bytes) };
  return Response.json({ file: SHAPES.google.file(file, originOf(request)) }, { headers });
}

function answer(
  status: "active" | "cancelled",
  received: number,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const progress = { "x-goog-upload-status": status, "x-goog-upload-size-received": String(received) };
  return Response.json({}, { headers: { ...progress, ...headers } });
}
