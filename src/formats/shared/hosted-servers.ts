/** Servers of tools as a member of `tools`: `{type: "mcp"}`. Responses has it, and clients of chat-completions write the same. */
import type { HostedAsk, HostedChoice, HostedServer, HostedTool } from "../../core/format.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { list, text } from "./read.ts";

/** Text that occurs in every request with such a member. */
export const MARK = "mcp";

/** @param asksUnlessTold whether the client of a request that does not say so wants to allow each call */
export function readServers(body: JsonObject, asksUnlessTold: boolean): HostedAsk | undefined {
  const all = list(body.tools);
  const servers = all.flatMap((tool, index) =>
    isServer(tool) ? [readServer(tool, `tools[${index}]`, asksUnlessTold)] : [],
  );
  if (servers.length === 0) return undefined;
  const others = all.filter((tool) => !isServer(tool));
  const { tools: _, ...rest } = body;
  return { servers, ...withoutChoice({ ...rest, ...(others.length > 0 && { tools: others }) }) };
}

function isServer(tool: Json): tool is JsonObject {
  return isObject(tool) && tool.type === "mcp";
}

function readServer(tool: JsonObject, path: string, asksUnlessTold: boolean): HostedServer {
  const url = text(tool.server_url);
  return {
    path,
    label: text(tool.server_label) ?? "",
    ...(url !== undefined && { url }),
    wants: readAllowed(tool.allowed_tools),
    asksFirst: readApproval(tool.require_approval, asksUnlessTold),
  };
}

/** A list of names, or a filter. A server says itself whether a tool only reads, so this can only narrow. */
export function readAllowed(allowed: Json | undefined): HostedServer["wants"] {
  if (Array.isArray(allowed)) return (tool) => isNamed(allowed, tool);
  if (!isObject(allowed)) return () => true;
  const { tool_names: names, read_only: readOnly } = allowed;
  return (tool) =>
    (!Array.isArray(names) || isNamed(names, tool)) &&
    (typeof readOnly !== "boolean" || tool.isReadOnly === readOnly);
}

/** A call needs no consent only if the client names its tool: what a server says of its tools is no permission. */
function readApproval(approval: Json | undefined, asksUnlessTold: boolean): HostedServer["asksFirst"] {
  if (approval == null) return () => asksUnlessTold;
  if (approval === "never") return () => false;
  if (!isObject(approval)) return () => true;
  const asked = namesIn(approval.always);
  const free = namesIn(approval.never);
  return (tool) => isNamed(asked, tool) || !isNamed(free, tool);
}

function namesIn(filter: Json | undefined): readonly Json[] {
  return isObject(filter) ? list(filter.tool_names) : [];
}

function isNamed(names: readonly Json[], tool: HostedTool): boolean {
  return tool.names.some((name) => names.includes(name));
}

function withoutChoice(body: JsonObject): Pick<HostedAsk, "choice" | "rest"> {
  const { tool_choice: choice, ...rest } = body;
  const demanded = readChoice(choice);
  if (demanded) return { rest, choice: { required: true, tools: [demanded] } };
  if (!isObject(choice) || choice.type !== "allowed_tools") return { rest: body };
  const inner = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  const tools = list(inner.tools).flatMap((tool) => readChoice(tool) ?? []);
  if (tools.length === 0) return { rest: body };
  return { rest: body, choice: { required: inner.mode === "required", tools } };
}

function readChoice(choice: Json | undefined): HostedChoice | undefined {
  if (!isObject(choice) || choice.type !== "mcp") return undefined;
  const name = text(choice.name);
  return { server: text(choice.server_label) ?? "", ...(name !== undefined && { name }) };
}
