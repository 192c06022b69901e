/** Reads completions, streamed or whole, as canonical events. */
import type { CodecContext } from "../../../core/context.ts";
import { GatewayError } from "../../../core/error.ts";
import { type ChatEvent, type FinishReason, mergeUsage, NO_USAGE, type Usage } from "../../../core/events.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { decodeErrorBody } from "../../../formats/shared/upstream-error.ts";
import { settledUsage } from "../settled.ts";
import { readUsage } from "../usage.ts";
import { errorIn } from "./errors.ts";

/** Begins a streamed answer. */
export function readStream(_context: CodecContext): AnswerReader {
  return new CompletionReader();
}

/** Reads a JSON answer like one chunk. @throws GatewayError if the body is an error, or not an answer of this format */
export function readAnswer(body: JsonObject, _context: CodecContext): ChatEvent[] {
  const reader = new CompletionReader();
  const events = reader.read(body, { data: "" });
  if (!reader.hasChoice)
    throw new GatewayError("upstream", "The provider's answer has no choices.", {
      code: "upstream_invalid_answer",
    });
  return [...events, ...reader.close()];
}

/** Reads the pieces of an answer; a format of another shape overrides `read`. */
export class CompletionReader implements AnswerReader {
  #usage: Usage = NO_USAGE;
  #finish: FinishReason | undefined;
  #isBegun = false;
  #isOpen = false;
  hasChoice = false;

  push(frame: Frame): ChatEvent[] {
    const data = frame.data.trim();
    if (data === "") return [];
    if (data === "[DONE]") return this.end();
    const chunk = parseJson(data);
    if (isObject(chunk)) return this.read(chunk, frame);
    const error = errorIn(frame, chunk);
    if (error !== undefined) throw decodeErrorBody(error);
    throw new GatewayError("upstream", "The provider sent a stream event that is not a JSON object.", {
      code: "upstream_invalid_answer",
    });
  }

  read(chunk: JsonObject, frame: Frame): ChatEvent[] {
    const error = errorIn(frame, chunk);
    if (error !== undefined) throw decodeErrorBody(error);
    const events: ChatEvent[] = [];
    if (!this.#isBegun) {
      this.#isBegun = true;
      events.push({ type: "message-start", id: textIn(chunk.id), model: textIn(chunk.model) });
    }
    const choice = Array.isArray(chunk.choices) ? chunk.choices.find(isFirst) : undefined;
    if (isObject(choice)) events.push(...this.#choice(choice));
    const counts = readUsage(chunk, this.#finish !== undefined);
    if (counts) {
      this.#usage = mergeUsage(this.#usage, counts);
      events.push({ type: "usage", usage: counts });
    }
    return events;
  }

  end(): ChatEvent[] {
    if (!this.#finish) throw incompleteStream();
    return this.close();
  }

  close(): ChatEvent[] {
    const usage = settledUsage(this.#usage);
    const end: ChatEvent = { type: "message-end", reason: this.#finish ?? { kind: "stop" }, usage };
    if (!this.#isOpen) return [end];
    this.#isOpen = false;
    return [{ type: "block-end", index: 0 }, end];
  }

  #choice(choice: JsonObject): ChatEvent[] {
    this.hasChoice = true;
    const events: ChatEvent[] = [];
    const text = textOf(choice);
    if (text !== "" && !this.#isOpen) {
      this.#isOpen = true;
      events.push({ type: "block-start", index: 0, block: { type: "text" } });
    }
    if (text !== "") events.push({ type: "block-delta", index: 0, delta: text });
    const { finish_reason: raw } = choice;
    if (typeof raw === "string" && raw !== "") this.#finish = finishOf(raw);
    return events;
  }
}

const isFirst = (choice: Json) => isObject(choice) && (choice.index === undefined || choice.index === 0);

const textIn = (value: Json | undefined) => (typeof value === "string" ? value : "");

/** `text` of completions, or the content of a chat's message or delta. */
function textOf({ text, message, delta }: JsonObject): string {
  if (typeof text === "string") return text;
  const said = isObject(message) ? message : isObject(delta) ? delta : {};
  return textIn(said.content);
}

/** Unknown words are no complete answer. */
export function finishOf(raw: string): FinishReason {
  const kind =
    raw === "stop" || raw === "eos" || raw === "end_turn"
      ? "stop"
      : raw === "content_filter"
        ? "content-filter"
        : "length";
  return { kind, raw };
}
