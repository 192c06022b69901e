/**
 * Streams of chat-completions count tokens only when `stream_options.include_usage` asks for it. The answer is one more
 * chunk behind the last choice, with `usage` and an empty list of choices
 * (https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options).
 */
import type { Frame, UsageRequest } from "../../../core/format.ts";
import type { Json } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";

export const usageRequest: UsageRequest = {
  member: "stream_options",
  ask(given: Json | undefined): Json | undefined {
    const options = isObject(given) ? given : {};
    return options.include_usage === true ? undefined : { ...options, include_usage: true };
  },
  isAnswer(frame: Frame): boolean {
    const chunk = parseJson(frame.data);
    return (
      isObject(chunk) && isObject(chunk.usage) && Array.isArray(chunk.choices) && chunk.choices.length === 0
    );
  },
};
