/** Title and context of a document in the text of a prompt. */
import type { DocumentBlock } from "../../core/chat.ts";

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
