/** The operations that clients ask. */

export interface DeclaredRoute {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** The function that answers. */
  readonly does: Does;
}

export type Does =
  | "create"
  | "list"
  | "get"
  | "delete"
  | "download"
  | "createUpload"
  | "addPart"
  | "completeUpload"
  | "cancelUpload"
  | "uploadResumable";

const post = (path: string, id: string, does: Does, summary: string): DeclaredRoute => ({
  ...{ method: "POST", path, id, does, summary },
});
const get = (path: string, id: string, does: Does, summary: string): DeclaredRoute => ({
  ...{ method: "GET", path, id, does, summary },
});
const del = (path: string, id: string, summary: string): DeclaredRoute => ({
  ...{ method: "DELETE", path, id, does: "delete", summary },
});

export const ROUTES: readonly DeclaredRoute[] = [
  post("/v1/files", "createFile", "create", "Keep a file, in the dialects of OpenAI and Anthropic"),
  get("/v1/files", "listFiles", "list", "List the files of the caller, in the dialect of the client"),
  get(
    "/v1/files/{id}",
    "getFile",
    "get",
    "Describe a file; for clients of Google with `:download` its bytes",
  ),
  get("/v1/files/{id}/content", "getFileContent", "download", "The bytes of a file, or a range of them"),
  del("/v1/files/{id}", "deleteFile", "Delete a file"),
  post("/v1/uploads", "createUpload", "createUpload", "Begin a file that comes in parts"),
  post("/v1/uploads/{id}/parts", "addUploadPart", "addPart", "Add a part to an upload"),
  post(
    "/v1/uploads/{id}/complete",
    "completeUpload",
    "completeUpload",
    "Make a file of the parts of an upload",
  ),
  post("/v1/uploads/{id}/cancel", "cancelUpload", "cancelUpload", "Give up an upload"),
  post(
    "/upload/v1beta/files",
    "uploadFile",
    "uploadResumable",
    "Keep a file, in the dialect of Google: resumable",
  ),
  post("/upload/v1/files", "uploadFileV1", "uploadResumable", "The same as `/upload/v1beta/files`"),
  get("/v1beta/files", "listGoogleFiles", "list", "List the files of the caller, in the dialect of Google"),
  get("/v1beta/files/{id}", "getGoogleFile", "get", "Describe a file; with `:download` its bytes"),
  del("/v1beta/files/{id}", "deleteGoogleFile", "Delete a file, in the dialect of Google"),
  get(
    "/download/v1beta/files/{id}",
    "downloadFile",
    "download",
    "The bytes of a file, in the dialect of Google",
  ),
  get("/download/v1/files/{id}", "downloadFileV1", "download", "The same as `/download/v1beta/files/{id}`"),
];
