/** Where the texts of requests for completions and of their answers are. */
import type { BrokenStream } from "../../../core/format.ts";
import type { Frame } from "../../../core/frame.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import {
  each,
  ID,
  type Level,
  NAME,
  NUMBER,
  TEXT,
  textPlaces,
  WORD,
} from "../../../formats/shared/text-places.ts";

const REQUEST: Level = {
  members: {
    ...each(ID, "model prompt_cache_key"),
    ...each(TEXT, "prompt suffix"),
    ...each(NAME, "stop user metadata"),
    ...each(NUMBER, "max_tokens min_tokens temperature top_p n best_of seed random_seed logprobs"),
    ...each(NUMBER, "frequency_penalty presence_penalty logit_bias"),
    ...each(WORD, "stream stream_options echo"),
  },
};

const SAID: Level = { members: { ...each(WORD, "role"), content: { piece: "text" }, tool_calls: WORD } };

const ANSWER: Level = {
  members: {
    ...each(ID, "id model system_fingerprint"),
    ...each(WORD, "object service_tier"),
    ...each(NUMBER, "created usage"),
    choices: {
      says: (read) => ({ channel: String(Number(read("index") ?? 0)) }),
      members: {
        index: NUMBER,
        finish_reason: WORD,
        text: { piece: "text" },
        logprobs: { kind: "logprobs" },
        message: SAID,
        delta: SAID,
      },
    },
  },
};

function stopped(_reason: string, { last }: BrokenStream): Frame[] {
  const chunk = last && parseJson(last.data);
  const { choices, usage: _, ...head } = isObject(chunk) ? chunk : { object: "text_completion" };
  const begun = Array.isArray(choices) ? choices.filter(isObject) : [];
  const isChat = begun.some(({ delta }) => delta !== undefined);
  const ended = (begun.length > 0 ? begun : [{}]).map((choice: JsonObject) => ({
    index: choice.index ?? 0,
    ...(isChat ? { delta: {} } : { text: "" }),
    finish_reason: "content_filter",
  }));
  return [{ data: JSON.stringify({ ...head, choices: ended }) }, { data: "[DONE]" }];
}

function closed({ choices }: JsonObject): string[] {
  const all = Array.isArray(choices) ? choices.filter(isObject) : [];
  return all.flatMap(({ finish_reason: finish, index }) => (finish ? [`${Number(index ?? 0)}/`] : []));
}

export const places = textPlaces({ request: REQUEST, answer: ANSWER, stopped, closed, independent: true });
