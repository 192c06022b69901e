/**
 * Encodes canonical events as deltas of a stream. A JSON answer is assembled from the same deltas, so that its content
 * does not depend on whether the client streams.
 */
import type { CodecContext } from "../../../core/context.ts";
import type {
  BlockStart,
  ChatEvent,
  Citation,
  FinishReason,
  HostedResult,
  HostedStart,
} from "../../../core/events.ts";
import { AnswerIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { type Media, writeDataUri } from "../../../core/media.ts";
import { reportHosted } from "../../shared/hosted.ts";
import { ToolInputStream } from "../../shared/tool-input.ts";
import { WrappedInput } from "../../shared/wrapped-input.ts";
import { encodeFinishReason, refusalOf } from "../finish.ts";
import { encryptedDetail, GOOGLE, signatureMember, textDetail } from "../reasoning.ts";

/** Members of a choice besides its index and message. */
export interface ChoiceEnd {
  finish_reason: string;
  /** vLLM's member for the stop sequence that matched. */
  stop_reason?: string;
}

interface OpenBlock {
  delta?(text: string): JsonObject[];
  cite?(citation: Citation): void;
  end?(signature: string | undefined, result?: HostedResult): JsonObject[];
}

/** In front of the ids of calls that have run. */
const HOSTED_CALL = "call_w1_";

/** A block that this format cannot express, for example of a server tool. */
const IGNORED: OpenBlock = {};

export class DeltaWriter {
  readonly #context: CodecContext;
  readonly #ids: AnswerIds;
  readonly #order = new CallOrder();
  readonly #open = new Map<number, OpenBlock>();
  readonly #legacy: boolean;
  readonly #hidden: boolean;
  #toolCalls = 0;
  #hostedCalls = 0;
  #reasonings = 0;
  /** Google's signature of the next block. */
  #signature: string | undefined;
  #images = 0;
  #refused = false;
  /** Names of calls whose arguments are not JSON. */
  readonly brokenCalls: string[] = [];
  /** Characters of content written so far, in UTF-16 units. */
  #written = 0;

  constructor(context: CodecContext) {
    this.#context = context;
    this.#ids = new AnswerIds(context.id);
    this.#legacy = context.request?.style.legacyFunctions === true;
    this.#hidden = context.request?.style.hideReasoning === true;
  }

  /** Returns the deltas for an event. `message-end` has one if only the finish reason reports a refusal. */
  write(event: ChatEvent): JsonObject[] {
    const ordered = this.#order.push(event);
    return ordered.length === 1 ? this.#write(ordered[0]!) : ordered.flatMap((each) => this.#write(each));
  }

  #write(event: ChatEvent): JsonObject[] {
    switch (event.type) {
      case "message-start":
        return [{ role: "assistant", content: "" }];
      case "block-start":
        return this.#start(event.index, event.block);
      case "block-delta":
        return event.delta === "" ? [] : (this.#open.get(event.index)?.delta?.(event.delta) ?? []);
      case "citation":
        this.#open.get(event.index)?.cite?.(event.citation);
        return [];
      case "block-end": {
        const deltas = this.#open.get(event.index)?.end?.(event.signature, event.result) ?? [];
        this.#open.delete(event.index);
        return deltas;
      }
      case "message-end":
        return this.#refusal(event.reason);
      case "usage":
      case "block-run":
        return [];
    }
  }

  #refusal(reason: FinishReason): JsonObject[] {
    const refusal = this.#refused ? undefined : refusalOf(reason);
    return refusal === undefined ? [] : [{ refusal }];
  }

  end(reason: FinishReason): ChoiceEnd {
    return {
      finish_reason: encodeFinishReason(reason, this.#toolCalls, this.#legacy),
      ...(reason.kind === "stop-sequence" &&
        reason.stopSequence !== undefined && { stop_reason: reason.stopSequence }),
    };
  }

  #start(index: number, block: BlockStart): JsonObject[] {
    const signature = this.#signature;
    this.#signature = undefined;
    switch (block.type) {
      case "text":
        this.#open.set(index, this.#text(block.apart === true));
        return [];
      case "refusal":
        this.#refused = true;
        this.#open.set(index, { delta: (text) => [{ refusal: text }] });
        return [];
      case "reasoning":
        return this.#reasoning(index, block);
      case "tool-call":
        return this.#legacy
          ? this.#functionCall(index, block.name)
          : this.#toolCall(index, block, signature === undefined ? {} : signatureMember(signature));
      case "image":
        return [{ images: [encodeImage(block, this.#images++)] }];
      case "hosted-tool":
        if (block.kind === "call" && this.#context.request?.style.showHosted)
          return this.#hostedCall(index, block);
        reportHosted(block, this.#context);
        this.#open.set(index, IGNORED);
        return [];
      case "foreign":
        this.#open.set(index, IGNORED);
        return [];
    }
  }

  /** @param isApart a blank line separates it from earlier text */
  #text(isApart: boolean): OpenBlock {
    let separator = isApart && this.#written > 0 ? "\n\n" : "";
    const start = this.#written + separator.length;
    const citations: Citation[] = [];
    return {
      delta: (text) => {
        const content = separator + text;
        separator = "";
        this.#written += content.length;
        return [{ content }];
      },
      cite: (citation) => void citations.push(citation),
      end: () =>
        citations.length === 0
          ? []
          : [{ annotations: citations.map((citation) => annotation(citation, start, this.#written)) }],
    };
  }

  #reasoning(index: number, block: Extract<BlockStart, { type: "reasoning" }>): JsonObject[] {
    const { origin, redacted } = block;
    const keep = (signature: string | undefined) => {
      if (origin === GOOGLE) this.#signature = signature;
    };
    if (this.#hidden) {
      this.#open.set(index, {
        end(signature) {
          keep(signature);
          return [];
        },
      });
      return [];
    }
    const run = this.#reasonings++;
    this.#open.set(index, {
      delta: (text) => [{ reasoning_content: text, reasoning_details: [textDetail({ text }, origin, run)] }],
      end(signature) {
        keep(signature);
        return signature === undefined
          ? []
          : [{ reasoning_details: [textDetail({ signature }, origin, run)] }];
      },
    });
    return redacted === undefined ? [] : [{ reasoning_details: [encryptedDetail(redacted, origin, run)] }];
  }

  /**
   * `index` counts calls, not blocks; later deltas contain only the index and arguments.
   * @param signed the member with Google's signature, which is on the call as at Google's compatible endpoint
   */
  #toolCall(
    blockIndex: number,
    block: Extract<BlockStart, { type: "tool-call" }>,
    signed: JsonObject,
  ): JsonObject[] {
    const index = this.#toolCalls++ + this.#hostedCalls;
    const id = this.#ids.take(block.id);
    const wrapped = block.kind === "function" && this.#isCustomTool(block.name);
    if (wrapped || block.kind === "custom") {
      const write = (input: string) => (input === "" ? [] : [{ tool_calls: [{ index, custom: { input } }] }]);
      this.#open.set(blockIndex, wrapped ? unwrapInput(write) : { delta: write });
      return [
        { tool_calls: [{ index, id, type: "custom", custom: { name: block.name, input: "" }, ...signed }] },
      ];
    }
    const write = (text: string) => [{ tool_calls: [{ index, function: { arguments: text } }] }];
    this.#open.set(blockIndex, this.#arguments(block.name, `tool_calls[${index}].function`, write));
    const named = { name: block.name, arguments: "" };
    return [{ tool_calls: [{ index, id, type: "function", function: named, ...signed }] }];
  }

  /** A call that has run, with its result in a member of weir's own. It is none for the client to run. */
  #hostedCall(blockIndex: number, { id: bare, server, name }: HostedStart): JsonObject[] {
    const index = this.#toolCalls + this.#hostedCalls++;
    const id = `${HOSTED_CALL}${bare}`;
    this.#open.set(blockIndex, {
      delta: (text) => [{ tool_calls: [{ index, function: { arguments: text } }] }],
      end(_, result = { output: "" }) {
        const isError = "error" in result;
        const content = isError ? result.error : "output" in result ? result.output : "";
        return [{ weir_tool_results: [{ tool_call_id: id, content, is_error: isError }] }];
      },
    });
    const named = { name: `${server}__${name}`, arguments: "" };
    return [{ tool_calls: [{ index, id, type: "function", function: named }] }];
  }

  #isCustomTool(name: string): boolean {
    return this.#context.request?.tools.some((tool) => tool.kind === "custom" && tool.name === name) === true;
  }

  /** The legacy `function_call` holds one call; weir drops any other. */
  #functionCall(blockIndex: number, name: string): JsonObject[] {
    if (this.#toolCalls++ > 0) {
      this.#context.reportLoss(
        "dropped",
        "functions",
        "a legacy answer (function_call) can contain only one call",
      );
      this.#open.set(blockIndex, IGNORED);
      return [];
    }
    const write = (text: string) => [{ function_call: { arguments: text } }];
    this.#open.set(blockIndex, this.#arguments(name, "function_call", write));
    return [{ function_call: { name, arguments: "" } }];
  }

  /** Writes one JSON object; `{}` for empty arguments, because clients call JSON.parse on them. */
  #arguments(name: string, path: string, write: (text: string) => JsonObject[]): OpenBlock {
    const input = new ToolInputStream();
    let empty = true;
    const writeNonEmpty = (text: string) => {
      if (text === "") return [];
      empty = false;
      return write(text);
    };
    return {
      delta: (text) => writeNonEmpty(input.push(text)),
      end: () => {
        const { rest, repair, broken } = input.end();
        if (repair !== undefined)
          this.#context.reportLoss("repaired", `choices[0].message.${path}.arguments`, repair);
        if (broken) this.brokenCalls.push(name);
        const deltas = writeNonEmpty(rest);
        return empty ? write("{}") : deltas;
      },
    };
  }
}

/** The format has no images in answers; this is OpenRouter's member, which LiteLLM and the AI SDK read too. */
function encodeImage(image: Media, index: number): JsonObject {
  return { type: "image_url", index, image_url: { url: writeDataUri(image) } };
}

function unwrapInput(write: (text: string) => JsonObject[]): OpenBlock {
  const input = new WrappedInput();
  return { delta: (text) => write(input.push(text)), end: () => write(input.end()) };
}

/** `start` and `end` are the range of the cited text in the whole content, in UTF-16 units. */
function annotation({ url, title }: Citation, start: number, end: number): JsonObject {
  return {
    type: "url_citation",
    url_citation: { start_index: start, end_index: end, title: title ?? "", url },
  };
}

/**
 * Writes one call at a time. Calls may overlap in the canonical events, but the SDK takes the first fragment of the next
 * call as the end of the one before, and parses its arguments then (`openai` 7.55, strict tools).
 */
class CallOrder {
  /** Block index of the call that is being written. */
  #current: number | undefined;
  /** Buffered events of the other calls, in the order of their start. */
  readonly #waiting = new Map<number, ChatEvent[]>();

  /** Returns the events to write now. */
  push(event: ChatEvent): ChatEvent[] {
    const index = "index" in event ? event.index : undefined;
    if (index === undefined) return [event];
    if (this.#current === undefined) return this.#pass(event, index);
    if (this.#current === index) return event.type === "block-end" ? this.#next(event) : [event];
    const waiting = this.#waiting.get(index);
    if (waiting) waiting.push(event);
    else this.#waiting.set(index, [event]);
    return [];
  }

  #pass(event: ChatEvent, index: number): ChatEvent[] {
    if (event.type === "block-start" && event.block.type === "tool-call") this.#current = index;
    return [event];
  }

  /** Ends the current call and releases the buffered calls up to the first that has not ended. */
  #next(end: ChatEvent): ChatEvent[] {
    const events = [end];
    this.#current = undefined;
    for (const [index, waiting] of this.#waiting) {
      this.#waiting.delete(index);
      events.push(...waiting);
      if (waiting.at(-1)?.type === "block-end") continue;
      this.#current = index;
      break;
    }
    return events;
  }
}
