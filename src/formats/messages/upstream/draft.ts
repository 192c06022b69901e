/** A message of the request while it is being put together. */
import type { JsonObject } from "../../../core/json.ts";

export interface Draft {
  role: "system" | "user" | "assistant";
  blocks: DraftBlock[];
  path: string;
  effort?: string;
}

export interface DraftBlock {
  wire: JsonObject;
  path: string;
  /** Of a call or a result: the id as the client knows it, and the name of the function. */
  tool?: { id: string; name: string };
}
