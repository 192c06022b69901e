/**
 * Validates a parsed request. A compiled validator decides whether it is valid; only an invalid request is walked, to name
 * the first fault in the wording of Anthropic (`messages.0.role: …`).
 */
import type { GatewayError } from "../../../core/error.ts";
import { invalidRequest } from "../../../core/error.ts";
import { limitText } from "../../../core/printable.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";
import { MessagesRequest } from "../schema.ts";
import { requestValidatorCode } from "../schema.ts" with { type: "macro" };

/** The names of all members. */
export const REQUEST = new Vocabulary(MessagesRequest);

/** Whether messages after the first may have `role: "system"`. */
export type SystemTurns = "accept" | "reject";

/** Returns what is wrong with a value; `undefined` if it is valid. */
type Rule = (value: Json) => string | undefined;

/** Maximum length of a path in an error message. */
const PATH_BYTES = 256;

const isValid = new Function(requestValidatorCode())() as (body: Json) => boolean;

const SYSTEM_PLACE = "the system prompt belongs in the top-level `system` field, not in a message";

/** @throws GatewayError `invalid-request` with the path of the first fault. */
export function checkRequest(body: Json, systemTurns: SystemTurns): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const misspelling = REQUEST.findMisspelled(body);
  if (misspelling)
    throw fault(
      limitText(misspelling.path.join("."), PATH_BYTES),
      `Extra inputs are not permitted; did you mean \`${misspelling.known}\`? Names are case-sensitive.`,
      "unknown_parameter",
    );
  if (!isValid(body)) throw firstFault(body);
  const misplaced = misplacedSystemTurn(body.messages as Json[], systemTurns);
  if (misplaced >= 0) throw fault(`messages.${misplaced}.role`, SYSTEM_PLACE);
}

/** Returns the index of the first system turn that is not allowed, or -1. */
function misplacedSystemTurn(messages: Json[], systemTurns: SystemTurns): number {
  const isSystem = (message: Json | undefined) => isObject(message) && message.role === "system";
  if (systemTurns === "reject") return messages.findIndex(isSystem);
  return isSystem(messages[0]) ? 0 : -1;
}

const isText: Rule = (value) => (typeof value === "string" ? undefined : "Input should be a valid string");
const isDictionary: Rule = (value) => (isObject(value) ? undefined : "Input should be an object");
const isList: Rule = (value) => (Array.isArray(value) ? undefined : "Input should be a valid array");

function isNumber(minimum: number, maximum: number): Rule {
  return (value) => {
    if (typeof value !== "number" || !Number.isFinite(value)) return "Input should be a valid number";
    if (value < minimum) return `Input should be greater than or equal to ${minimum}`;
    return value > maximum ? `Input should be less than or equal to ${maximum}` : undefined;
  };
}

function isInteger(minimum: number): Rule {
  return (value) => {
    if (typeof value !== "number" || !Number.isInteger(value)) return "Input should be a valid integer";
    return value < minimum ? `Input should be greater than or equal to ${minimum}` : undefined;
  };
}

/** Rules of the optional fields with a single value. */
const RULES: Record<string, Rule> = {
  stream: (value) => (typeof value === "boolean" ? undefined : "Input should be a valid boolean"),
  temperature: isNumber(0, 2),
  top_p: isNumber(0, 1),
  top_k: isInteger(0),
  output_config: isDictionary,
  metadata: isDictionary,
  service_tier: isText,
};

function firstFault(body: JsonObject): GatewayError {
  const found =
    requiredFault(body) ??
    messagesFault(body.messages as Json[]) ??
    contentFault("system", body.system ?? null, true) ??
    ruleFault(body) ??
    itemsFault("stop_sequences", body.stop_sequences ?? null, isText) ??
    itemsFault("tools", body.tools ?? null, isDictionary) ??
    typedFault("tool_choice", body.tool_choice ?? null) ??
    typedFault("thinking", body.thinking ?? null) ??
    typedFault("cache_control", body.cache_control ?? null);
  return found ?? invalidRequest("The request body is not a Messages request.");
}

function requiredFault({ model, messages, max_tokens }: JsonObject): GatewayError | undefined {
  if (model == null) return missing("model");
  if (typeof model !== "string") return fault("model", "Input should be a valid string");
  if (model === "") return fault("model", "String should have at least 1 character");
  if (messages == null) return missing("messages");
  if (!Array.isArray(messages)) return fault("messages", "Input should be a valid array");
  if (messages.length === 0) return fault("messages", "at least one message is required");
  if (max_tokens == null) return missing("max_tokens");
  const sentence = isInteger(1)(max_tokens);
  return sentence === undefined ? undefined : fault("max_tokens", sentence);
}

function messagesFault(messages: Json[]): GatewayError | undefined {
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    if (!isObject(message)) return fault(path, "Input should be an object");
    const { role, content } = message;
    if (role == null) return missing(`${path}.role`);
    if (role !== "user" && role !== "assistant" && role !== "system")
      return fault(`${path}.role`, "Input should be 'user' or 'assistant'");
    const found = contentFault(`${path}.content`, content ?? null, role === "system");
    if (found) return found;
  }
  return undefined;
}

function contentFault(path: string, content: Json, optional: boolean): GatewayError | undefined {
  if (content === null) return optional ? undefined : missing(path);
  if (typeof content === "string") return undefined;
  if (!Array.isArray(content)) return fault(path, "Input should be a valid string or a list of blocks");
  for (const [index, block] of content.entries()) {
    if (block === null) return fault(`${path}.${index}`, "Input should be an object");
    const found = typedFault(`${path}.${index}`, block);
    if (found) return found;
  }
  return undefined;
}

function ruleFault(body: JsonObject): GatewayError | undefined {
  for (const [field, rule] of Object.entries(RULES)) {
    const value = body[field];
    const sentence = value == null ? undefined : rule(value);
    if (sentence !== undefined) return fault(field, sentence);
  }
  return undefined;
}

function itemsFault(path: string, value: Json, rule: Rule): GatewayError | undefined {
  if (value === null) return undefined;
  const sentence = isList(value);
  if (sentence !== undefined) return fault(path, sentence);
  for (const [index, item] of (value as Json[]).entries()) {
    const itemSentence = rule(item);
    if (itemSentence !== undefined) return fault(`${path}.${index}`, itemSentence);
  }
  return undefined;
}

function typedFault(path: string, value: Json): GatewayError | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return fault(path, "Input should be an object");
  if (value.type == null) return missing(`${path}.type`);
  return typeof value.type === "string" ? undefined : fault(`${path}.type`, "Input should be a valid string");
}

/** Code of a fault besides `missing_required_parameter`, which {@link missing} has. */
type Code = "invalid_value" | "unknown_parameter";

/**
 * The error for a wrong member, in the wording of Anthropic.
 * @param path in the notation of losses (`messages[0].content`); Anthropic's errors write it with dots
 */
export function fault(path: string, sentence: string, code: Code = "invalid_value"): GatewayError {
  return at(path, sentence, code);
}

/** The error for an absent member. */
export function missing(path: string): GatewayError {
  return at(path, "Field required", "missing_required_parameter");
}

function at(path: string, sentence: string, code: string): GatewayError {
  const dotted = path.replace(/\[(\d+)\]/g, ".$1");
  return invalidRequest(`${dotted}: ${sentence}`, dotted, code);
}
