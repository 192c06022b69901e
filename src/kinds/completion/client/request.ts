/** Decodes requests for text completions. */
import type { ChatRequest, FieldPaths, Turn } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { invalidRequest } from "../../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { FIM, FORMAT, OWN_FIELDS } from "../own-fields.ts";

/** Members of the canonical request; all others go into `extra` and reach providers of the format unchanged. */
const CANONICAL: ReadonlySet<string> = new Set([
  ...["model", "prompt", "suffix", "max_tokens", "temperature", "top_p", "stop", "stream", "stream_options"],
  ...["user", "metadata", "prompt_cache_key"],
]);

const PATHS: FieldPaths = {
  turns: "prompt",
  maxTokens: "max_tokens",
  temperature: "temperature",
  topP: "top_p",
  stop: "stop",
  user: "user",
};

/** @throws GatewayError for prompts that only a provider of the same format can take */
export function decodeRequest(body: JsonObject, context: CodecContext): ChatRequest {
  const options = body.stream_options;
  const includeUsage = isObject(options) && options.include_usage === true;
  return { ...canonical(body, FORMAT, context), style: { includeUsage } };
}

export function decodeFimRequest(body: JsonObject, context: CodecContext): ChatRequest {
  // Mistral ends every stream with its counts.
  return { ...canonical(body, FIM, context), style: { includeUsage: true } };
}

function canonical(body: JsonObject, format: string, { target }: CodecContext): Omit<ChatRequest, "style"> {
  const { completionPrompt } = target.traits;
  const { suffix, max_tokens: maxTokens, temperature, top_p: topP, user } = body;
  const text = promptOf(body.prompt);
  const extra = Object.entries(body).filter(([name, value]) => !CANONICAL.has(name) && value !== null);
  return {
    model: body.model as string,
    turns: [
      // For models for conversations; others get the prompt alone.
      ...(completionPrompt === undefined ? [] : [systemTurn(completionPrompt)]),
      { role: "user", blocks: [{ type: "text", text, path: "prompt" }], path: "prompt" },
    ],
    completion: { prompt: text, ...(typeof suffix === "string" && { suffix }) },
    tools: [],
    stop: typeof body.stop === "string" ? [body.stop] : ((body.stop ?? []) as string[]),
    stream: body.stream === true,
    ...(typeof maxTokens === "number" && { maxTokens }),
    ...(typeof temperature === "number" && { temperature }),
    ...(typeof topP === "number" && { topP }),
    ...(typeof user === "string" && { user }),
    extra: { [format]: Object.fromEntries(extra) },
    ownFields: { [format]: OWN_FIELDS },
    paths: PATHS,
  };
}

function systemTurn(text: string): Turn {
  return { role: "system", blocks: [{ type: "text", text }] };
}

function promptOf(prompt: Json | undefined): string {
  if (typeof prompt === "string") return prompt;
  const [only] = Array.isArray(prompt) ? prompt : [];
  if (Array.isArray(prompt) && prompt.length === 1 && typeof only === "string") return only;
  const what =
    prompt == null
      ? "An empty beginning"
      : Array.isArray(prompt) && typeof only === "string"
        ? "Several prompts"
        : "Token ids";
  throw invalidRequest(
    `${what} can be completed only by a provider that speaks the format ${FORMAT}; send one text, or choose another model.`,
    "prompt",
    "unsupported_value",
  );
}
