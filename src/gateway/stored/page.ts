/** Reads which page of items a client asks for. */
import type { PageRequest } from "../../core/answer-store.ts";
import { invalidRequest } from "../../core/error.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** @throws GatewayError `invalid-request` */
export function readPage(query: URLSearchParams): PageRequest {
  const limit = Number(query.get("limit") ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw invalidRequest(`limit: expected an integer from 1 to ${MAX_LIMIT}.`, "limit", "invalid_value");
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc")
    throw invalidRequest("order: expected `asc` or `desc`.", "order", "invalid_value");
  const after = query.get("after");
  return { limit, order, ...(after !== null && { after }) };
}
