/** Ollama's own API, `POST /api/chat`: a format of the plugin, whose streams are JSON lines. */
import type {
  AnswerReader,
  Block,
  ChatEvent,
  ChatRequest,
  CodecContext,
  JsonObject,
  UpstreamCodec,
} from "weir";
import { definePlugin, GatewayError, invalidRequest, isObject, jsonLines, NO_USAGE, parseJson } from "weir";

function encodeRequest(request: ChatRequest, context: CodecContext): JsonObject {
  const { temperature, topP, topK, maxTokens, stop, tools, stream } = request;
  const options: JsonObject = {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...(maxTokens !== undefined && { num_predict: maxTokens }),
    ...(stop.length > 0 && { stop }),
  };
  if (request.toolChoice && request.toolChoice.type !== "auto") context.reportLoss("dropped", "tool_choice");
  return {
    model: context.target.model,
    messages: request.turns.map(({ role, blocks }) => ({ role, content: textOf(blocks) })),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters },
      })),
    }),
    options,
    stream,
  };
}

function textOf(blocks: readonly Block[]): string {
  return blocks
    .map((block) => {
      if (block.type === "text") return block.text;
      throw invalidRequest(`This provider takes only text, not ${block.type}.`, "messages");
    })
    .join("");
}

/** The events of an answer, from its records: one of a JSON answer, several of a stream. */
class Reader {
  readonly #context: CodecContext;
  #blocks = 0;
  #isTextOpen = false;
  #calls = 0;

  constructor(context: CodecContext) {
    this.#context = context;
  }

  begin(): ChatEvent[] {
    const { id, target } = this.#context;
    return [{ type: "message-start", id, model: target.model }];
  }

  read(record: JsonObject): ChatEvent[] {
    const { error, message, done } = record;
    if (error !== undefined) throw new GatewayError("upstream", `The provider failed: ${String(error)}`);
    const said = isObject(message) ? message : {};
    const events = typeof said.content === "string" && said.content !== "" ? this.#text(said.content) : [];
    for (const call of Array.isArray(said.tool_calls) ? said.tool_calls : [])
      events.push(...this.#call(call));
    return done === true ? [...events, ...this.#end(record)] : events;
  }

  #text(delta: string): ChatEvent[] {
    const opening: ChatEvent[] = this.#isTextOpen
      ? []
      : [{ type: "block-start", index: this.#blocks++, block: { type: "text" } }];
    this.#isTextOpen = true;
    return [...opening, { type: "block-delta", index: this.#blocks - 1, delta }];
  }

  #call(call: unknown): ChatEvent[] {
    const wanted = isObject(call) && isObject(call["function"]) ? call["function"] : {};
    const closing = this.#close();
    const index = this.#blocks++;
    const id = `call_${this.#context.id}_${++this.#calls}`;
    return [
      ...closing,
      {
        type: "block-start",
        index,
        block: { type: "tool-call", id, name: String(wanted.name), kind: "function" },
      },
      { type: "block-delta", index, delta: JSON.stringify(wanted.arguments ?? {}) },
      { type: "block-end", index },
    ];
  }

  #close(): ChatEvent[] {
    if (!this.#isTextOpen) return [];
    this.#isTextOpen = false;
    return [{ type: "block-end", index: this.#blocks - 1 }];
  }

  #end({ done_reason: raw, prompt_eval_count: input, eval_count: output }: JsonObject): ChatEvent[] {
    const kind = this.#calls > 0 ? "tool-calls" : raw === "length" ? "length" : "stop";
    const usage = { ...NO_USAGE, input: Number(input ?? 0), output: Number(output ?? 0) };
    return [...this.#close(), { type: "message-end", reason: { kind, raw: String(raw) }, usage }];
  }
}

function readAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  const reader = new Reader(context);
  return [...reader.begin(), ...reader.read(body)];
}

function readStream(context: CodecContext): AnswerReader {
  const reader = new Reader(context);
  let isFirst = true;
  return {
    push({ data }) {
      const record = parseJson(data);
      if (!isObject(record))
        throw new GatewayError("upstream", "The provider sent a line that is no JSON object.");
      const events = [...(isFirst ? reader.begin() : []), ...reader.read(record)];
      isFirst = false;
      return events;
    },
    end() {
      throw new GatewayError("upstream", "The provider's stream ended before it was complete.", {
        code: "stream_incomplete",
      });
    },
  };
}

const upstream: UpstreamCodec = {
  address: { requestHeaders: [], answerHeaders: [] },
  codec: {
    encodeRequest,
    readAnswer,
    readStream,
    decodeError(status, _headers, text) {
      const body = parseJson(text);
      const said = isObject(body) && typeof body.error === "string" ? body.error : `status ${status}`;
      return new GatewayError(
        status === 404 ? "not-found" : status < 500 ? "invalid-request" : "upstream",
        said,
      );
    },
  },
  native: { watch: { marks: [], frame() {}, answer() {} } },
};

export default definePlugin({
  name: "ndjson",
  formats: [{ id: "ollama", upstream }],
  providers: [
    {
      name: "ndjson",
      speaks: { ollama: "/api/chat" },
      framing: { ollama: jsonLines },
      host: { variable: "NDJSON_HOST", port: 11434, path: "" },
    },
  ],
});
