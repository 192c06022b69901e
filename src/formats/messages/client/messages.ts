/** Decodes the system prompt and the messages into canonical turns. */
import type { Block, Turn } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { text } from "../../shared/read.ts";
import type { ReportLoss } from "./content.ts";
import { FORMAT } from "../own-fields.ts";
import { decodeBlock, decodeContent } from "./content.ts";
import { isToolChange } from "./tools.ts";

/** Decodes the system prompt into the first turn; no turn if it is empty. */
export function decodeSystem(system: Json | undefined, reportLoss: ReportLoss): Turn[] {
  const blocks = markBilling(decodeContent(system, "system", reportLoss));
  return blocks.length === 0 ? [] : [{ role: "system", blocks, path: "system" }];
}

/** Decodes the messages of a request. */
export function decodeMessages(messages: readonly Json[], reportLoss: ReportLoss): Turn[] {
  return messages.map((message, index) => decodeTurn(message, index, messages, reportLoss));
}

function decodeTurn(message: Json, index: number, messages: readonly Json[], reportLoss: ReportLoss): Turn {
  const { role, content, output_config, clear_at } = message as JsonObject;
  const path = `messages[${index}]`;
  const contentPath = `${path}.content`;
  if (role === "assistant" || role === "user")
    return { role, blocks: decodeContent(content, contentPath, reportLoss), path };
  const effort = isObject(output_config) ? text(output_config.effort) : undefined;
  return {
    role: "system",
    blocks:
      clear_at === "next_user_message" && isCleared(index, messages)
        ? []
        : markBilling(decodeSystemTurn(content, contentPath, reportLoss)),
    path,
    ...(effort !== undefined && { effort }),
  };
}

/** Decodes a system turn without its tool changes, which `decodeTools` applies. */
function decodeSystemTurn(content: Json | undefined, path: string, reportLoss: ReportLoss): Block[] {
  if (!Array.isArray(content)) return decodeContent(content, path, reportLoss);
  return content.flatMap((block, index) =>
    isToolChange(block) ? [] : [decodeBlock(block, `${path}[${index}]`, reportLoss)],
  );
}

/** Claude Code puts this line into the system prompt for billing; only Anthropic removes it. */
const BILLING_HEADER = "x-anthropic-billing-header:";

function markBilling(blocks: readonly Block[]): Block[] {
  return blocks.map((block) =>
    block.type === "text" && block.text.startsWith(BILLING_HEADER) ? { ...block, onlyFor: FORMAT } : block,
  );
}

/** Whether a later user message contains more than tool results. */
function isCleared(index: number, messages: readonly Json[]): boolean {
  return messages.slice(index + 1).some((message) => {
    if (!isObject(message) || message.role !== "user") return false;
    if (!Array.isArray(message.content)) return true;
    return message.content.some((block) => !isObject(block) || block.type !== "tool_result");
  });
}
