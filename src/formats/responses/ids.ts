/**
 * Ids of answers and items that weir makes. They derive from the id of the call, so that the stream, the JSON answer and the
 * stored answer have the same. OpenAI's ids continue with hexadecimal digits, so that `w` shows whose an id is.
 */
import { sha256 } from "../../core/ids.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** Follows the prefix in the ids of items that weir makes. */
export const OWN_MARK = "_w1_";

/** Prefixes of item ids, by type of the item. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  image_generation_call: "ig",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  local_shell_call: "lsh",
  local_shell_call_output: "lsho",
  shell_call: "sh",
  shell_call_output: "sho",
  apply_patch_call: "apc",
  apply_patch_call_output: "apco",
  tool_search_call: "tsc",
  tool_search_output: "tso",
  compaction: "cmp",
};

/** The id of an answer: `resp_w1` and 40 characters. @param callId the call's id, unique across all calls */
export function answerId(callId: string): string {
  return `resp_w1${base32(callId, 40)}`;
}

/** Whether weir made the id of an answer. */
export function isOwnAnswerId(id: string): boolean {
  return /^resp_w1[a-z2-7]{40}$/.test(id);
}

/** The id of a conversation that weir keeps: `conv_w1` and 40 characters. @param callId id of the call that makes it */
export function conversationId(callId: string): string {
  return `conv_w1${base32(callId, 40)}`;
}

/** Whether weir made the id of a conversation. */
export function isOwnConversationId(id: string): boolean {
  return /^conv_w1[a-z2-7]{40}$/.test(id);
}

/**
 * The id of an item: prefix of its type, `_w1` and 24 characters.
 * @param side `input` for items of the request @param position of the item on its side
 */
export function itemId(type: string, answer: string, side: "input" | "output", position: number): string {
  return `${PREFIXES[type] ?? "item"}_w1${base32(`${answer}:${side}:${position}`, 24)}`;
}

/** Lower-case letters and digits of the SHA-256 of a text; at most 51. */
function base32(text: string, length: number): string {
  let rest = BigInt(`0x${sha256(text)}`);
  let written = "";
  while (written.length < length) {
    written += ALPHABET[Number(rest % 32n)]!;
    rest /= 32n;
  }
  return written;
}
