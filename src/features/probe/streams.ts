/** Whether a stream of responses or messages is one that the SDKs of the format can read. */
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import { parseFrames } from "../../stream/sse.ts";

interface Grammar {
  /** Types of the first event, and of the last one. */
  first: string;
  last: readonly string[];
  /** Members that events need, by the beginning of their type; the longest that fits counts. */
  needs: Readonly<Record<string, readonly string[]>>;
}

/** https://platform.openai.com/docs/api-reference/responses-streaming, https://docs.anthropic.com/en/api/messages-streaming */
const GRAMMARS: Readonly<Record<"/responses" | "/messages", Grammar>> = {
  "/responses": {
    first: "response.created",
    last: ["response.completed", "response.incomplete"],
    needs: {
      "response.created": ["response"],
      "response.completed": ["response"],
      "response.incomplete": ["response"],
      "response.output_item.": ["output_index", "item"],
      "response.content_part.": ["output_index", "content_index", "item_id", "part"],
      "response.output_text.": ["output_index", "content_index", "item_id"],
      "response.function_call_arguments.": ["output_index", "item_id"],
    },
  },
  "/messages": {
    first: "message_start",
    last: ["message_stop"],
    needs: {
      message_start: ["message"],
      content_block_start: ["index", "content_block"],
      content_block_delta: ["index", "delta"],
      content_block_stop: ["index"],
      message_delta: ["delta", "usage"],
    },
  },
};

/** @returns what is wrong with the text of an event stream, as a clause; undefined if it is right */
export function streamFault(path: keyof typeof GRAMMARS, text: string): string | undefined {
  const { first, last, needs } = GRAMMARS[path];
  const events = parseFrames(Buffer.from(`${text}\n\n`))
    .map(({ data }) => parseJson(data))
    .filter(isObject);
  if (events.length === 0) return "it has no events";
  if (events[0]!["type"] !== first) return `its first event is no ${first}`;
  for (const event of events) {
    const lacking = neededBy(event, needs).find((member) => event[member] === undefined);
    if (lacking !== undefined) return `${String(event["type"])} has no ${lacking}`;
  }
  const end = String(events.at(-1)!["type"]);
  if (!last.includes(end)) return `it ends without ${last.join(" or ")}`;
  // A model may reach the output limit while it reasons, which OpenAI shows in no event.
  return events.some(hasText) || end === "response.incomplete" ? undefined : "no event has text";
}

function neededBy({ type }: JsonObject, needs: Grammar["needs"]): readonly string[] {
  const found = Object.entries(needs).filter(([begin]) => String(type).startsWith(begin));
  return found.sort(([one], [other]) => other.length - one.length)[0]?.[1] ?? [];
}

/** Text, reasoning or the arguments of a call. */
function hasText({ type, delta }: JsonObject): boolean {
  return /delta$/.test(String(type)) && (typeof delta === "string" || isObject(delta));
}
