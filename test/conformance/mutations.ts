/**
 * Faults to plant in the codecs, one at a time, as data: a name, the replay that has to see it, and an edit of what a method
 * of a codec takes or gives. The edits work on values and not on source text, so that they outlive a refactoring.
 */
import {
  answerHeadersOf,
  callsOf,
  decoded,
  events,
  failures,
  frames,
  listOf,
  objectOf,
  providerOf,
  requestHeadersOf,
  resultsOf,
  swap,
  turnsOf,
  written,
  type Plant,
  type PlantedApi,
} from "./plant.ts";

export interface Mutation {
  name: string;
  /** `request`: a recorded request goes across; `answer`: a recorded answer comes across; and the two others. */
  lane: "native" | "request" | "answer" | "session";
  /** Of the recordings it is looked for in. */
  api: PlantedApi;
  /** The other side, for lanes of the formats of Google and Amazon: the client of an answer, the upstream of a request. */
  other?: PlantedApi;
  /** What a recorded request (or answer, in the lane `answer`) has to hold for the fault to show. */
  about: RegExp;
  /** Of the recordings, when only one vendor's show it. */
  vendor?: string;
  plant: Plant;
}

type Row = Omit<Mutation, "lane" | "api" | "other">;

export const rows = (
  lane: Mutation["lane"],
  api: PlantedApi,
  list: readonly Row[],
  other?: PlantedApi,
): Mutation[] => list.map((row) => ({ lane, api, ...(other && { other }), ...row }));

const TINY = "iVBORw0KGgo=";

/** Requests of chat clients, as they are written for Anthropic. */
const TO_MESSAGES = rows("request", "chat", [
  {
    name: "tool schemas are emptied",
    about: /"properties"/,
    plant: written("messages", (body) =>
      listOf(body["tools"]).forEach((tool) => (tool["input_schema"] = { type: "object" })),
    ),
  },
  {
    name: "tool descriptions are dropped",
    about: /"tools":.*"description"/,
    plant: written("messages", (body) => listOf(body["tools"]).forEach((tool) => delete tool["description"])),
  },
  {
    name: "results of parallel calls are swapped",
    about: /"tool_call_id".*"tool_call_id"/,
    plant: written("messages", (body) => swap(resultsOf(body), "content")),
  },
  {
    name: "image bytes are replaced",
    about: /data:image/,
    plant: written("messages", (body) =>
      turnsOf(body).forEach(({ source, type }) => {
        if (type === "image" && objectOf(source)["data"]) objectOf(source)["data"] = TINY;
      }),
    ),
  },
  {
    name: "document bytes are replaced",
    about: /"file_data":"data:/,
    plant: written("messages", (body) =>
      turnsOf(body).forEach(({ source, type }) => {
        if (type === "document" && objectOf(source)["data"]) objectOf(source)["data"] = "JVBERi0=";
      }),
    ),
  },
  {
    name: "top_p is dropped",
    about: /"top_p":0/,
    plant: written("messages", (body) => delete body["top_p"]),
  },
  {
    name: "temperature is halved",
    about: /"temperature":0\.\d/,
    plant: written("messages", (body) => {
      if (typeof body["temperature"] === "number") body["temperature"] /= 2;
    }),
  },
  {
    name: "stop sequences are dropped",
    about: /"stop":(\[?")/,
    plant: written("messages", (body) => delete body["stop_sequences"]),
  },
  {
    name: "the output limit is halved",
    about: /"max_(completion_)?tokens":\d/,
    plant: written("messages", (body) => (body["max_tokens"] = Math.ceil(Number(body["max_tokens"]) / 2))),
  },
  {
    name: "the system prompt is said by the user",
    about: /"role":"system"/,
    plant: written("messages", (body) => {
      const [first] = listOf(body["messages"]);
      if (body["system"] && first) (first["content"] as unknown[]).unshift(...(body["system"] as unknown[]));
      delete body["system"];
    }),
  },
  {
    name: "the effort is dropped",
    about: /"reasoning_effort":"(low|medium|high)"/,
    plant: written("messages", (body) => {
      delete body["thinking"];
      delete objectOf(body["output_config"])["effort"];
    }),
  },
  {
    name: "parallel-off is dropped",
    about: /"parallel_tool_calls":false/,
    plant: written(
      "messages",
      ({ tool_choice: choice }) => delete objectOf(choice)["disable_parallel_tool_use"],
    ),
  },
  {
    name: "tool_choice none is dropped",
    about: /"tool_choice":"none"/,
    plant: written("messages", (body) => {
      if (objectOf(body["tool_choice"])["type"] === "none") delete body["tool_choice"];
    }),
  },
  {
    name: "tool_choice required becomes auto",
    about: /"tool_choice":"required"/,
    plant: written("messages", ({ tool_choice: choice }) => {
      if (objectOf(choice)["type"] === "any") objectOf(choice)["type"] = "auto";
    }),
  },
  {
    name: "a named tool_choice becomes any",
    about: /"tool_choice":\{/,
    plant: written("messages", (body) => {
      if (objectOf(body["tool_choice"])["type"] === "tool") body["tool_choice"] = { type: "any" };
    }),
  },
  {
    name: "the answer schema is emptied",
    about: /"json_schema"/,
    plant: written("messages", (body) => {
      const format = objectOf(objectOf(body["output_config"])["format"]);
      if (format["schema"]) format["schema"] = { type: "object", additionalProperties: false };
    }),
  },
  {
    name: "the user id is dropped",
    about: /"user":"\w/,
    plant: written("messages", (body) => delete body["metadata"]),
  },
  {
    name: "the user id is constant",
    about: /"user":"\w/,
    plant: written("messages", ({ metadata }) => {
      if (objectOf(metadata)["user_id"]) objectOf(metadata)["user_id"] = "somebody";
    }),
  },
  {
    name: "arguments of calls are emptied",
    about: /"arguments":"\{\\"/,
    plant: written("messages", (body) => callsOf(body).forEach((call) => (call["input"] = {}))),
  },
  {
    name: "ids of calls are renamed",
    about: /"tool_call_id"/,
    plant: written("messages", (body) => {
      for (const call of callsOf(body)) call["id"] = `x${String(call["id"])}`;
      for (const result of resultsOf(body)) result["tool_use_id"] = `x${String(result["tool_use_id"])}`;
    }),
  },
  {
    name: "a failed tool is invented",
    about: /"tool_call_id"/,
    plant: written("messages", (body) => resultsOf(body).forEach((result) => (result["is_error"] = true))),
  },
  {
    name: "texts are cut",
    about: /"role":"user"/,
    plant: written("messages", (body) =>
      turnsOf(body).forEach((block) => {
        if (typeof block["text"] === "string") block["text"] = `${block["text"].slice(0, 3)}…`;
      }),
    ),
  },
  {
    name: "user texts are doubled",
    about: /"role":"user"/,
    plant: written("messages", (body) => {
      const last = listOf(body["messages"]).findLast(({ role }) => role === "user");
      (last?.["content"] as unknown[] | undefined)?.push({ type: "text", text: "And be quick about it." });
    }),
  },
  {
    name: "the wish to stream is dropped",
    about: /"stream":true/,
    plant: written("messages", (body) => delete body["stream"]),
  },
  {
    name: "a member the vendor refuses is written",
    about: /"role":"user"/,
    plant: written("messages", (body) => (body["seed"] = 7)),
  },
  {
    name: "the version header is missing",
    about: /"role":"user"/,
    plant: providerOf("anthropic", (provider) => (provider.headers = {})),
  },
]);

/** Requests of messages clients, as they are written for chat providers. */
const TO_CHAT = rows("request", "messages", [
  {
    name: "tool schemas are emptied",
    about: /"properties"/,
    plant: written("chat", (body) =>
      listOf(body["tools"]).forEach((tool) => (objectOf(tool["function"])["parameters"] = {})),
    ),
  },
  {
    name: "results of parallel calls are swapped",
    about: /"type":"tool_result".*"type":"tool_result"/,
    plant: written("chat", (body) =>
      swap(
        listOf(body["messages"]).filter(({ role }) => role === "tool"),
        "content",
      ),
    ),
  },
  {
    name: "is_error is dropped",
    about: /"is_error":true/,
    plant: decoded("messages", ({ turns }) =>
      turns.forEach(({ blocks }) =>
        blocks.forEach((block) => {
          if (block.type === "tool-result") delete block.error;
        }),
      ),
    ),
  },
  {
    name: "image bytes are replaced",
    about: /"type":"image","source":\{[^}]*base64|"media_type":"image/,
    plant: written("chat", (body) =>
      turnsOf(body).forEach(({ image_url: image }) => {
        if (objectOf(image)["url"]) objectOf(image)["url"] = `data:image/png;base64,${TINY}`;
      }),
    ),
  },
  {
    name: "the system prompt comes last",
    about: /"system":/,
    plant: written("chat", (body) => {
      const messages = body["messages"] as Record<string, unknown>[];
      if (messages[0]?.["role"] === "system") messages.push(messages.shift()!);
    }),
  },
  {
    name: "top_p is dropped",
    about: /"top_p":0/,
    plant: written("chat", (body) => delete body["top_p"]),
  },
  {
    name: "temperature is dropped",
    about: /"temperature":0/,
    plant: written("chat", (body) => delete body["temperature"]),
  },
  {
    name: "stop sequences are dropped",
    about: /"stop_sequences":\["/,
    plant: written("chat", (body) => delete body["stop"]),
  },
  {
    name: "the output limit is dropped",
    about: /"max_tokens"/,
    plant: written("chat", (body) => {
      delete body["max_tokens"];
      delete body["max_completion_tokens"];
    }),
  },
  {
    name: "the effort is dropped",
    about: /"effort":"|"budget_tokens"/,
    plant: written("chat", (body) => delete body["reasoning_effort"]),
  },
  {
    name: "parallel-off is dropped",
    about: /"disable_parallel_tool_use":true/,
    plant: written("chat", (body) => delete body["parallel_tool_calls"]),
  },
  {
    name: "tool_choice none is dropped",
    about: /"tool_choice":\{"type":"none"/,
    plant: written("chat", (body) => {
      if (body["tool_choice"] === "none") delete body["tool_choice"];
    }),
  },
  {
    name: "tool_choice any becomes auto",
    about: /"tool_choice":\{"type":"any"/,
    plant: written("chat", (body) => {
      if (body["tool_choice"] === "required") body["tool_choice"] = "auto";
    }),
  },
  {
    name: "the answer schema is dropped",
    about: /"json_schema"/,
    plant: written("chat", (body) => delete body["response_format"]),
  },
  {
    name: "the user id is dropped",
    about: /"user_id":"/,
    plant: written("chat", (body) => {
      delete body["user"];
      delete body["safety_identifier"];
    }),
  },
  {
    name: "a turn of the assistant is forgotten",
    about: /"role":"assistant"/,
    plant: decoded("messages", (request) => {
      const at = request.turns.findIndex(({ role }) => role === "assistant");
      if (at >= 0) request.turns.splice(at, 1);
    }),
  },
]);

/** Answers of chat providers, as they are written for messages clients. */
const FROM_CHAT = rows("answer", "chat", [
  {
    name: "content_block_stop is missing",
    about: /^data:/,
    plant: frames("messages", (event) => (event["type"] === "content_block_stop" ? undefined : event)),
  },
  {
    name: "ids of answers are constant",
    about: /"id"/,
    plant: frames("messages", (event) => {
      for (const holder of [event, objectOf(event["message"])])
        if (String(holder["id"]).startsWith("msg_")) holder["id"] = "msg_1";
      return event;
    }),
  },
  {
    name: "ids of calls are made anew",
    about: /"tool_calls":\[\{/,
    plant: events("chat", (event) => {
      if (event.type === "block-start" && event.block.type === "tool-call")
        event.block.id = `call_${event.index}`;
      return event;
    }),
  },
  {
    name: "models are constant",
    about: /"model"/,
    plant: frames("messages", (event) => {
      for (const holder of [event, objectOf(event["message"])])
        if (holder["model"]) holder["model"] = "claude";
      return event;
    }),
  },
  {
    name: "the stop reason is always end_turn",
    about: /"finish_reason": ?"(length|tool_calls)"/,
    plant: frames("messages", (event) => {
      for (const holder of [event, objectOf(event["delta"])])
        if (holder["stop_reason"]) holder["stop_reason"] = "end_turn";
      return event;
    }),
  },
  {
    name: "output tokens are zero",
    about: /"completion_tokens": ?[1-9]/,
    plant: events("chat", (event) => {
      if (event.type === "message-end") event.usage = { ...event.usage, output: 0 };
      return event;
    }),
  },
  {
    name: "reasoning tokens are dropped",
    about: /"reasoning_tokens": ?[1-9]/,
    plant: events("chat", (event) => {
      if (event.type === "message-end") event.usage = { ...event.usage, reasoning: 0 };
      return event;
    }),
  },
  {
    name: "signatures of thinking are dropped",
    about: /"reasoning(_content)?": ?"\w/,
    plant: frames("messages", (event) =>
      objectOf(event["delta"])["type"] === "signature_delta" ? undefined : event,
    ),
  },
  {
    name: "indexes of blocks are constant",
    about: /^data:.*"(reasoning_content|tool_calls)"/s,
    plant: frames("messages", (event) => ("index" in event ? { ...event, index: 0 } : event)),
  },
  {
    name: "thinking is written as text",
    about: /"reasoning(_content)?": ?"\w/,
    plant: events("chat", (event) => {
      if (event.type === "block-start" && event.block.type === "reasoning") event.block = { type: "text" };
      return event;
    }),
  },
  {
    name: "names of tools are cut",
    about: /"tool_calls":\[\{/,
    plant: events("chat", (event) => {
      if (event.type === "block-start" && event.block.type === "tool-call")
        event.block.name = event.block.name.slice(1);
      return event;
    }),
  },
  {
    name: "usage of the last event is missing",
    about: /^data:/,
    plant: frames("messages", (event) => {
      if (event["type"] === "message_delta") delete event["usage"];
      return event;
    }),
  },
  {
    name: "message_stop is missing",
    about: /^data:/,
    plant: frames("messages", (event) => (event["type"] === "message_stop" ? undefined : event)),
  },
  {
    name: "every error is an api_error",
    about: /"error"/,
    plant: failures("messages", (answer) => {
      objectOf(answer.body["error"])["type"] = "api_error";
    }),
  },
]);

/** Answers of Anthropic, as they are written for chat clients. */
const FROM_MESSAGES = rows("answer", "messages", [
  {
    name: "[DONE] is missing",
    about: /^event:/,
    plant: frames("chat", (chunk) => ("done" in chunk ? undefined : chunk)),
  },
  {
    name: "ids of answers are constant",
    about: /"id"/,
    plant: frames("chat", (chunk) => ("id" in chunk ? { ...chunk, id: "chatcmpl-1" } : chunk)),
  },
  {
    name: "models are constant",
    about: /"model"/,
    plant: frames("chat", (chunk) => ("model" in chunk ? { ...chunk, model: "gpt" } : chunk)),
  },
  {
    name: "ids of calls are made anew",
    about: /"tool_use"/,
    plant: events("messages", (event) => {
      if (event.type === "block-start" && event.block.type === "tool-call")
        event.block.id = `call_${event.index}`;
      return event;
    }),
  },
  {
    name: "the finish reason is always stop",
    about: /"stop_reason": ?"(tool_use|max_tokens)"/,
    plant: frames("chat", (chunk) => {
      for (const choice of listOf(chunk["choices"]))
        if (choice["finish_reason"]) choice["finish_reason"] = "stop";
      return chunk;
    }),
  },
  {
    name: "citations are dropped",
    about: /"web_search_result_location"/,
    plant: events("messages", (event) => (event.type === "citation" ? undefined : event)),
  },
  {
    name: "cached tokens are dropped",
    about: /"cache_read_input_tokens": ?[1-9]/,
    plant: events("messages", (event) => {
      if (event.type === "message-end") event.usage = { ...event.usage, cacheRead: 0 };
      return event;
    }),
  },
  {
    name: "reasoning tokens are dropped",
    about: /"thinking_tokens": ?[1-9]/,
    plant: events("messages", (event) => {
      if (event.type === "message-end") event.usage = { ...event.usage, reasoning: 0 };
      return event;
    }),
  },
  {
    name: "thinking is dropped",
    about: /"type": ?"thinking"/,
    plant: frames("chat", (chunk) => {
      for (const { delta, message } of listOf(chunk["choices"]))
        delete objectOf(delta ?? message)["reasoning_content"];
      return chunk;
    }),
  },
  {
    name: "signatures are dropped",
    about: /"signature": ?"\w/,
    plant: events("messages", (event) => {
      if (event.type === "block-end") delete event.signature;
      return event;
    }),
  },
  {
    name: "indexes of calls are constant",
    about: /^event:.*"tool_use",.*"type": ?"tool_use",/s,
    plant: frames("chat", (chunk) => {
      for (const { delta } of listOf(chunk["choices"]))
        for (const call of listOf(objectOf(delta)["tool_calls"])) call["index"] = 0;
      return chunk;
    }),
  },
  {
    name: "the role is missing",
    about: /^event:/,
    plant: frames("chat", (chunk) => {
      for (const { delta } of listOf(chunk["choices"])) delete objectOf(delta)["role"];
      return chunk;
    }),
  },
  {
    name: "the time of creation is constant",
    about: /^event:/,
    plant: frames("chat", (chunk) => ("created" in chunk ? { ...chunk, created: 1 } : chunk)),
  },
  {
    name: "a failure loses its status",
    about: /"invalid_request_error"/,
    plant: failures("chat", (answer) => (answer.status = 500)),
  },
]);

const NATIVE = [
  ...rows("native", "messages", [
    {
      name: "the version header does not pass",
      about: /./,
      plant: requestHeadersOf("messages", "anthropic-version"),
    },
    {
      name: "the beta header does not pass",
      about: /./,
      plant: requestHeadersOf("messages", "anthropic-beta"),
    },
    {
      name: "limits of the vendor do not pass",
      about: /./,
      plant: answerHeadersOf("messages", "anthropic-ratelimit-*"),
    },
  ]),
  ...rows("native", "chat", [
    {
      name: "the client's request id does not pass",
      about: /./,
      plant: requestHeadersOf("chat", "x-client-request-id"),
    },
    {
      name: "the beta header does not pass",
      about: /./,
      plant: requestHeadersOf("chat", "openai-beta"),
    },
    {
      name: "a shipped plugin loses its patch",
      about: /"(user|seed|safety_identifier)":/,
      vendor: "mistral",
      plant: providerOf("mistral", (provider) => delete provider.patch),
    },
  ]),
];

const SESSIONS = [
  ...rows("session", "messages", [
    {
      name: "reasoning of earlier turns is forgotten",
      about: /"signature": ?"\w/,
      plant: decoded("chat", ({ turns }) =>
        turns.forEach((turn) => (turn.blocks = turn.blocks.filter(({ type }) => type !== "reasoning"))),
      ),
    },
  ]),
  ...rows("session", "chat", [
    {
      name: "calls of earlier turns are forgotten",
      about: /"tool_calls":\[\{/,
      plant: decoded("messages", ({ turns }) =>
        turns.forEach((turn) => {
          turn.blocks = turn.blocks.filter(({ type }) => type !== "tool-call" && type !== "tool-result");
        }),
      ),
    },
    {
      name: "a turn is written in another way each time",
      about: /./,
      plant: written("chat", (body) => {
        const [first] = listOf(body["messages"]);
        if (first) first["name"] = `n${crypto.randomUUID().slice(0, 8)}`;
      }),
    },
  ]),
];

export const MUTATIONS: readonly Mutation[] = [
  ...TO_MESSAGES,
  ...TO_CHAT,
  ...FROM_CHAT,
  ...FROM_MESSAGES,
  ...NATIVE,
  ...SESSIONS,
];
