/** Lists of servers, which come page by page. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import { CODE, McpError } from "../wire/messages.ts";
import { OWN_INFO } from "../wire/own-info.ts";
import type { Connection } from "./connection.ts";
import { invalidAnswer } from "./http.ts";

/** Limits of a list. */
const MOST_PAGES = 100;
const MOST_ENTRIES = 5_000;
const MOST_CHARACTERS = 8 * 1024 * 1024;

export interface WholeList {
  readonly entries: readonly JsonObject[];
  /** `ttlMs` and `cacheScope` as the server says them: the smallest and the narrowest of its pages. */
  readonly ttlMs: number;
  readonly isPublic: boolean;
}

/** All pages of a list. @throws McpError; a list whose server repeats a cursor is invalid */
export async function allPages(
  server: string,
  connection: Connection,
  method: string,
  member: string,
  stop: AbortSignal,
): Promise<WholeList> {
  const entries: JsonObject[] = [];
  const cursors = new Set<string>();
  let ttlMs = Infinity;
  let isPublic = true;
  let characters = 0;
  for (let cursor: string | undefined; ;) {
    const params = cursor === undefined ? {} : { cursor };
    const answered = await connection.request({
      ...{ method, params, client: { capabilities: {}, info: OWN_INFO }, stop },
      notify: () => {},
      ask: (name) =>
        Promise.resolve({ error: { code: CODE.method, message: `${name} has no place in a list` } }),
    });
    if ("error" in answered) {
      const { code, message, data } = answered.error;
      throw new McpError(code, message, data === undefined ? {} : { data });
    }
    const { result } = answered;
    const page = result[member];
    if (!Array.isArray(page) || !page.every((one) => isObject(one)))
      throw invalidAnswer(server, `answered ${method} without a list at result.${member}`);
    entries.push(...(page as JsonObject[]));
    ttlMs = Math.min(ttlMs, typeof result["ttlMs"] === "number" ? result["ttlMs"] : 0);
    isPublic &&= result["cacheScope"] === "public";
    characters += JSON.stringify(page).length;
    if (cursors.size >= MOST_PAGES || entries.length > MOST_ENTRIES || characters > MOST_CHARACTERS)
      throw invalidAnswer(
        server,
        `lists more than ${MOST_PAGES} pages, ${MOST_ENTRIES} entries or ${MOST_CHARACTERS} characters`,
      );
    const next = result["nextCursor"];
    if (typeof next !== "string") return { entries, ttlMs, isPublic };
    if (cursors.has(next)) throw invalidAnswer(server, `repeats a cursor of ${method}`);
    cursors.add((cursor = next));
  }
}
