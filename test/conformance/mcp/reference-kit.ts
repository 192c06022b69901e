/** What the tools of the reference server are made of. */
import {
  type CallToolResult,
  type ClientCapabilities,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type JsonSchemaType,
  type ServerContext,
} from "@modelcontextprotocol/server";

export const IMAGE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
export const AUDIO = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

type Reply = CallToolResult | InputRequiredResult;
export type Properties = Record<string, JsonSchemaType>;

/** What a tool may know and do beside its own call. */
export interface Stage {
  /** What the client of the request can do. */
  readonly client: ClientCapabilities;
  readonly isModern: boolean;
  /** Tells every client that a list has changed. */
  changed(list: "tools" | "prompts"): void;
}

export interface ReferenceTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchemaType;
  run(args: Record<string, unknown>, ctx: ServerContext, stage: Stage): Reply | Promise<Reply>;
}

export const text = (words: string) => ({ type: "text" as const, text: words });
export const image = { type: "image" as const, data: IMAGE, mimeType: "image/png" };
export const embedded = (uri: string, words: string, mimeType = "text/plain") => ({
  type: "resource" as const,
  resource: { uri, mimeType, text: words },
});

export const say = (words: string): CallToolResult => ({ content: [text(words)] });

export const takes = (properties: Properties = {}, required: string[] = []): JsonSchemaType => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
});

export function tool(
  name: string,
  description: string,
  run: ReferenceTool["run"],
  schema: JsonSchemaType = takes(),
): ReferenceTool {
  return { name, description, run, schema };
}

/** A question to the user. */
export function form(message: string, properties: Properties, required: string[] = []): InputRequest {
  const requestedSchema = { type: "object", properties, required };
  return inputRequired.elicit({ message, requestedSchema } as Parameters<typeof inputRequired.elicit>[0]);
}

/** A question to the client's model. */
export function prompt(words: string): InputRequest {
  return inputRequired.createMessage({
    messages: [{ role: "user", content: text(words) }],
    maxTokens: 100,
  });
}

export function ask(requests: Record<string, InputRequest>, requestState?: string): InputRequiredResult {
  return inputRequired({ inputRequests: requests, ...(requestState !== undefined && { requestState }) });
}

/** The text of the client's model, if it answered. */
export function sampledIn(ctx: ServerContext, key: string): string | undefined {
  const view = inputResponse(ctx.mcpReq.inputResponses, key);
  if (view.kind !== "sampling") return undefined;
  const first = [view.result.content].flat()[0];
  return first?.type === "text" ? first.text : "no text";
}
