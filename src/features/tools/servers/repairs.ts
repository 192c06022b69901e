/** Results of modern servers that are not quite what revision 2026-07-28 wants, and official clients refuse. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Answered } from "../wire/messages.ts";
import { CACHEABLE } from "../wire/revisions.ts";
import { invalidAnswer } from "./http.ts";

/** What weir adds: `resultType`, or `ttlMs` with `cacheScope`. */
export type Repair = "result_type" | "cache_hints";

/** Members of which a complete result has one, by method. Other methods have results without members. */
const MEMBERS: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  "tools/list": { tools: Array.isArray },
  "tools/call": { content: Array.isArray, structuredContent: (value) => value !== undefined },
  "prompts/list": { prompts: Array.isArray },
  "prompts/get": { messages: Array.isArray },
  "resources/list": { resources: Array.isArray },
  "resources/templates/list": { resourceTemplates: Array.isArray },
  "resources/read": { contents: Array.isArray },
  "completion/complete": { completion: isObject },
  "tasks/get": { status: (value) => typeof value === "string" },
};

export interface RepairOptions {
  /** Name of the server. */
  readonly server: string;
  readonly method: string;
  /** Refuses what it would repair. */
  readonly isStrict: boolean;
  repaired(kind: Repair): void;
}

/** A server that forgets `resultType` means a complete result, if its members say so. @throws McpError 1005 */
export function completed(
  answered: Answered,
  { server, method, isStrict, repaired }: RepairOptions,
): Answered {
  if ("error" in answered) return answered;
  const { result } = answered;
  const { resultType } = result;
  if (resultType === "complete" || resultType === "input_required" || resultType === "task") return answered;
  if (resultType !== undefined)
    throw invalidAnswer(server, `answered with the unknown resultType ${JSON.stringify(resultType)}`);
  if (isStrict) throw invalidAnswer(server, `answered ${method} without resultType`);
  if (!isWhole(method, result))
    throw invalidAnswer(server, `answered ${method} without resultType, and without the members of a result`);
  repaired("result_type");
  const lacksHints = CACHEABLE.has(method) && !("ttlMs" in result && "cacheScope" in result);
  if (lacksHints) repaired("cache_hints");
  const hints = lacksHints ? { ttlMs: 0, cacheScope: "private" } : {};
  return { result: { ...hints, ...result, resultType: "complete" } };
}

function isWhole(method: string, result: JsonObject): boolean {
  const members = MEMBERS[method];
  return !members || Object.entries(members).some(([member, fits]) => fits(result[member]));
}
