/** A conversation as an operator reads it: one shape for all formats of clients. */
import { type Static, Type } from "@sinclair/typebox";
import { answer, words } from "./shapes.ts";

export const TALK_KINDS = [
  ...(["text", "reasoning", "refusal", "call", "result"] as const),
  ...(["image", "audio", "document", "other"] as const),
] as const;

export const TalkPart = answer({
  kind: words(TALK_KINDS, "`call` and `result` are those of a tool."),
  text: Type.Optional(Type.String({ description: "Of a call its arguments." })),
  name: Type.Optional(Type.String({ description: "Of the tool, or of the document." })),
  id: Type.Optional(Type.String({ description: "Of the call of the tool." })),
  media: Type.Optional(Type.String({ description: "Type of an image, of a sound or of a document." })),
  bytes: Type.Optional(Type.Integer({ description: "Size of what is not shown." })),
  failed: Type.Optional(Type.Literal(true, { description: "The tool failed." })),
});
export type TalkPart = Static<typeof TalkPart>;

export const TalkTurn = answer({
  role: words(["system", "user", "assistant"]),
  parts: Type.Array(TalkPart),
});
export type TalkTurn = Static<typeof TalkTurn>;

export const Talk = answer(
  {
    turns: Type.Array(TalkTurn, { description: "Of the request." }),
    answer: Type.Array(TalkPart, { description: "Of a stream its pieces together." }),
    tools: Type.Array(Type.String(), { description: "Names of the tools that the request offers." }),
    unread: Type.Optional(
      Type.Array(words(["request", "answer"]), {
        description: "Bodies that could not be read to their end.",
      }),
    ),
  },
  { description: "What a captured call said, in one shape for all formats." },
);
export type Talk = Static<typeof Talk>;
