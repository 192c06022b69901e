/** `/v1/uploads` of OpenAI: a file in parts, which may come in any order. */
import { invalidRequest } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { createKeptId, keptIdIn } from "../../../core/kept-id.ts";
import { boundaryOf } from "../../../stream/multipart.ts";
import type { PartRow, UploadRow } from "../messages.ts";
import { granted, ownerOf } from "../vault.ts";
import { type Asked, bodyOf, callerOf, type Context, type Handle, unknown } from "./context.ts";
import { fileName, mimeOf, readForm } from "./create.ts";
import { assemble } from "./parts.ts";
import { checkPurpose, lifeAfter, purposeOf, tooLong } from "./purposes.ts";
import { originOf, SHAPES } from "./shapes.ts";

/** Bytes of an upload, and of one part. */
const MAX_UPLOAD = 8 * 1024 ** 3;
const MAX_PART = 64 * 1024 ** 2;
const FORM = 64 * 1024;

/** How long an upload may take. Milliseconds. */
export const UPLOAD_MS = 3_600_000;

export const createUpload: Handle = async (asked, { vault, limits }) => {
  const owner = ownerOf(await callerOf(asked));
  const body = await bodyOf(asked);
  const bytes = body["bytes"];
  if (typeof bytes !== "number" || !Number.isInteger(bytes) || bytes < 0)
    throw invalidRequest("bytes must be an integer that is not negative.", "bytes");
  if (bytes > MAX_UPLOAD) throw tooLong(MAX_UPLOAD);
  if (typeof body["filename"] !== "string") throw invalidRequest("filename must be a text.", "filename");
  const name = fileName(body["filename"]);
  const purpose = purposeOf(body["purpose"]);
  checkPurpose(purpose, name, bytes);
  const after = body["expires_after"] ?? {};
  if (!isObject(after)) throw invalidRequest("expires_after must be an object.", "expires_after");
  const keepMs = lifeAfter(after["anchor"], after["seconds"], limits);
  const { left } = await vault.room(owner.path);
  if (bytes > left) vault.full();
  const now = Date.now();
  const upload: UploadRow = {
    ...{ ...owner, id: createKeptId(now), kind: "parts", bytes, received: 0, state: "pending" },
    facts: { name, purpose, mime: mimeOf(body["mime_type"]), keepMs },
    ...{ createdAt: now, expiresAt: now + UPLOAD_MS },
  };
  await vault.asks.ask({ begin: upload });
  return Response.json(shapeOf(upload));
};

export const addPart: Handle = async (asked, context) => {
  const { vault, limits } = context;
  const { request, visit } = asked;
  const { upload } = await uploadOf(asked, context);
  const boundary = boundaryOf(request.headers.get("content-type"));
  const form = { vault, owner: upload, field: "data", most: MAX_PART };
  const { draft } = await readForm(visit.stream(MAX_PART + FORM), boundary, form);
  const { id, bytes, keptIn } = draft;
  const part: PartRow = { id, bytes, keptIn, upload: upload.id, createdAt: Date.now() };
  try {
    granted(await vault.asks.ask({ addPart: part, most: upload.bytes, quota: limits.quota }));
  } catch (thrown) {
    await vault.drop(draft);
    throw thrown;
  }
  return Response.json({
    ...{ id: `part_${id}`, object: "upload.part", created_at: seconds(part.createdAt) },
    upload_id: `upload_${upload.id}`,
  });
};

export const completeUpload: Handle = async (asked, context) => {
  const { upload, parts } = await uploadOf(asked, context);
  const { part_ids: ids, md5 } = await bodyOf(asked);
  if (!Array.isArray(ids)) throw invalidRequest("part_ids must be a list of ids of parts.", "part_ids");
  if (md5 !== undefined && (typeof md5 !== "string" || !/^[0-9a-f]{32}$/i.test(md5)))
    throw invalidRequest("md5 must have 32 hexadecimal digits.", "md5");
  const known = new Map(parts.map((part) => [part.id, part]));
  const ordered = ids.map((id: unknown, index) => {
    const part = known.get((typeof id === "string" && keptIdIn(id)) || "");
    if (!part) throw invalidRequest(`The upload has no part ${JSON.stringify(id)}.`, `part_ids[${index}]`);
    return part;
  });
  // Many gigabytes are copied before there is an answer.
  asked.visit.allowSilence();
  const file = await assemble(context.vault, upload, ordered, md5);
  const done: UploadRow = { ...upload, state: "completed" };
  return Response.json(shapeOf(done, SHAPES.openai.file(file, originOf(asked.request))));
};

export const cancelUpload: Handle = async (asked, context) => {
  const { upload } = await uploadOf(asked, context);
  const { parts = [] } = granted(await context.vault.asks.ask({ cancel: upload.id }));
  for (const part of parts) await context.vault.drop(part);
  return Response.json(shapeOf({ ...upload, state: "cancelled" }));
};

/** @throws GatewayError `not-found` also for an upload of others */
async function uploadOf(
  asked: Asked,
  { vault }: Context,
): Promise<{ upload: UploadRow; parts: readonly PartRow[] }> {
  const principal = await callerOf(asked);
  const { upload, parts = [] } = await vault.asks.ask({ upload: keptIdIn(asked.name) ?? "" });
  const seer = vault.seerOf(principal);
  const isSeen =
    !seer ||
    (upload &&
      ((seer.key !== undefined && seer.key === upload.key) ||
        (seer.person !== undefined && seer.person === upload.person) ||
        (seer.seesPath && seer.path === upload.path)));
  if (upload?.kind === "parts" && isSeen) return { upload, parts };
  throw unknown("upload", asked.name);
}

const seconds = (ms: number) => Math.floor(ms / 1000);

function shapeOf(upload: UploadRow, file?: JsonObject): JsonObject {
  const { id, bytes, facts, state, createdAt, expiresAt } = upload;
  const isLate = state === "pending" && expiresAt <= Date.now();
  return {
    ...{ id: `upload_${id}`, object: "upload", bytes, created_at: seconds(createdAt) },
    ...{ filename: facts.name, purpose: facts.purpose, status: isLate ? "expired" : state },
    expires_at: seconds(expiresAt),
    ...(file && { file }),
  };
}
