/** The tools of a caller, for those who run them: the loop of models, commands. */
import type { JsonObject } from "../../core/json.ts";
import type { Call } from "../../core/call.ts";
import type { Principal } from "../../core/principal.ts";

/** A tool as a caller sees it. */
export interface OfferedTool {
  /** `SERVER__TOOL`, at most 64 characters. */
  readonly name: string;
  readonly server: string;
  /** Its name at the server. */
  readonly tool: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
}

export interface OfferedTools {
  readonly tools: readonly OfferedTool[];
  /** Servers whose tools are missing, and why. */
  readonly unavailable: readonly { readonly server: string; readonly reason: string }[];
}

/** The result of a tool (`CallToolResult`): `content`, `structuredContent`, `isError`. */
export type ToolResult = JsonObject;

export interface ToolCall {
  /** {@link OfferedTool.name}. */
  readonly name: string;
  readonly arguments: JsonObject;
  /** Who pays. */
  readonly principal: Principal | undefined;
  /** The call of the model that wants it; it stops with that. */
  readonly parent?: Call;
  readonly stop?: AbortSignal;
}

export interface Bench {
  /** The tools that a caller may use. @param servers only of these; default: all that it may use */
  list(principal: Principal | undefined, servers?: readonly string[]): Promise<OfferedTools>;
  /**
   * Runs a tool as a call of its own in the books.
   * @throws GatewayError if a budget or limit refuses it; McpError 1002 to 1005 or -32602 where there is no result
   */
  call(call: ToolCall): Promise<ToolResult>;
}
