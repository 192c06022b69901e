/**
 * Compaction by a provider that has none: the model summarises the conversation, and the answer is one opaque item with the
 * summary. Some clients accept no other answer to such a request.
 */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent, Usage } from "../../../core/events.ts";
import type { AnswerOutcome, AnswerWriter, CompactionCodec, Frame } from "../../../core/format.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { list } from "../../shared/read.ts";
import { answerId, itemId } from "../ids.ts";
import { ResponsesCompaction, ResponsesCountRequest } from "../schema.ts";
import { toJson } from "../../shared/schema.ts";
import { encodeUsage } from "../usage.ts";
import { isForeign, isTrigger, sealSummary } from "../compaction.ts";
import { addFailure, encodeFailure } from "./errors.ts";
import { FrameWriter } from "./frames.ts";
import { decodeRequest } from "./request.ts";
import { ResponseBuilder, type ResponseState } from "./response.ts";

export const compaction: CompactionCodec = {
  path: "/v1/responses/compact",
  below: "/compact",
  mark: "compaction_trigger",
  asks: ({ input }) => list(input).some(isTrigger),
  itemMark: '"compaction"',
  hasForeignItem: ({ input }) => list(input).some(isForeign),
  trigger: {
    decodeRequest: decodeHistory,
    writeStream: (context) => new CompactionWriter(context),
    writeAnswer: (events, context) => {
      const writer = new CompactionWriter(context);
      for (const event of events) writer.push(event);
      return writer.answer();
    },
  },
  route: {
    decodeRequest: decodeRoute,
    writeStream: (context) => new CompactionWriter(context),
    writeAnswer,
  },
  schemas: { request: toJson(ResponsesCountRequest), answer: toJson(ResponsesCompaction) },
};

const PROMPT = `Summarise the conversation so far, so that another model can continue the work from your summary alone, without the conversation.
State: what the user wants, in the user's own words where they matter; decisions and constraints; what has been done and what it showed, with names of files, commands and values; what is unfinished, and the next step.
Write the summary only. Call no tool, and continue no work.`;

/** The request for a summary. Tools stay while the history has calls: some providers refuse calls of undeclared tools. */
function decodeHistory(body: JsonObject, context: CodecContext): ChatRequest {
  const { tools, answerFormat: _, parallelToolCalls: __, ...request } = decodeRequest(body, context);
  const hasCalls = request.turns.some(({ blocks }) =>
    blocks.some(({ type }) => type === "tool-call" || type === "tool-result"),
  );
  return {
    ...request,
    turns: [...request.turns, { role: "user", blocks: [{ type: "text", text: PROMPT }] }],
    tools: hasCalls ? tools : [],
    toolChoice: hasCalls && tools.length > 0 ? { type: "none" } : undefined,
  };
}

function decodeRoute(body: JsonObject, context: CodecContext): ChatRequest {
  const request = decodeHistory(body, context);
  return {
    ...request,
    stream: false,
    style: { ...request.style, kept: list(body.input).filter(isUserMessage) },
  };
}

function isUserMessage(item: Json): item is JsonObject {
  return isObject(item) && item.role === "user";
}

/** The answer of the route: the user's messages as they are, and the item. */
function writeAnswer(events: readonly ChatEvent[], context: CodecContext): JsonObject {
  const summary = new Summary();
  for (const event of events) summary.push(event);
  const id = answerId(context.id);
  const kept = context.request?.style.kept ?? [];
  return {
    id,
    object: "response.compaction",
    created_at: Math.floor(Date.now() / 1000),
    output: [
      ...kept.map((item, position) => keptMessage(item, id, position)),
      summary.item(itemId("compaction", id, "output", kept.length), context),
    ],
    usage: encodeUsage(summary.usage!),
  };
}

function keptMessage(item: JsonObject, answer: string, position: number): JsonObject {
  const { content } = item;
  return {
    id: itemId("message", answer, "output", position),
    status: "completed",
    ...item,
    type: "message",
    content: typeof content === "string" ? [{ type: "input_text", text: content }] : content!,
  };
}

/** The text of an answer. */
class Summary {
  #text = "";
  /** Indexes of blocks with text. */
  readonly #texts = new Set<number>();
  usage: Usage | undefined;

  push(event: ChatEvent): void {
    if (event.type === "block-start" && event.block.type === "text") this.#texts.add(event.index);
    if (event.type === "block-delta" && this.#texts.has(event.index)) this.#text += event.delta;
    if (event.type === "message-end") this.usage = event.usage;
  }

  /** @throws GatewayError `upstream` if the answer is not complete or has no text */
  item(id: string, { model, target }: CodecContext): JsonObject {
    if (!this.usage) throw incompleteStream();
    if (this.#text.trim() === "")
      throw new GatewayError(
        "upstream",
        `The provider ${target.provider} wrote no summary of the conversation.`,
        {
          code: "upstream_failed",
        },
      );
    return { id, type: "compaction", encrypted_content: sealSummary(this.#text.trim(), model) };
  }
}

class CompactionWriter implements AnswerWriter {
  readonly #context: CodecContext;
  readonly #builder: ResponseBuilder;
  readonly #summary = new Summary();
  #response: JsonObject | undefined;
  #sequence = 0;

  constructor(context: CodecContext) {
    this.#context = context;
    this.#builder = new ResponseBuilder(context);
  }

  push(event: ChatEvent): Frame[] {
    this.#summary.push(event);
    if (event.type === "message-start") {
      const response = this.#build({ status: "in_progress", output: [] });
      return [
        this.#frame("response.created", { response }),
        this.#frame("response.in_progress", { response }),
      ];
    }
    if (event.type !== "message-end") return [];
    const item = this.#summary.item(itemId("compaction", this.#builder.id, "output", 0), this.#context);
    this.#response = this.#build({ status: "completed", output: [item], usage: event.usage });
    return ["added", "done"].map((step) =>
      this.#frame(`response.output_item.${step}`, { output_index: 0, item }),
    );
  }

  end({ isStored = true }: AnswerOutcome = {}): Frame[] {
    const answer = this.answer();
    const response = { ...answer, store: answer.store === true && isStored };
    return [this.#frame("response.completed", { response })];
  }

  answer(): JsonObject {
    if (!this.#response) throw incompleteStream();
    return this.#response;
  }

  fail(error: GatewayError): Frame[] {
    const response = this.#build({ status: "failed", output: [], error: encodeFailure(error) }, false);
    const frames = new FrameWriter(this.#sequence);
    addFailure(frames, error, response);
    return frames.take();
  }

  #build(state: Omit<ResponseState, "store">, store = this.#context.storesAnswer === true): JsonObject {
    return this.#builder.build({ ...state, store });
  }

  #frame(type: string, members: JsonObject): Frame {
    return { event: type, data: JSON.stringify({ type, sequence_number: this.#sequence++, ...members }) };
  }
}
