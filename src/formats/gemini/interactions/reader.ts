/** Reads interactions, streamed or whole, as canonical events. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent, FinishReason, Usage } from "../../../core/events.ts";
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import { GatewayError } from "../../../core/error.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { list, malformed, text } from "../../shared/read.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { SIGNER } from "../own-fields.ts";
import { FILTERED, INTERACTIONS } from "./own-fields.ts";
import { decodeUsage } from "./usage.ts";

export function readStream(context: CodecContext): AnswerReader {
  return new InteractionReader(context);
}

/** @throws GatewayError if the body is an error, or an interaction that has not ended */
export function readAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  if (body.error != null) throw decodeErrorBody(body);
  const reader = new InteractionReader(context);
  const steps = list(body.steps).filter(isObject);
  return [
    ...reader.created(body),
    ...steps.flatMap((step, index) => [...reader.start(index, step), ...reader.stop(index)]),
    ...reader.ended(body),
  ];
}

/** The finish reason of a status. @throws GatewayError for an interaction without an answer */
export function finishOf({ status, errors }: JsonObject): FinishReason {
  const raw = String(status);
  const filtered = list(errors).find((error) => isObject(error) && error.code === FILTERED);
  if (isObject(filtered))
    return {
      ...{ kind: "content-filter", raw },
      ...(typeof filtered.message === "string" && { explanation: filtered.message }),
    };
  switch (raw) {
    case "completed":
      return { kind: "stop", raw };
    case "requires_action":
      return { kind: "tool-calls", raw };
    case "incomplete":
    case "budget_exceeded":
      return { kind: "length", raw };
    case "requires_continuation":
      return { kind: "pause", raw };
    default:
      throw new GatewayError("upstream", `The provider ended the interaction as ${raw.slice(0, 40)}.`, {
        code: "upstream_failed",
      });
  }
}

class InteractionReader implements AnswerReader {
  readonly #context: CodecContext;
  /** By the index of their step. */
  readonly #open = new Map<number, { type: string; signature?: string }>();
  #usage: Usage = NO_USAGE;
  #isBegun = false;

  constructor(context: CodecContext) {
    this.#context = context;
  }

  push({ data }: Frame): ChatEvent[] {
    if (data === "" || data === "[DONE]") return [];
    const event = parseJson(data);
    if (!isObject(event)) throw malformed("an event that is not a JSON object");
    const { index, delta, interaction, step } = event;
    switch (event.event_type) {
      case "interaction.created":
        return this.created(isObject(interaction) ? interaction : {});
      case "step.start":
        return this.start(Number(index), isObject(step) ? step : {});
      case "step.delta":
        return this.#delta(Number(index), isObject(delta) ? delta : {});
      case "step.stop":
        return this.stop(Number(index));
      case "interaction.completed":
        return this.ended(isObject(interaction) ? interaction : {});
      case "error":
        throw decodeErrorBody(event);
      default:
        return [];
    }
  }

  end(): ChatEvent[] {
    throw incompleteStream();
  }

  created({ id }: JsonObject): ChatEvent[] {
    if (this.#isBegun) return [];
    this.#isBegun = true;
    return [{ type: "message-start", id: text(id) ?? "", model: this.#context.model }];
  }

  start(index: number, step: JsonObject): ChatEvent[] {
    const type = String(step.type);
    this.#open.set(index, { type, ...(typeof step.signature === "string" && { signature: step.signature }) });
    switch (type) {
      case "model_output":
        return [
          { type: "block-start", index, block: { type: "text" } },
          ...pieces(index, list(step.content)),
        ];
      case "thought":
        return [
          { type: "block-start", index, block: { type: "reasoning", origin: SIGNER } },
          ...pieces(index, list(step.summary)),
        ];
      case "function_call": {
        const { id, name, arguments: input } = step;
        const isWhole = isObject(input) && Object.keys(input).length > 0;
        return [
          {
            type: "block-start",
            index,
            block: { type: "tool-call", id: String(id), name: String(name), kind: "function" },
          },
          ...(isWhole ? [{ type: "block-delta", index, delta: JSON.stringify(input) } as const] : []),
        ];
      }
      default:
        return [
          { type: "block-start", index, block: { type: "foreign", format: INTERACTIONS, value: step } },
        ];
    }
  }

  #delta(index: number, delta: JsonObject): ChatEvent[] {
    const open = this.#open.get(index);
    if (!open) return [];
    if (delta.type === "thought_signature") open.signature = String(delta.signature);
    if (delta.type === "text" || delta.type === "thought_summary")
      return pieces(index, [delta.content ?? delta]);
    if (delta.type !== "arguments_delta" || typeof delta.arguments !== "string") return [];
    return [{ type: "block-delta", index, delta: delta.arguments }];
  }

  stop(index: number): ChatEvent[] {
    const open = this.#open.get(index);
    if (!open) return [];
    this.#open.delete(index);
    const { signature } = open;
    return [{ type: "block-end", index, ...(signature !== undefined && { signature }) }];
  }

  ended(interaction: JsonObject): ChatEvent[] {
    const usage = decodeUsage(interaction.usage, interaction.service_tier);
    if (usage) this.#usage = mergeUsage(this.#usage, usage);
    const reason = finishOf(interaction);
    return [
      ...this.created(interaction),
      ...[...this.#open.keys()].flatMap((index) => this.stop(index)),
      { type: "message-end", reason, usage: this.#usage },
    ];
  }
}

function pieces(index: number, contents: readonly Json[]): ChatEvent[] {
  return contents.flatMap((content) =>
    isObject(content) && typeof content.text === "string" && content.text !== ""
      ? [{ type: "block-delta" as const, index, delta: content.text }]
      : [],
  );
}
