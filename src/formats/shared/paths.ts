/** Paths in the client's request, as its codec recorded them, for losses and errors. */
import type { ChatRequest, RequestField, Tool, ToolMember } from "../../core/chat.ts";

/** Part of a request whose path may be unknown, because a plugin added it. */
interface Placed {
  path?: string;
}

export function fieldPath({ paths }: Pick<ChatRequest, "paths">, field: RequestField): string {
  return paths?.[field] ?? field;
}

/** The path of a turn; the path of the conversation for a turn that a plugin added. */
export function turnPath({ path }: Placed, request: Pick<ChatRequest, "paths">): string {
  return path ?? fieldPath(request, "turns");
}

/** The path of a block or of a member of it. @param parent path of the turn or block that contains it */
export function blockPath({ path }: Placed, parent: string): string {
  return path ?? parent;
}

export function toolPath({ path, memberPaths }: Tool, member?: ToolMember): string {
  const tool = path ?? "tools";
  return member === undefined ? tool : (memberPaths?.[member] ?? tool);
}
