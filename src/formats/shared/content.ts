/** Content that a format has no place for: title and context of a document, and parts that weir refuses. */
import type { DocumentBlock, ForeignBlock } from "../../core/chat.ts";
import { type GatewayError, invalidRequest } from "../../core/error.ts";
import { isObject } from "../../core/json.ts";

type Headed = Pick<DocumentBlock, "title" | "context">;

/** Title and context as a text of their own; empty if there are none. */
export function headingOf({ title, context }: Headed): string {
  return lines([title, context]);
}

/** Puts the title and the context of a document before its text. */
export function withTitle({ title, context }: Headed, text: string): string {
  return lines([title, context, text]);
}

function lines(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}

/**
 * The error for a part that the format of the provider cannot express: the model would answer without having seen it.
 * @param path of the part in the client's request @param model as the client named it
 */
export function unsupportedContent({ value }: ForeignBlock, path: string, model: string): GatewayError {
  const type =
    (isObject(value) && (typeof value.type === "string" ? value.type : Object.keys(value)[0])) || "unknown";
  const word = type.slice(0, 64).replace(/[^\w.-]/g, "?");
  return invalidRequest(
    `${path}: weir cannot translate content of type ${word} for the model ${model}; remove it or choose another model.`,
    path,
    "unsupported_value",
  );
}
