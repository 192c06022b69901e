/** Faults to plant in the upstream codec of the Gemini format. */
import { GatewayError } from "../../src/core/error.ts";
import { rows, type Mutation } from "./mutations.ts";
import { events, failing, listOf, objectOf, written } from "./plant.ts";

type Value = Record<string, unknown>;

const contentsOf = (body: Value): Value[] => listOf(body["contents"]);
const partsOf = (body: Value): Value[] => contentsOf(body).flatMap(({ parts }) => listOf(parts));
const responsesIn = (body: Value): Value[] =>
  partsOf(body).flatMap((part) => (part["functionResponse"] ? [objectOf(part["functionResponse"])] : []));
const declarationsOf = (body: Value): Value[] =>
  listOf(body["tools"]).flatMap((tool) => listOf(tool["functionDeclarations"]));
const configOf = (body: Value): Value => objectOf(body["generationConfig"]);

/** Requests of chat clients, as they are written for Google. */
const FROM_CHAT = rows(
  "request",
  "chat",
  [
    {
      name: "results of parallel calls are swapped",
      about: /"tool_call_id".*"tool_call_id"/,
      plant: written("gemini", (body) => {
        const [first, second] = responsesIn(body);
        if (first && second)
          [first["response"], second["response"]] = [second["response"], first["response"]];
      }),
    },
    {
      name: "a result is forgotten",
      about: /"tool_call_id"/,
      plant: written("gemini", (body) => {
        const turn = contentsOf(body).find(({ parts }) =>
          listOf(parts).some((part) => part["functionResponse"]),
        );
        (turn?.["parts"] as unknown[] | undefined)?.pop();
      }),
    },
    {
      name: "parallel calls are split into two turns",
      about: /"tool_call_id".*"tool_call_id"/,
      plant: written("gemini", (body) => {
        const contents = contentsOf(body);
        const at = contents.findIndex(
          ({ parts }) => listOf(parts).filter((part) => part["functionCall"]).length > 1,
        );
        if (at < 0) return;
        const parts = contents[at]!["parts"] as unknown[];
        contents.splice(at + 1, 0, { role: "model", parts: [parts.pop()] });
        body["contents"] = contents;
      }),
    },
    {
      name: "a text stands beside results",
      about: /"tool_call_id"/,
      plant: written("gemini", (body) => {
        const turn = contentsOf(body).find(({ parts }) =>
          listOf(parts).some((part) => part["functionResponse"]),
        );
        (turn?.["parts"] as unknown[] | undefined)?.push({ text: "Compare the two." });
      }),
    },
    {
      name: "the system prompt is dropped",
      about: /"role":"system"/,
      plant: written("gemini", (body) => delete body["systemInstruction"]),
    },
    {
      name: "a blank part is written",
      about: /"role":"user"/,
      plant: written("gemini", (body) => (contentsOf(body)[0]!["parts"] as unknown[]).push({ text: "" })),
    },
    {
      name: "the model stands in the body",
      about: /"role":"user"/,
      plant: written("gemini", (body) => (body["model"] = "gemini-2.5-flash")),
    },
    {
      name: "both a level and a budget of thinking are set",
      about: /"reasoning_effort":"low"/,
      plant: written("gemini", (body) =>
        Object.assign(objectOf(configOf(body)["thinkingConfig"]), {
          thinkingLevel: "LOW",
          thinkingBudget: 1024,
        }),
      ),
    },
    {
      name: "the effort is dropped",
      about: /"reasoning_effort":"low"/,
      plant: written("gemini", (body) => delete configOf(body)["thinkingConfig"]),
    },
    {
      name: "tool schemas are emptied",
      about: /"properties"/,
      plant: written("gemini", (body) =>
        declarationsOf(body).forEach((each) => (each["parametersJsonSchema"] = { type: "object" })),
      ),
    },
    {
      name: "a keyword that Google refuses stays in a schema",
      about: /"properties"/,
      plant: written("gemini", (body) =>
        declarationsOf(body).forEach(
          (each) => (objectOf(each["parametersJsonSchema"])["$schema"] = "draft-07"),
        ),
      ),
    },
    {
      name: "a forced tool is left free",
      about: /"tool_choice":"required"/,
      plant: written("gemini", (body) => delete body["toolConfig"]),
    },
    {
      name: "no call may be made, and tools are free",
      about: /"tool_choice":"none".*"tools"|"tools".*"tool_choice":"none"/,
      plant: written("gemini", (body) => delete body["toolConfig"]),
    },
    {
      name: "a schema has no type of the answer beside it",
      about: /"json_schema"/,
      plant: written("gemini", (body) => delete configOf(body)["responseMimeType"]),
    },
    {
      name: "the answer schema is dropped",
      about: /"json_schema"/,
      plant: written("gemini", (body) => delete configOf(body)["responseJsonSchema"]),
    },
    {
      name: "the output limit is dropped",
      about: /"max_(completion_)?tokens"/,
      plant: written("gemini", (body) => delete configOf(body)["maxOutputTokens"]),
    },
    {
      name: "image bytes are replaced",
      about: /data:image/,
      plant: written("gemini", (body) => {
        for (const { inlineData } of partsOf(body))
          if (inlineData) objectOf(inlineData)["data"] = "iVBORw0KGgo=";
      }),
    },
    {
      name: "ids of results are others than those of calls",
      about: /"tool_call_id"/,
      plant: written("gemini", (body) => responsesIn(body).forEach((each) => (each["id"] = "call_other"))),
    },
  ],
  "gemini",
);

/** Requests of messages clients, as they are written for Google. */
const FROM_MESSAGES = rows(
  "request",
  "messages",
  [
    {
      name: "a failed tool has not failed",
      about: /"is_error":true/,
      plant: written("gemini", (body) => {
        for (const each of responsesIn(body)) {
          const { error, ...rest } = objectOf(each["response"]);
          if (error !== undefined) each["response"] = { ...rest, output: error };
        }
      }),
    },
    {
      name: "stop sequences are dropped",
      about: /"stop_sequences":\["/,
      plant: written("gemini", (body) => delete configOf(body)["stopSequences"]),
    },
    {
      name: "turns of the assistant are the user's",
      about: /"role":"assistant"/,
      plant: written("gemini", (body) => contentsOf(body).forEach((turn) => (turn["role"] = "user"))),
    },
  ],
  "gemini",
);

/** Answers of Google, as they are read. */
const ANSWERS = rows("answer", "gemini", [
  {
    name: "texts lose their last character",
    about: /"text": ?"\w/,
    plant: events("gemini", (event) =>
      event.type === "block-delta" ? { ...event, delta: event.delta.slice(0, -1) } : event,
    ),
  },
  {
    name: "calls get another name",
    about: /"functionCall"/,
    plant: events("gemini", (event) =>
      event.type === "block-start" && event.block.type === "tool-call"
        ? { ...event, block: { ...event.block, name: `${event.block.name}_2` } }
        : event,
    ),
  },
  {
    name: "thoughts are read as text",
    about: /"thought": ?true/,
    plant: events("gemini", (event) =>
      event.type === "block-start" && event.block.type === "reasoning" && !event.block.redacted
        ? { ...event, block: { type: "text" } }
        : event,
    ),
  },
  {
    name: "signatures are dropped",
    about: /"thoughtSignature": ?"\w/,
    plant: events("gemini", (event) => {
      if (event.type !== "block-end") return event;
      const { signature: _, ...rest } = event;
      return rest;
    }),
  },
  {
    name: "the finish reason is always stop",
    about: /"(MAX_TOKENS|SAFETY)"/,
    plant: events("gemini", (event) =>
      event.type === "message-end" ? { ...event, reason: { kind: "stop" } } : event,
    ),
  },
  {
    name: "the answer has no end",
    about: /"finishReason": ?"STOP"/,
    plant: events("gemini", (event) => (event.type === "message-end" ? undefined : event)),
  },
  ...(["input", "cacheRead", "output", "reasoning"] as const).map((name) => ({
    name: `the tokens of ${name} are not counted`,
    about: name === "cacheRead" ? /"cachedContentTokenCount": ?[1-9]/ : /"thoughtsTokenCount": ?[1-9]/,
    plant: events("gemini", (event) =>
      event.type === "message-end" ? { ...event, usage: { ...event.usage, [name]: 0 } } : event,
    ),
  })),
  {
    name: "a failure loses its status",
    about: /"INVALID_ARGUMENT"/,
    plant: failing("gemini", (error) => new GatewayError("upstream", error.message)),
  },
]);

/** Conversations with Google. */
const SESSIONS = rows("session", "gemini", [
  {
    name: "signatures are not sent back",
    about: /"thoughtSignature"/,
    plant: written("gemini", (body) => partsOf(body).forEach((part) => delete part["thoughtSignature"])),
  },
  {
    name: "a signature moves to the next call",
    about:
      /"thoughtSignature".*"functionCall".*"functionCall"|"functionCall".*"thoughtSignature".*"functionCall"/s,
    plant: written("gemini", (body) => {
      for (const { parts } of contentsOf(body)) {
        const [first, second] = listOf(parts).filter((part) => part["functionCall"]);
        if (!first?.["thoughtSignature"] || !second) continue;
        second["thoughtSignature"] = first["thoughtSignature"];
        delete first["thoughtSignature"];
      }
    }),
  },
]);

export const GEMINI_MUTATIONS: readonly Mutation[] = [
  ...FROM_CHAT,
  ...FROM_MESSAGES,
  ...ANSWERS,
  ...SESSIONS,
];
