/** Builds the response object of JSON answers and of the events that carry it. */
import type { CodecContext } from "../../../core/context.ts";
import type { Usage } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { answerId } from "../ids.ts";
import { encodeUsage } from "../usage.ts";

/** Members of the request that the answer repeats in the client's words, with what stands for an absent one. */
const DEFAULTS: JsonObject = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: null,
  safety_identifier: null,
  temperature: null,
  text: null,
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: "disabled",
  user: null,
};

export const ECHOED: readonly string[] = Object.keys(DEFAULTS);

/** The events with which every stream begins; both have the same response object. */
export const BEGINNING: readonly string[] = ["response.created", "response.in_progress"];

/** Differences between the response objects of one answer. */
export interface ResponseState {
  status: "in_progress" | "completed" | "incomplete" | "failed";
  output: readonly JsonObject[];
  /** weir stores the answer. */
  store: boolean;
  incomplete?: string;
  error?: JsonObject;
  /** Absent while the answer is being generated. */
  usage?: Usage;
}

/** The member that names the conversation of an answer. @param id null: the conversation could not be extended */
export function memberOf(id: string | null | undefined): JsonObject {
  return id === undefined ? {} : { conversation: id === null ? null : { id } };
}

/** Builds the response objects of one answer: they have the same id and the same time. */
export class ResponseBuilder {
  readonly id: string;
  readonly #created = seconds();
  /** The stored answer and the last event of the stream have the same time. */
  #completed: number | undefined;
  readonly #model: string;
  readonly #echo: JsonObject;

  readonly #context: Pick<CodecContext, "conversation">;

  constructor(context: Pick<CodecContext, "id" | "model" | "request" | "conversation">) {
    this.id = answerId(context.id);
    this.#model = context.model;
    this.#echo = echo(context.request?.style.echo ?? {});
    this.#context = context;
  }

  /** The object of an answer that begins. @param store weir stores the answer */
  begun(store: boolean): JsonObject {
    return this.build({ status: "in_progress", output: [], store });
  }

  /** The object of an answer that failed. @param output what has come of it */
  failed(error: JsonObject, output: readonly JsonObject[], usage?: Usage): JsonObject {
    return this.build({ status: "failed", error, output, store: false, usage });
  }

  /** Clients with strict types fail if one of these members is missing. */
  build({ status, output, store, incomplete, error, usage }: ResponseState): JsonObject {
    return {
      id: this.id,
      object: "response",
      created_at: this.#created,
      status,
      background: false,
      completed_at: status === "completed" ? (this.#completed ??= seconds()) : null,
      error: error ?? null,
      incomplete_details: incomplete === undefined ? null : { reason: incomplete },
      model: this.#model,
      output: [...output],
      ...this.#echo,
      ...memberOf(this.#context.conversation),
      service_tier: usage?.tier ?? "default",
      store,
      usage: usage === undefined ? null : encodeUsage(usage),
    };
  }
}

/** The members with defaults inside are objects also if the client leaves members of them out. */
function echo(given: JsonObject): JsonObject {
  const { reasoning, text } = given;
  const format = isObject(text) && isObject(text.format) ? text.format : { type: "text" };
  return {
    ...DEFAULTS,
    ...given,
    reasoning: { effort: null, summary: null, ...(isObject(reasoning) && reasoning) },
    text: { ...(isObject(text) && text), format },
  };
}

/** Seconds since 1970. */
function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
