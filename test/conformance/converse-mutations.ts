/** Faults to plant in the codec of the Converse format, and in the framing of its streams. */
import { GatewayError } from "../../src/core/error.ts";
import { rows, type Mutation } from "./mutations.ts";
import { awsFrames, events, failing, listOf, objectOf, written } from "./plant.ts";

type Value = Record<string, unknown>;

const messagesOf = (body: Value): Value[] => listOf(body["messages"]);
const blocksOf = (body: Value): Value[] => messagesOf(body).flatMap(({ content }) => listOf(content));
const resultsOf = (body: Value): Value[] =>
  blocksOf(body).flatMap((block) => (block["toolResult"] ? [objectOf(block["toolResult"])] : []));
const toolsOf = (body: Value): unknown[] =>
  (objectOf(body["toolConfig"])["tools"] as unknown[] | undefined) ?? [];
const specsOf = (body: Value): Value[] => listOf(toolsOf(body)).map(({ toolSpec }) => objectOf(toolSpec));

/** Requests of chat clients, as they are written for Bedrock. */
const FROM_CHAT = rows(
  "request",
  "chat",
  [
    {
      name: "results of parallel calls are swapped",
      about: /"tool_call_id".*"tool_call_id"/,
      plant: written("bedrock", (body) => {
        const [first, second] = resultsOf(body);
        if (first && second) [first["content"], second["content"]] = [second["content"], first["content"]];
      }),
    },
    {
      name: "results of one turn are in two",
      about: /"tool_call_id".*"tool_call_id"/,
      plant: written("bedrock", (body) => {
        const messages = messagesOf(body);
        const at = messages.findIndex(
          ({ content }) => listOf(content).filter((each) => each["toolResult"]).length > 1,
        );
        if (at < 0) return;
        messages.splice(at + 1, 0, {
          role: "user",
          content: [(messages[at]!["content"] as unknown[]).pop()],
        });
        body["messages"] = messages;
      }),
    },
    {
      name: "tools are not declared though the history has calls",
      about: /"tool_call_id"/,
      plant: written("bedrock", (body) => delete body["toolConfig"]),
    },
    {
      name: "a list of tools is empty",
      about: /"role":"user"/,
      plant: written("bedrock", (body) => (body["toolConfig"] = { tools: [] })),
    },
    {
      name: "a tool and a cache mark are one element",
      about: /"tools":\[/,
      plant: written("bedrock", (body) =>
        listOf(toolsOf(body)).forEach((tool) => (tool["cachePoint"] = { type: "default" })),
      ),
    },
    {
      name: "tool schemas are emptied",
      about: /"properties"/,
      plant: written("bedrock", (body) =>
        specsOf(body).forEach((spec) => (spec["inputSchema"] = { json: { type: "object" } })),
      ),
    },
    {
      name: "the system prompt is dropped",
      about: /"role":"system"/,
      plant: written("bedrock", (body) => delete body["system"]),
    },
    {
      name: "a blank text is written",
      about: /"role":"user"/,
      plant: written("bedrock", (body) => (messagesOf(body)[0]!["content"] as unknown[]).push({ text: " " })),
    },
    {
      name: "the model stands in the body",
      about: /"role":"user"/,
      plant: written("bedrock", (body) => (body["modelId"] = "some-model")),
    },
    {
      name: "a forced tool is left free",
      about: /"tool_choice":"required"/,
      plant: written("bedrock", (body) => delete objectOf(body["toolConfig"])["toolChoice"]),
    },
    {
      name: "the output limit is dropped",
      about: /"max_(completion_)?tokens"/,
      plant: written("bedrock", (body) => delete objectOf(body["inferenceConfig"])["maxTokens"]),
    },
    {
      name: "stop sequences are dropped",
      about: /"stop":\["/,
      plant: written("bedrock", (body) => delete objectOf(body["inferenceConfig"])["stopSequences"]),
    },
    {
      name: "the effort is dropped",
      about: /"reasoning_effort":"low"/,
      plant: written("bedrock", (body) => delete body["additionalModelRequestFields"]),
    },
    {
      name: "the answer schema is dropped",
      about: /"json_schema"/,
      plant: written("bedrock", (body) => delete body["outputConfig"]),
    },
    {
      name: "image bytes are replaced",
      about: /data:image/,
      plant: written("bedrock", (body) => {
        for (const { image } of blocksOf(body))
          if (image) objectOf(image)["source"] = { bytes: "iVBORw0KGgo=" };
      }),
    },
    {
      name: "a document has the client's name",
      about: /"filename"/,
      plant: written("bedrock", (body) => {
        for (const { document } of blocksOf(body)) if (document) objectOf(document)["name"] = "paper.pdf";
      }),
    },
  ],
  "bedrock",
);

/** Requests of messages clients, as they are written for Bedrock. */
const FROM_MESSAGES = rows(
  "request",
  "messages",
  [
    {
      name: "a failed tool has not failed",
      about: /"is_error":true/,
      plant: written("bedrock", (body) => resultsOf(body).forEach((each) => delete each["status"])),
    },
    {
      name: "five cache marks are written",
      about: /"role":"user"/,
      plant: written("bedrock", (body) => {
        const content = messagesOf(body)[0]!["content"] as unknown[];
        for (let mark = 0; mark < 5; mark++) content.push({ cachePoint: { type: "default" } });
      }),
    },
  ],
  "bedrock",
);

/** Answers of Bedrock, as they are read. */
const ANSWERS = rows(
  "answer",
  "bedrock",
  [
    {
      name: "texts lose their last character",
      about: /"text":/,
      plant: events("bedrock", (event) =>
        event.type === "block-delta" ? { ...event, delta: event.delta.slice(0, -1) } : event,
      ),
    },
    {
      name: "calls get another name",
      about: /toolUse/,
      plant: events("bedrock", (event) =>
        event.type === "block-start" && event.block.type === "tool-call"
          ? { ...event, block: { ...event.block, name: `${event.block.name}_2` } }
          : event,
      ),
    },
    {
      name: "reasoning is read as text",
      about: /"reasoningText"|"reasoningContent":\{"text"/,
      plant: events("bedrock", (event) =>
        event.type === "block-start" && event.block.type === "reasoning"
          ? { ...event, block: { type: "text" } }
          : event,
      ),
    },
    {
      name: "signatures are dropped",
      about: /"signature":/,
      plant: events("bedrock", (event) => {
        if (event.type !== "block-end") return event;
        const { signature: _, ...rest } = event;
        return rest;
      }),
    },
    {
      name: "encrypted reasoning is dropped",
      about: /"redactedContent"/,
      plant: events("bedrock", (event) => {
        if (event.type !== "block-start" || event.block.type !== "reasoning") return event;
        const { redacted: _, ...block } = event.block;
        return { ...event, block };
      }),
    },
    {
      name: "the finish reason is always stop",
      about: /"(max_tokens|guardrail_intervened)"/,
      plant: events("bedrock", (event) =>
        event.type === "message-end" ? { ...event, reason: { kind: "stop" } } : event,
      ),
    },
    {
      name: "the answer has no end",
      about: /"end_turn"/,
      plant: events("bedrock", (event) => (event.type === "message-end" ? undefined : event)),
    },
    {
      name: "tokens from the cache are counted twice",
      about: /"cacheReadInputTokens": ?[1-9]/,
      plant: events("bedrock", (event) =>
        event.type === "message-end"
          ? { ...event, usage: { ...event.usage, cacheRead: 2 * event.usage.cacheRead } }
          : event,
      ),
    },
    {
      name: "output tokens are not counted",
      about: /"outputTokens": ?[1-9]/,
      plant: events("bedrock", (event) =>
        event.type === "message-end" ? { ...event, usage: { ...event.usage, output: 0 } } : event,
      ),
    },
    {
      name: "a failure loses its status",
      about: /provided model identifier/,
      plant: failing("bedrock", (error) => new GatewayError("upstream", error.message)),
    },
    {
      name: "frames with an exception are dropped, and the answer ends",
      about: /throttlingException/,
      plant: awsFrames((frame) =>
        frame.event === "exception" ? { event: "messageStop", data: '{"stopReason":"end_turn"}' } : frame,
      ),
    },
    {
      name: "every second frame of a stream is dropped",
      about: /contentBlockDelta/,
      plant: awsFrames((frame) => (frame.data.includes("it up") ? undefined : frame)),
    },
  ],
  "chat",
);

/** Conversations with Bedrock. */
const SESSIONS = rows("session", "bedrock", [
  {
    name: "signed reasoning is not sent back",
    about: /"signature":/,
    plant: written("bedrock", (body) => {
      for (const message of messagesOf(body))
        message["content"] = listOf(message["content"]).filter((block) => !block["reasoningContent"]);
    }),
  },
  {
    name: "signed reasoning is edited",
    about: /"signature":/,
    plant: written("bedrock", (body) => {
      for (const { reasoningContent } of blocksOf(body))
        if (reasoningContent) objectOf(objectOf(reasoningContent)["reasoningText"])["signature"] = "other";
    }),
  },
]);

export const CONVERSE_MUTATIONS: readonly Mutation[] = [
  ...FROM_CHAT,
  ...FROM_MESSAGES,
  ...ANSWERS,
  ...SESSIONS,
];
