/** Writes canonical events as an interaction, streamed or whole. */
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart, ChatEvent, FinishKind } from "../../../core/events.ts";
import type { AnswerWriter, Frame } from "../../../core/format.ts";
import { AnswerIds } from "../../../core/ids.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import type { JsonObject } from "../../../core/json.ts";
import { reportHosted } from "../../shared/hosted.ts";
import { checkCalls, readToolInput } from "../../shared/tool-input.ts";
import { encodeSignature } from "../reasoning.ts";
import { FILTERED } from "./own-fields.ts";
import { encodeUsage } from "./usage.ts";

const STATUS: Readonly<Record<FinishKind, string>> = {
  ...{ stop: "completed", "stop-sequence": "completed", pause: "completed" },
  ...{ "tool-calls": "requires_action", length: "incomplete", "content-filter": "incomplete" },
};

/** The id of an interaction that weir has made. */
export function ownId(context: Pick<CodecContext, "id">): string {
  return OWN + context.id;
}

const OWN = "weir-";

export const isOwnId = (id: string): boolean => id.startsWith(OWN);

export function writeStream(context: CodecContext): AnswerWriter {
  return new InteractionWriter(context);
}

/** @throws GatewayError if `message-end` is missing */
export function writeAnswer(events: readonly ChatEvent[], context: CodecContext): JsonObject {
  const writer = new InteractionWriter(context);
  for (const event of events) writer.push(event);
  writer.end();
  return writer.answer();
}

interface Open {
  index: number;
  step: JsonObject;
  start: BlockStart;
  pieces: string[];
}

class InteractionWriter implements AnswerWriter {
  readonly #context: CodecContext;
  readonly #ids: AnswerIds;
  readonly #steps: JsonObject[] = [];
  readonly #open = new Map<number, Open>();
  readonly #broken: string[] = [];
  readonly #created = new Date().toISOString();
  #end: (ChatEvent & { type: "message-end" }) | undefined;

  constructor(context: CodecContext) {
    this.#context = context;
    this.#ids = new AnswerIds(context.id);
  }

  push(event: ChatEvent): Frame[] {
    switch (event.type) {
      case "message-start":
        return [frame("interaction.created", { interaction: this.#head("in_progress") })];
      case "block-start":
        return this.#begin(event.index, event.block);
      case "block-delta":
        return this.#grow(event.index, event.delta);
      case "block-end":
        return this.#close(event.index, event.signature);
      case "message-end":
        checkCalls(this.#broken, event.reason);
        this.#end = event;
        return [frame("interaction.completed", { interaction: this.answer() })];
      default:
        return [];
    }
  }

  end(): Frame[] {
    if (!this.#end) throw incompleteStream();
    return [{ event: "done", data: "[DONE]" }];
  }

  answer(): JsonObject {
    const { reason, usage } = this.#end!;
    const message = reason.explanation ?? "A filter has ended the answer.";
    return {
      ...this.#head(STATUS[reason.kind]),
      ...{ steps: this.#steps, usage: encodeUsage(usage) },
      ...(reason.kind === "content-filter" && { errors: [{ code: FILTERED, message }] }),
    };
  }

  #head(status: string): JsonObject {
    return {
      ...{ id: ownId(this.#context), object: "interaction", model: this.#context.model, status },
      ...{ created: this.#created, updated: new Date().toISOString() },
    };
  }

  #begin(at: number, start: BlockStart): Frame[] {
    const step = this.#stepOf(start);
    if (!step) return [];
    const index = this.#steps.push(step) - 1;
    this.#open.set(at, { index, step, start, pieces: [] });
    return [frame("step.start", { index, step: begun(step) })];
  }

  #stepOf(start: BlockStart): JsonObject | undefined {
    switch (start.type) {
      case "text":
      case "refusal":
        return { type: "model_output", content: [{ type: "text", text: "" }] };
      case "image":
        return {
          type: "model_output",
          content: [{ type: "image", data: start.data, mime_type: start.mediaType }],
        };
      case "reasoning":
        return { type: "thought" };
      case "tool-call":
        return { type: "function_call", id: this.#ids.take(start.id), name: start.name, arguments: {} };
      case "hosted-tool":
        reportHosted(start, this.#context);
        return undefined;
      default:
        return undefined;
    }
  }

  #grow(at: number, piece: string): Frame[] {
    const open = this.#open.get(at);
    if (!open || piece === "") return [];
    open.pieces.push(piece);
    switch (open.start.type) {
      case "text":
      case "refusal":
        return [delta(open, { type: "text", text: piece })];
      case "reasoning":
        if (this.#hidesReasoning) return [];
        return [delta(open, { type: "thought_summary", content: { type: "text", text: piece } })];
      case "tool-call":
        // The whole of them may have to be repaired.
        return [];
      default:
        return [];
    }
  }

  get #hidesReasoning(): boolean {
    return this.#context.request?.style.hideReasoning === true;
  }

  #close(at: number, signature: string | undefined): Frame[] {
    const open = this.#open.get(at);
    if (!open) return [];
    this.#open.delete(at);
    const frames = this.#complete(open, open.pieces.join(""), signature);
    return [...frames, frame("step.stop", { index: open.index })];
  }

  #complete(open: Open, all: string, signature: string | undefined): Frame[] {
    const { step, start } = open;
    switch (start.type) {
      case "text":
      case "refusal":
        step.content = [{ type: "text", text: all }];
        return [];
      case "reasoning": {
        const { redacted, origin = this.#context.target.provider } = start;
        const signed = encodeSignature(all, signature, redacted, origin);
        if (all !== "" && !this.#hidesReasoning) step.summary = [{ type: "text", text: all }];
        if (signed === undefined) return [];
        step.signature = signed;
        return [delta(open, { type: "thought_signature", signature: signed })];
      }
      case "tool-call": {
        const { value, repair, broken } =
          start.kind === "custom" ? { value: { input: all }, broken: false } : readToolInput(all);
        if (broken) this.#broken.push(start.name);
        else if (repair !== undefined)
          this.#context.reportLoss("repaired", `function_call ${start.name}`, repair);
        step.arguments = value;
        return [delta(open, { type: "arguments_delta", arguments: JSON.stringify(value) })];
      }
      default:
        return [];
    }
  }
}

/** The step as it is before its deltas: those of a text bring its content. */
function begun(step: JsonObject): JsonObject {
  const [content] = (step.content as JsonObject[] | undefined) ?? [];
  return content?.type === "text" ? { type: step.type! } : { ...step };
}

function delta({ index }: Open, delta: JsonObject): Frame {
  return frame("step.delta", { index, delta });
}

function frame(event: string, members: JsonObject): Frame {
  return { event, data: JSON.stringify({ event_type: event, ...members }) };
}
