/** Answers the operations of clients. */
import type { Visit } from "../../../gateway/seams.ts";
import type { DeclaredRoute, Does } from "../declarations.ts";
import type { Asked, Context, Handle } from "./context.ts";
import { createFile } from "./create.ts";
import { deleteFile, downloadFile, getFile, listFiles } from "./files.ts";
import { uploadResumable } from "./resumable.ts";
import { addPart, cancelUpload, completeUpload, createUpload } from "./uploads.ts";

const HANDLES: Readonly<Record<Does, Handle>> = {
  create: createFile,
  list: listFiles,
  get: getFile,
  delete: deleteFile,
  download: downloadFile,
  createUpload,
  addPart,
  completeUpload,
  cancelUpload,
  uploadResumable,
};

export function serve(
  { does, path }: DeclaredRoute,
  request: Request,
  visit: Visit,
  context: Context,
): Promise<Response> {
  return HANDLES[does]({ request, visit, ...namedIn(request.url, path) }, context);
}

/** The segment of a URL at which the path of the operation has a parameter. */
function namedIn(url: string, path: string): Pick<Asked, "name" | "method"> {
  const at = path.split("/").findIndex((segment) => segment.startsWith("{"));
  const written = at < 0 ? "" : (new URL(url).pathname.split("/")[at] ?? "");
  const [, name = "", method] = /^([^:]*)(?::(\w+))?$/.exec(decoded(written)) ?? [];
  return { name, method };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
