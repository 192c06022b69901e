/** Faults to plant in the client codec of the Gemini format, and in its native lane. */
import type { Block, ChatRequest } from "../../src/core/chat.ts";
import { rows, type Mutation } from "./mutations.ts";
import { decoded, failures, frames, listOf, nativeBody, objectOf } from "./plant.ts";

type Value = Record<string, unknown>;

const blocksOf = (request: ChatRequest): Block[] => request.turns.flatMap(({ blocks }) => blocks);

const dropBlocks = (type: Block["type"]) =>
  decoded("gemini", (request) => {
    for (const turn of request.turns) turn.blocks = turn.blocks.filter((block) => block.type !== type);
  });

/** Requests of Gemini clients, as they reach providers of the other formats. */
const REQUESTS = rows("request", "gemini", [
  { name: "tool results are dropped", about: /"function_?[rR]esponse"/, plant: dropBlocks("tool-result") },
  { name: "images are dropped", about: /"image\/png"/, plant: dropBlocks("image") },
  {
    name: "results of parallel calls are swapped",
    about: /"functionResponse".*"functionResponse"/,
    plant: decoded("gemini", (request) => {
      const [first, second] = blocksOf(request).filter((block) => block.type === "tool-result");
      if (first && second) [first.blocks, second.blocks] = [second.blocks, first.blocks];
    }),
  },
  {
    name: "a failed function has not failed",
    about: /"response":\{"error"/,
    plant: decoded("gemini", (request) => {
      for (const block of blocksOf(request)) if (block.type === "tool-result") delete block.error;
    }),
  },
  {
    name: "arguments of calls are emptied",
    about: /"args":\{"/,
    plant: decoded("gemini", (request) => {
      for (const block of blocksOf(request)) if (block.type === "tool-call") block.input = "{}";
    }),
  },
  {
    name: "the system instruction is dropped",
    about: /"system_?[iI]nstruction":\{/,
    plant: decoded("gemini", (request) => {
      request.turns = request.turns.filter(({ role }) => role !== "system");
    }),
  },
  {
    name: "turns of the model become the user's",
    about: /"role":"model","parts":\[\{"text"|"parts":\[\{"text":[^\]]*\],"role":"model"/,
    plant: decoded("gemini", (request) => {
      for (const turn of request.turns) if (turn.role === "assistant") turn.role = "user";
    }),
  },
  {
    name: "types of schemas stay in capitals",
    about: /"type":"(STRING|INTEGER)"/,
    plant: decoded("gemini", (request) => {
      for (const tool of request.tools)
        for (const member of Object.values(objectOf(tool.parameters?.["properties"])))
          objectOf(member)["type"] = "STRING";
    }),
  },
  {
    name: "tool descriptions are dropped",
    about: /"description":"\w/,
    plant: decoded("gemini", (request) => {
      for (const tool of request.tools) delete tool.description;
    }),
  },
  {
    name: "a forced tool is left free",
    about: /"mode":"ANY"/i,
    plant: decoded("gemini", (request) => void delete request.toolChoice),
  },
  {
    name: "the output limit is dropped",
    about: /"max_?[oO]utput_?[tT]okens":\d/,
    plant: decoded("gemini", (request) => void delete request.maxTokens),
  },
  {
    name: "the temperature is dropped",
    about: /"temperature":0\.[1-9]/,
    plant: decoded("gemini", (request) => void delete request.temperature),
  },
  {
    name: "stop sequences are dropped",
    about: /"stop_?[sS]equences":\["/,
    plant: decoded("gemini", (request) => (request.stop = [])),
  },
  {
    name: "the schema of the answer is dropped",
    about: /"response_?([jJ]son_?)?[sS]chema"/,
    plant: decoded("gemini", (request) => void delete request.answerFormat),
  },
]);

const partsOf = (record: Value): Value[] =>
  listOf(record["candidates"]).flatMap(({ content }) => listOf(objectOf(content)["parts"]));

const eachPart = (edit: (part: Value) => void) =>
  frames("gemini", (record) => {
    partsOf(record).forEach(edit);
    return record;
  });

const eachCandidate = (edit: (candidate: Value) => void) =>
  frames("gemini", (record) => {
    listOf(record["candidates"]).forEach(edit);
    return record;
  });

const usageOf = (edit: (usage: Value) => void) =>
  frames("gemini", (record) => {
    if (record["usageMetadata"]) edit(objectOf(record["usageMetadata"]));
    return record;
  });

/** Answers of other providers, as they are written for Gemini clients. */
const ANSWERS = [
  ...rows(
    "answer",
    "bedrock",
    [
      {
        name: "texts lose their last character",
        about: /"text":/,
        plant: eachPart((part) => {
          if (typeof part["text"] === "string") part["text"] = part["text"].slice(0, -1);
        }),
      },
      {
        name: "thoughts are written as text",
        about: /reasoning/,
        plant: eachPart((part) => delete part["thought"]),
      },
      {
        name: "signatures are dropped",
        about: /"signature":/,
        plant: eachPart((part) => delete part["thoughtSignature"]),
      },
      {
        name: "arguments of calls are emptied",
        about: /toolUse/,
        plant: eachPart((part) => {
          if (part["functionCall"]) objectOf(part["functionCall"])["args"] = {};
        }),
      },
      {
        name: "names of calls are cut",
        about: /toolUse/,
        plant: eachPart(({ functionCall }) => {
          if (functionCall) objectOf(functionCall)["name"] = String(objectOf(functionCall)["name"]).slice(1);
        }),
      },
      {
        name: "every record has a finish reason",
        about: /messageStop/,
        plant: eachCandidate((candidate) => (candidate["finishReason"] = "STOP")),
      },
      {
        name: "no record has a finish reason",
        about: /messageStop/,
        plant: eachCandidate((candidate) => delete candidate["finishReason"]),
      },
      {
        name: "an answer that was cut is whole",
        about: /"max_tokens"/,
        plant: eachCandidate((candidate) => {
          if (candidate["finishReason"]) candidate["finishReason"] = "STOP";
        }),
      },
      {
        name: "the cached tokens are not within the prompt",
        about: /"cacheReadInputTokens": ?[1-9]/,
        plant: usageOf((usage) => (usage["promptTokenCount"] = 20)),
      },
      {
        name: "tokens of the answer are not counted",
        about: /"outputTokens": ?[1-9]/,
        plant: usageOf((usage) => (usage["candidatesTokenCount"] = 0)),
      },
      {
        name: "a failure loses its status",
        about: /provided model identifier/,
        plant: failures("gemini", (answer) => (answer.status = 500)),
      },
    ],
    "gemini",
  ),
  ...rows(
    "answer",
    "chat",
    [
      {
        name: "tokens of thoughts are not counted",
        about: /"reasoning_tokens": ?[1-9]/,
        plant: usageOf((usage) => delete usage["thoughtsTokenCount"]),
      },
    ],
    "gemini",
  ),
];

/** Requests and answers that pass unchanged. */
const NATIVE = rows("native", "gemini", [
  {
    name: "the model is written into the body",
    about: /"contents"/,
    plant: nativeBody("gemini"),
  },
]);

export const GEMINI_CLIENT_MUTATIONS: readonly Mutation[] = [...REQUESTS, ...ANSWERS, ...NATIVE];
