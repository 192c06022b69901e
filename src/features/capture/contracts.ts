/** Captured calls. */
import { answer, DRY_RUN, request, time, words } from "../../operator/shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { Pruned } from "../../operator/books.ts";
import { contract } from "../../operator/contract.ts";
import { Talk } from "../../operator/talk.ts";

export const CapturedCall = answer(
  {
    id: Type.String({ description: "Id of the call." }),
    at: time("When the answer ended."),
    expiresAt: time("When weir deletes it."),
    operation: Type.String({ description: "`generate`, `count`, `embeddings`, `compact`." }),
    format: Type.String({ description: "Id of the client's format." }),
    request: Type.String({ description: "Body of the request as the client sent it, JSON." }),
    answer: Type.String({ description: "Body of the answer as the client got it; of a stream, its events." }),
    cut: Type.Optional(
      Type.Array(words(["request", "answer"]), {
        description: "Bodies of which only the beginning is kept.",
      }),
    ),
    status: Type.Integer(),
    headers: Type.Record(Type.String(), Type.String(), { description: "Of the answer." }),
    error: Type.Optional(Type.String({ description: "Why the answer failed." })),
    talk: Talk,
  },
  { description: "A captured call, with `***` in place of credentials." },
);
export type CapturedCall = Static<typeof CapturedCall>;

export const getCallBody = contract({
  method: "GET",
  path: "/admin/v1/calls/{id}/body",
  id: "getCallBody",
  summary: "The request and the answer of a captured call",
  description: "Each look leaves an entry in the audit log.",
  needs: { role: "admin", on: "path" },
  answer: { name: "CapturedCall", schema: CapturedCall },
  errors: ["not_found", "not_captured"],
});

export const deleteCaptures = contract({
  method: "DELETE",
  path: "/admin/v1/captures",
  id: "deleteCaptures",
  summary: "Deletes all captured calls",
  needs: { role: "admin", on: "gateway" },
  query: request({ dryRun: DRY_RUN }),
  answer: { name: "Pruned", schema: Pruned },
});
