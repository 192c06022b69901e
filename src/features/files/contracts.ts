/** Files of clients in the operator's API: what is known of them, not what is in them. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../operator/contract.ts";
import { answer, PATH, request, time } from "../../operator/shapes.ts";

const ID = Type.String({
  description: "26 characters; clients see it as `file-ID`, `file_ID` or `files/ID`.",
});

export const StoredFile = answer(
  {
    id: ID,
    path: { ...PATH, description: "Path of the key that sent it." },
    key: Type.Optional(Type.String({ description: "Id of the key that sent it." })),
    person: Type.Optional(Type.String({ description: "Id of the person who sent it." })),
    name: Type.String({ description: "As its client named it." }),
    purpose: Type.String(),
    bytes: Type.Integer(),
    mime: Type.String({ description: "Media type, as its client said." }),
    sha256: Type.String(),
    createdAt: time(""),
    expiresAt: Type.Optional(time("When it is deleted.")),
  },
  { description: "A file that a client keeps in weir." },
);
export type StoredFile = Static<typeof StoredFile>;

export const StoredFiles = answer({
  files: Type.Array(StoredFile, { description: "The newest first." }),
  hasMore: Type.Boolean(),
});
export type StoredFiles = Static<typeof StoredFiles>;

export const listStoredFiles = contract({
  method: "GET",
  path: "/admin/v1/files",
  id: "listStoredFiles",
  summary: "The files that clients keep in weir",
  needs: { role: "admin", on: "path" },
  query: request({
    within: Type.Optional({ ...PATH, description: "Only those of this path and below." }),
    before: Type.Optional(Type.String({ maxLength: 40, description: "Only older ones than this file." })),
    limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: "Most files." }),
  }),
  answer: { name: "StoredFiles", schema: StoredFiles },
  errors: ["not_permitted"],
});

export const getStoredFile = contract({
  method: "GET",
  path: "/admin/v1/files/{id}",
  id: "getStoredFile",
  summary: "A file that a client keeps in weir",
  needs: { role: "admin", on: "path" },
  answer: { name: "StoredFile", schema: StoredFile },
  errors: ["not_found"],
});

export const deleteStoredFile = contract({
  method: "DELETE",
  path: "/admin/v1/files/{id}",
  id: "deleteStoredFile",
  summary: "Deletes a file of a client",
  needs: { role: "admin", on: "path" },
  answer: { name: "DeletedFile", schema: answer({ id: ID, deleted: Type.Literal(true) }) },
  errors: ["conflict", "not_found"],
});
