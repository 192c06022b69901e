/**
 * Marks ids of the client's calls that stand for what weir's tools did beside them. Providers give ids that come again in other
 * conversations, and of an id with a mark weir knows that something is missing when nothing is kept for it.
 */
import { randomBytes } from "node:crypto";

const MARK = "call_w2_";
const MARKED = /^call_w2_[\w-]{12}_(.+)$/s;

/** @param id of the model */
export function marked(id: string): string {
  return `${MARK}${randomBytes(9).toString("base64url")}_${id}`;
}

export function isMarked(id: string): boolean {
  return MARKED.test(id);
}

/** The id of the model. */
export function withoutMark(id: string): string {
  return MARKED.exec(id)?.[1] ?? id;
}
