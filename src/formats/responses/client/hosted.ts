/** Servers of tools in requests, and the items of tools that ran. */
import type { HostedCodec, HostedPast } from "../../../core/format.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { contentText, inputText, readDeclarations } from "../../shared/hosted-past.ts";
import { MARK, readServers } from "../../shared/hosted-servers.ts";

export const hosted: HostedCodec = {
  mark: MARK,
  asked(body) {
    const asked = readServers(body, true);
    const { max_tool_calls: most } = body;
    return asked && typeof most === "number" ? { ...asked, most } : asked;
  },
  past: readPast,
  shows: () => ["call", "approval", "list"],
  unfinished: "length",
};

function readPast(item: JsonObject): HostedPast | undefined {
  const { type, id, server_label: label, name, arguments: input } = item;
  const call = { id: String(id), server: String(label), name: String(name), input: inputText(input) };
  switch (type) {
    case "mcp_list_tools":
      return item.error == null
        ? { type: "list", server: call.server, tools: readDeclarations(item.tools) }
        : undefined;
    case "mcp_call": {
      const { approval_request_id: approval } = item;
      const from = typeof approval === "string" ? { approval } : {};
      return { type: "call", ...call, ...from, result: readResult(item) };
    }
    case "mcp_approval_request":
      return { type: "request", ...call };
    case "mcp_approval_response": {
      const { approval_request_id: request, approve, reason } = item;
      const why = typeof reason === "string" && reason !== "" ? { reason } : {};
      return { type: "consent", id: String(request), isAllowed: approve === true, ...why };
    }
    default:
      return undefined;
  }
}

function readResult({ output, error }: JsonObject) {
  if (error == null) return { text: typeof output === "string" ? output : "", isError: false };
  const text = isObject(error) ? contentText(error.content) || JSON.stringify(error) : String(error);
  return { text, isError: true };
}
