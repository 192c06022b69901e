/** The formats that weir has. */
import type { Config } from "../config/schema.ts";
import type { Format } from "../core/format.ts";
import { chatCompletionsFormat } from "../formats/chat-completions/index.ts";
import { completionsFormat, fimFormat, infillFormat } from "../kinds/completion/index.ts";
import { converseFormat } from "../formats/converse/index.ts";
import { geminiFormat } from "../formats/gemini/index.ts";
import { interactionsFormat } from "../formats/gemini/interactions/index.ts";
import { createMessagesFormat } from "../formats/messages/index.ts";
import { ollamaFormat, ollamaGenerateFormat } from "../formats/ollama/index.ts";
import { responsesFormat } from "../formats/responses/index.ts";

/** The built-in formats. */
export function builtInFormats({ systemTurns }: Config["messages"]): Format[] {
  const messages = createMessagesFormat({ systemTurns });
  return [
    chatCompletionsFormat,
    messages,
    responsesFormat,
    converseFormat,
    geminiFormat,
    interactionsFormat,
    ollamaFormat,
    ollamaGenerateFormat,
    completionsFormat,
    fimFormat,
    infillFormat,
  ];
}
