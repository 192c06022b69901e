/** What the operations have in common. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import type { FileForms } from "../../../core/file-forms.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { keptIdIn } from "../../../core/kept-id.ts";
import type { Principal } from "../../../core/principal.ts";
import type { Visit } from "../../../gateway/seams.ts";
import type { FileRow } from "../messages.ts";
import type { FileLimits } from "../settings.ts";
import type { Vault } from "../vault.ts";

export interface Context {
  readonly vault: Vault;
  readonly limits: FileLimits;
  readonly forms?: FileForms;
}

/** Answers one operation. @param name the parameter in the path, decoded */
export type Handle = (asked: Asked, context: Context) => Promise<Response>;

export interface Asked {
  readonly request: Request;
  readonly visit: Visit;
  /** The parameter of the path, percent-decoded, without a method behind it. Empty: there is none. */
  readonly name: string;
  /** The method behind it: `download`. */
  readonly method: string | undefined;
}

/** Its name in the scope `endpoints` of keys. */
const ENDPOINT = "files";

/** Longest JSON body. Bytes. */
const MAX_JSON = 1024 * 1024;

export function callerOf({ visit }: Asked): Promise<Principal | undefined> {
  return visit.caller(ENDPOINT);
}

/** The file that the path names. @throws GatewayError `not-found` also for a file of others */
export async function fileOf(asked: Asked, { vault }: Context): Promise<FileRow> {
  const principal = await callerOf(asked);
  const found = await vault.find(asked.name, principal);
  if (found) return found;
  throw unknown("file", asked.name);
}

export function unknown(what: string, name: string): GatewayError {
  return new GatewayError(
    "not-found",
    `There is no ${what} "${name.slice(0, 80)}" that this caller may see.`,
    {
      ...{ code: `${what}_not_found`, param: `${what}_id` },
    },
  );
}

/** @throws GatewayError for what is no JSON object */
export async function bodyOf({ visit }: Asked): Promise<JsonObject> {
  const bytes = await visit.body(MAX_JSON);
  if (bytes.length === 0) return {};
  try {
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isObject(body)) return body;
  } catch {
    // The same answer as for another value.
  }
  throw invalidRequest("The request body must be one JSON object.");
}

/** A query parameter that counts. @throws GatewayError */
export function countOf(query: URLSearchParams, name: string, usual: number, most: number): number {
  const text = query.get(name);
  if (text === null || text === "") return usual;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  throw invalidRequest(`${name} must be an integer between 1 and ${most}.`, name);
}

/** The place in a list that a client names. @throws GatewayError */
export function cursorOf(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  const id = keptIdIn(text);
  if (id !== undefined) return id;
  throw invalidRequest(`${name} must be the id of a file.`, name);
}
