/** Answers that are no results, and what answers mean for the books. */
import type { Outcome, Piece } from "../asks.ts";
import { type Answered, CODE, McpError, type RequestId } from "../wire/messages.ts";
import { JSON_HEADERS } from "./modern-client.ts";

/** An error as the whole answer to a legacy client. @param id of its request, if it is one */
export function refused(id: RequestId | undefined, error: McpError): Piece {
  const body = JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: error.rpc });
  return { status: error.status, headers: JSON_HEADERS, body, outcome: { kind: "error", code: error.code } };
}

/** A session that is unknown, has ended or is of another caller. */
export function sessionGone(what = "Session not found"): McpError {
  return new McpError(-32001, what, { status: 404 });
}

export function internal(): McpError {
  return new McpError(CODE.internal, "Internal error; the log of weir says why");
}

export function outcomeOf(answered: Answered): Outcome {
  if ("error" in answered) return { kind: "error", code: answered.error.code };
  const { resultType, isError } = answered.result;
  if (resultType === "input_required") return { kind: "input" };
  return { kind: isError === true ? "tool_error" : "result" };
}

/** Errors that a modern server answers with a status of their own (revision 2026-07-28, Streamable HTTP). */
export function statusOf(code: number, status: number): number {
  if (status !== 200) return status;
  if (code === CODE.method) return 404;
  return code === CODE.headerMismatch || code === CODE.capability || code === CODE.version ? 400 : 200;
}
