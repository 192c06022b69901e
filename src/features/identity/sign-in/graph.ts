/** The groups of a person at Microsoft Graph, where Entra leaves them out of a token because there are too many. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { MAX_GROUPS } from "../groups.ts";
import { shown, TokenFault } from "../tokens/fault.ts";
import type { Metadata } from "./metadata.ts";

/** Most answers that are read for one person. */
const MOST_PAGES = 10;

/**
 * The ids of all groups of whom an access token is for, those within others too: what the claim would have had.
 * @throws TokenFault
 */
export async function groupsAtGraph(
  metadata: Pick<Metadata, "ask">,
  address: string,
  accessToken: string | undefined,
  signal?: AbortSignal,
): Promise<string[]> {
  if (accessToken === undefined)
    throw new TokenFault("claims", "there is no access token to ask Graph for its groups with");
  const groups: string[] = [];
  let next: string | undefined = `${address}/v1.0/me/getMemberGroups`;
  const authorization = `Bearer ${accessToken}`;
  for (let page = 0; next !== undefined; page++) {
    if (page >= MOST_PAGES || groups.length > MAX_GROUPS)
      throw new TokenFault("claims", `it has more than ${MAX_GROUPS} groups`);
    const headers = { accept: "application/json", authorization, "content-type": "application/json" };
    const first = { method: "POST", body: JSON.stringify({ securityEnabledOnly: false }) };
    const answer = await metadata.ask(next, {
      ...(page === 0 && first),
      headers,
      ...(signal && { signal }),
    });
    const body = parseJson(answer.text);
    if (answer.status !== 200 || !isObject(body) || !Array.isArray(body["value"]))
      throw new TokenFault(
        answer.status >= 500 || answer.status === 429 ? "unavailable" : "claims",
        `it has too many groups for a token, and Graph answers ${answer.status} ${shown(codeIn(body))}; ask has to have User.Read, and no scope of another API`,
      );
    groups.push(...body["value"].filter((id) => typeof id === "string"));
    next = nextIn(body, address);
  }
  return groups;
}

function codeIn(body: unknown): unknown {
  const error = isObject(body) ? body["error"] : undefined;
  return isObject(error) ? error["code"] : undefined;
}

/** The token goes to Graph alone. @throws TokenFault */
function nextIn(body: JsonObject, address: string): string | undefined {
  const next = body["@odata.nextLink"];
  if (next === undefined) return undefined;
  if (typeof next === "string" && URL.parse(next)?.origin === address) return next;
  throw new TokenFault("claims", "Graph names a place that is not its own for more groups");
}
