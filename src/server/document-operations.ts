/** The operations that describe weir: the OpenAPI document, and the documents as text. */
import { Type } from "@sinclair/typebox";
import type { Texts } from "../documents/texts.ts";
import type { JsonObject } from "../core/json.ts";
import type { MakePlain } from "./model-operations.ts";
import type { Operation } from "./operation.ts";
import { createRequestId, respond } from "./respond.ts";
import { OpenApiDocument } from "./schemas.ts";

const MEDIA_TYPE = "text/plain";
const CONSTANT = Object.freeze({ "content-type": `${MEDIA_TYPE}; charset=utf-8` });
const MARKDOWN = {
  name: "Markdown",
  schema: Type.String({ description: "Markdown." }),
  mediaType: MEDIA_TYPE,
};

/** @param document the OpenAPI document */
export function documentOperations(plain: MakePlain, document: () => JsonObject): Operation[] {
  return [
    plain(
      {
        method: "GET",
        path: "/openapi.json",
        id: "describe",
        summary: "This document",
        access: "key",
        answer: { name: "OpenApiDocument", schema: OpenApiDocument },
        errors: [],
      },
      document,
    ),
    textOperation(plain, "/llms.txt", "listDocuments", "What there is to read about weir", "index"),
    textOperation(plain, "/llms-full.txt", "readDocuments", "All documents of weir in one text", "full"),
  ];
}

function textOperation(
  plain: MakePlain,
  path: string,
  id: string,
  summary: string,
  name: keyof Texts,
): Operation {
  return plain(
    { method: "GET", path, id, summary, access: "key", answer: MARKDOWN, errors: [] },
    async () => {
      const { readTexts } = await import("../documents/texts.ts");
      return respond(
        { status: 200, constant: CONSTANT, headers: {}, body: readTexts()[name] },
        createRequestId(),
      );
    },
  );
}
