/** Which page of a list of batches a client asks for. */
import { invalidRequest } from "../../../core/error.ts";
import { batchIdIn, type Dialect } from "./ids.ts";

export interface ListPage {
  readonly limit: number;
  /** Batches older than this one, the newest of them first. */
  readonly after?: string;
  /** Batches newer than this one, those next to it. */
  readonly before?: string;
}

interface Names {
  readonly limit: string;
  readonly after: string;
  readonly before?: string;
  readonly usual: number;
  readonly most: number;
}

const NAMES: Readonly<Record<Dialect, Names>> = {
  openai: { limit: "limit", after: "after", usual: 20, most: 100 },
  anthropic: { limit: "limit", after: "after_id", before: "before_id", usual: 20, most: 1000 },
  google: { limit: "pageSize", after: "pageToken", usual: 50, most: 1000 },
};

/** @throws GatewayError `invalid-request` that names the parameter */
export function readListPage(dialect: Dialect, query: URLSearchParams): ListPage {
  const names = NAMES[dialect];
  const limit = Number(query.get(names.limit) ?? names.usual);
  // Google gives a page of the usual size to who asks for 0, and of the greatest to who asks for more.
  const fitted = dialect === "google" ? Math.min(limit || names.usual, names.most) : limit;
  if (!Number.isInteger(fitted) || fitted < 1 || fitted > names.most)
    throw invalidRequest(
      `${names.limit}: expected an integer from 1 to ${names.most}.`,
      names.limit,
      "invalid_value",
    );
  const after = idAt(query, names.after);
  const before = names.before === undefined ? undefined : idAt(query, names.before);
  if (after !== undefined && before !== undefined)
    throw invalidRequest(
      `Send \`${names.after}\` or \`${names.before}\`, not both.`,
      names.before,
      "invalid_value",
    );
  return { limit: fitted, ...(after !== undefined && { after }), ...(before !== undefined && { before }) };
}

function idAt(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  const id = batchIdIn(text);
  if (id === undefined) throw invalidRequest(`${name}: expected the id of a batch.`, name, "invalid_value");
  return id;
}
