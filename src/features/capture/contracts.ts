/** Captured calls. */
import { answer, DRY_RUN, PATH, request, time, words } from "../../operator/shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { Pruned } from "../../operator/books.ts";
import { contract } from "../../operator/contract.ts";
import { Talk, TalkPart } from "../../operator/talk.ts";

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
    replaced: Type.Optional(
      Type.Array(words(["data", "secrets"]), {
        description:
          "What is not in the request as the client sent it: digests stand for images and files, `***` for credentials and for what the config masks.",
      }),
    ),
    asked: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "Headers of the client that change what its request means.",
      }),
    ),
    wire: Type.Optional(
      answer(
        {
          url: Type.String(),
          format: Type.String({ description: "Id of the provider's format." }),
          request: Type.Optional(Type.String({ description: "Absent: as the client sent it." })),
          status: Type.Optional(Type.Integer({ description: "Absent: no answer came." })),
          answer: Type.Optional(Type.String({ description: "Absent: as the client got it, or hidden." })),
          cut: Type.Optional(
            Type.Array(words(["request", "answer"]), {
              description: "Bodies of which only the beginning is kept.",
            }),
          ),
          said: Type.Optional(
            Type.Array(TalkPart, { description: "What the provider's answer said, of a stream together." }),
          ),
          isHidden: Type.Optional(
            Type.Literal(true, { description: "The answer is not kept: its pieces may share a credential." }),
          ),
        },
        { description: "What weir and the provider sent each other in the last attempt." },
      ),
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

/** Longest and usual time for which an operator has calls captured. Minutes. */
const MOST_MINUTES = 1_440;
const USUAL_MINUTES = 60;

const CAPTURED = {
  kind: words(["session", "key", "path"]),
  what: Type.String({
    minLength: 1,
    maxLength: 200,
    description:
      "Hash of the session as in `GET /admin/v1/calls`; id or name of the key; the path with all keys below.",
  }),
};

export const CaptureRule = answer(
  {
    id: Type.String(),
    on: answer(CAPTURED),
    path: { ...PATH, description: "Where its calls lie in the tree of keys." },
    by: Type.String({ description: "Id of the admin key that added it, or its name in the config." }),
    createdAt: time(""),
    endsAt: time(""),
  },
  { description: "Calls that are captured until a time because an operator asked for it." },
);
export type CaptureRule = Static<typeof CaptureRule>;

export const CaptureRules = answer({
  rules: Type.Array(CaptureRule, { description: "Those that have not ended, the newest first." }),
  off: Type.Optional(Type.String({ description: "The option of the config that forbids them." })),
});

export const listCaptureRules = contract({
  method: "GET",
  path: "/admin/v1/capture/rules",
  id: "listCaptureRules",
  summary: "Which calls operators have captured at the moment",
  needs: { role: "admin", on: "path" },
  alone: true,
  answer: { name: "CaptureRules", schema: CaptureRules },
});

export const createCaptureRule = contract({
  method: "POST",
  path: "/admin/v1/capture/rules",
  id: "createCaptureRule",
  summary: "Captures the calls of a session, a key or a path from now on",
  description:
    "Answered when all workers do it. The options `mask`, `bytes`, `days` and `fileBytes` of the section `capture` hold.",
  needs: { role: "admin", on: "path" },
  body: request({
    on: request(CAPTURED),
    minutes: Type.Integer({ minimum: 1, maximum: MOST_MINUTES, default: USUAL_MINUTES }),
  }),
  answer: { name: "CaptureRule", schema: CaptureRule },
  status: 201,
  errors: ["capture_off", "conflict", "not_found", "not_permitted"],
});

export const deleteCaptureRule = contract({
  method: "DELETE",
  path: "/admin/v1/capture/rules/{id}",
  id: "deleteCaptureRule",
  summary: "Ends a rule; what it captured stays until it expires",
  needs: { role: "admin", on: "path" },
  answer: { name: "DeletedRule", schema: answer({ id: Type.String(), deleted: Type.Literal(true) }) },
  errors: ["not_found"],
});

export const watchCall = contract({
  method: "GET",
  path: "/admin/v1/calls/{id}/live",
  id: "watchCall",
  summary: "The answer of a running call as it comes, as server-sent events",
  description:
    "Events: `call` once a second, how far the call is; `parts`, texts that have come since the last event, each with the number and the kind of its part, and `lost`, bytes before them that are not shown; `end`. What may be the beginning of a credential comes when it is whole. Each look leaves an entry in the audit log.",
  needs: { role: "admin", on: "path" },
  alone: true,
  answer: { text: "text/event-stream" },
  errors: ["not_running", "not_found", "not_permitted", "capture_off", "too_many_watchers"],
});
