import { Type } from "@sinclair/typebox";
import { count, open } from "../../formats/shared/schema.ts";

/** What a provider keeps, as the Gemini API writes it. */
export const CachedContent = open(
  {
    name: Type.String({ description: "`cachedContents/…`: the member `cachedContent` of later requests." }),
    model: Type.String(),
    displayName: Type.Optional(Type.String()),
    createTime: Type.Optional(Type.String()),
    updateTime: Type.Optional(Type.String()),
    expireTime: Type.String(),
    usageMetadata: open({ totalTokenCount: count({ description: "Tokens that are kept." }) }),
  },
  { title: "CachedContent" },
);
