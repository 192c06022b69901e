/** Servers of tools in requests (`mcp_servers` and their toolsets), and the blocks of tools that ran. */
import type { HostedAsk, HostedCodec, HostedPast, HostedServer } from "../../../core/format.ts";
import type { HeaderReader } from "../../../core/headers.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { contentText, inputText, readDeclarations } from "../../shared/hosted-past.ts";
import { readAllowed } from "../../shared/hosted-servers.ts";
import { list, text } from "../../shared/read.ts";

export const hosted: HostedCodec = {
  mark: "mcp_servers",
  asked: readServers,
  past: readPast,
  shows: (headers) => (showsLists(headers) ? ["call", "list"] : ["call"]),
  unfinished: "pause",
};

/** The beta of clients that know lists of tools in answers. */
const LISTS = "mcp-client-2026-09-15";

/** Whether the client knows lists of tools in answers. */
export function showsLists(headers: HeaderReader): boolean {
  return headers.get("anthropic-beta")?.includes(LISTS) ?? false;
}

function readServers(body: JsonObject): HostedAsk | undefined {
  const declared = list(body.mcp_servers);
  if (declared.length === 0) return undefined;
  const tools = list(body.tools);
  const sets = tools.flatMap((tool, index) => (isToolset(tool) ? [{ tool, path: `tools[${index}]` }] : []));
  const servers = declared.flatMap((server, index): HostedServer[] => {
    const { name, url, tool_configuration: how } = isObject(server) ? server : {};
    const path = `mcp_servers[${index}]`;
    const at = text(url);
    const common = { label: text(name) ?? "", ...(at !== undefined && { url: at }), asksFirst: () => false };
    // Before there were toolsets, a server offered its tools by itself.
    if (sets.length === 0) return [{ ...common, path, wants: wantedOf(how) }];
    const own = sets.filter(({ tool }) => tool.mcp_server_name === name);
    return own.map((set) => ({ ...common, path, ...ofToolset(set.tool) }));
  });
  const { tools: _, mcp_servers: __, ...rest } = body;
  const others = tools.filter((tool) => !isToolset(tool));
  return { servers, rest: { ...rest, ...(others.length > 0 && { tools: others }) } };
}

function isToolset(tool: Json): tool is JsonObject {
  return isObject(tool) && tool.type === "mcp_toolset";
}

function wantedOf(how: Json | undefined): HostedServer["wants"] {
  if (!isObject(how)) return () => true;
  return how.enabled === false ? () => false : readAllowed(how.allowed_tools);
}

function ofToolset({
  default_config: usual,
  configs,
  tools,
}: JsonObject): Pick<HostedServer, "wants" | "listed"> {
  const isUsual = !isObject(usual) || usual.enabled !== false;
  const enabled = (name: string): boolean | undefined => {
    const one = isObject(configs) ? getOwn(configs, name) : undefined;
    return isObject(one) && typeof one.enabled === "boolean" ? one.enabled : undefined;
  };
  return {
    wants: ({ names }) => names.map(enabled).find((known) => known !== undefined) ?? isUsual,
    ...(Array.isArray(tools) && { listed: readDeclarations(tools) }),
  };
}

function readPast(block: JsonObject): HostedPast | undefined {
  const { type, id, name, server_name: server, input, tool_use_id: call, is_error: failed } = block;
  switch (type) {
    case "mcp_tool_listing":
      return { type: "list", server: String(block.mcp_server_name), tools: readDeclarations(block.tools) };
    case "mcp_tool_use":
      return {
        type: "call",
        id: String(id),
        server: String(server),
        name: String(name),
        input: inputText(input),
      };
    case "mcp_tool_result": {
      const result = { text: contentText(block.content), isError: failed === true };
      return { type: "result", id: String(call), result };
    }
    default:
      return undefined;
  }
}
