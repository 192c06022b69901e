/** Faults to plant in the codec of the Responses format. */
import type { Block, ChatRequest } from "../../src/core/chat.ts";
import { rows, type Mutation } from "./mutations.ts";
import { decoded, events } from "./plant.ts";

const blocksOf = (request: ChatRequest): Block[] => request.turns.flatMap(({ blocks }) => blocks);

const dropBlocks = (type: Block["type"]) =>
  decoded("responses", (request) => {
    for (const turn of request.turns) turn.blocks = turn.blocks.filter((block) => block.type !== type);
  });

/** Requests of responses clients, as they reach providers of the other formats. */
const REQUESTS = rows("request", "responses", [
  { name: "tool results are dropped", about: /function_call_output/, plant: dropBlocks("tool-result") },
  { name: "images are dropped", about: /input_image/, plant: dropBlocks("image") },
  {
    name: "results of parallel calls are swapped",
    about: /function_call_output.*function_call_output/,
    plant: decoded("responses", (request) => {
      const [first, second] = blocksOf(request).filter((block) => block.type === "tool-result");
      if (first && second) [first.blocks, second.blocks] = [second.blocks, first.blocks];
    }),
  },
  {
    name: "arguments of calls are emptied",
    about: /"arguments":"\{\\"/,
    plant: decoded("responses", (request) => {
      for (const block of blocksOf(request)) if (block.type === "tool-call") block.input = "{}";
    }),
  },
  {
    name: "instructions are dropped",
    about: /"instructions":"[^"]/,
    plant: decoded("responses", (request) => {
      request.turns = request.turns.filter(({ role }) => role !== "system");
    }),
  },
  {
    name: "turns of the assistant become the user's",
    about: /"role":"assistant"/,
    plant: decoded("responses", (request) => {
      for (const turn of request.turns) if (turn.role === "assistant") turn.role = "user";
    }),
  },
  {
    name: "tool schemas are emptied",
    about: /"properties"/,
    plant: decoded("responses", (request) => {
      for (const tool of request.tools) if (tool.parameters) tool.parameters = { type: "object" };
    }),
  },
  {
    name: "tool descriptions are dropped",
    about: /"tools":.*"description"/,
    plant: decoded("responses", (request) => {
      for (const tool of request.tools) delete tool.description;
    }),
  },
  {
    name: "a forced tool is left free",
    about: /"tool_choice":"required"/,
    plant: decoded("responses", (request) => void delete request.toolChoice),
  },
  {
    name: "the output limit is dropped",
    about: /"max_output_tokens":\d/,
    plant: decoded("responses", (request) => void delete request.maxTokens),
  },
  {
    name: "the temperature is dropped",
    about: /"temperature":0\.[1-9]/,
    plant: decoded("responses", (request) => void delete request.temperature),
  },
  {
    name: "the schema of the answer is dropped",
    about: /"type":"json_schema"/,
    plant: decoded("responses", (request) => void delete request.answerFormat),
  },
]);

/** Answers of responses providers, as they reach clients of the other formats. */
const ANSWERS = rows("answer", "responses", [
  {
    name: "texts lose their last character",
    about: /output_text/,
    plant: events("responses", (event) =>
      event.type === "block-delta" ? { ...event, delta: event.delta.slice(0, -1) } : event,
    ),
  },
  {
    name: "calls get another name",
    about: /"type":"function_call"/,
    plant: events("responses", (event) =>
      event.type === "block-start" && event.block.type === "tool-call"
        ? { ...event, block: { ...event.block, name: `${event.block.name}_2` } }
        : event,
    ),
  },
  {
    name: "the answer has no end",
    about: /output_text/,
    plant: events("responses", (event) => (event.type === "message-end" ? undefined : event)),
  },
  {
    name: "output tokens are not counted",
    about: /"output_tokens":[1-9]/,
    plant: events("responses", (event) =>
      event.type === "message-end" ? { ...event, usage: { ...event.usage, output: 0 } } : event,
    ),
  },
  {
    name: "tokens from the cache are not counted",
    about: /"cached_tokens":[1-9]/,
    plant: events("responses", (event) =>
      event.type === "message-end" ? { ...event, usage: { ...event.usage, cacheRead: 0 } } : event,
    ),
  },
]);

export const RESPONSES_MUTATIONS: readonly Mutation[] = [...REQUESTS, ...ANSWERS];
