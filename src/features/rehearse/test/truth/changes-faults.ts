/** Faults in codecs, lanes and prices, each one edit of the source. */
import type { FaultChange } from "./change.ts";

type Edits = readonly (readonly [name: string, from: string, to: string])[];

const F = "formats/";

/** By the file, from `src/` on. */
const EDITS: Readonly<Record<string, Edits>> = {
  [`${F}chat-completions/upstream/request.ts`]: [
    [
      "chat: the output limit is one lower",
      "Math.min(maxTokens, most) };",
      "Math.min(maxTokens, most) - 1 };",
    ],
    ["chat: streams are not asked for usage", "include_usage: true", "include_usage: false"],
    [
      "chat: effort is lost",
      "if (effort !== undefined) body.reasoning_effort",
      "if (effort === null) body.reasoning_effort",
    ],
    [
      "chat: the format of answers is lost",
      "if (responseFormat) body",
      "if (responseFormat && request.stream) body",
    ],
    [
      "chat: messages come before tools",
      "Object.assign(body, encodeTools(request, context));",
      "body.messages = messages; Object.assign(body, encodeTools(request, context));",
    ],
    ["chat: stop sequences are lost", "return sent.length > 0 ?", "return sent.length > 1 ?"],
  ],
  [`${F}chat-completions/upstream/messages.ts`]: [
    [
      "chat: results come behind what the user says",
      "this.#writeResults(calls);\n    for (const placed of group.others) this.#writeOther(placed, orphans);",
      "for (const placed of group.others) this.#writeOther(placed, orphans);\n    this.#writeResults(calls);",
    ],
    [
      "chat: system becomes developer",
      "const message: JsonObject = { role: turn.role, content };",
      'const message: JsonObject = { role: turn.role === "system" ? "developer" : turn.role, content };',
    ],
    ["chat: names of users are lost", "if (turn.name !== undefined)", "if (turn.name === null)"],
    ["chat: ids are short", "_-]{1,40}$/, length: 40 }", "_-]{1,9}$/, length: 9 }"],
  ],
  [`${F}chat-completions/upstream/tools.ts`]: [
    [
      "chat: descriptions of tools are lost",
      "...(tool.description !== undefined && { description",
      "...(tool.description === null && { description",
    ],
    [
      "chat: strict is never sent",
      "tool.strict !== undefined && takesStrict",
      "tool.strict !== undefined && !takesStrict",
    ],
    ["chat: parameters of tools are empty", "parameters: tool.parameters }", "parameters: {} }"],
  ],
  [`${F}messages/upstream/request.ts`]: [
    [
      "messages: the output limit is lost",
      "return Math.min(wanted, facts.maxTokens);",
      "return facts.maxTokens;",
    ],
    [
      "messages: instructions come first",
      'system.push({ type: "text", text });',
      'system.unshift({ type: "text", text });',
    ],
    ["messages: top_p is lost", "if (topP !== undefined) body.top_p = topP;", ""],
    ["messages: users are not hashed", "sameFormat ? user : maskUser(user)", "user"],
    ["messages: blank stop sequences are sent", 'text.trim() !== ""', 'text !== "never"'],
    [
      "messages: the choice of a tool is lost",
      "if (allTools.length > 0 && toolChoice)",
      "if (allTools.length > 3 && toolChoice)",
    ],
  ],
  [`${F}messages/upstream/tools.ts`]: [
    ["messages: two calls at once are allowed", "{ disable_parallel_tool_use: true } : {}", "{} : {}"],
    [
      "messages: a forced tool is any tool",
      '{ type: "tool", name: names.send(toolChoice.name) }',
      '{ type: "any" }',
    ],
    [
      "messages: tools without parameters have no schema",
      '?? { type: "object", properties: {} }',
      '?? { type: "object" }',
    ],
    ["messages: marks of tools stay", "wire.defer_loading !== true", "wire.defer_loading === true"],
  ],
  [`${F}messages/upstream/messages.ts`]: [
    ["messages: another word for a blank message", 'const EMPTY = "(empty)";', 'const EMPTY = "(blank)";'],
  ],
  [`${F}gemini/upstream/request.ts`]: [
    ["gemini: temperature is at most one", "const MAX_TEMPERATURE = 2;", "const MAX_TEMPERATURE = 1;"],
    ["gemini: top_k is lost", "...(topK !== undefined && { topK })", "...{}"],
    ["gemini: the limit has another name", "return { maxOutputTokens:", "return { maxTokens:"],
    [
      "gemini: no system instruction",
      "...(system.length > 0 && { systemInstruction",
      "...(system.length > 1 && { systemInstruction",
    ],
    [
      "gemini: tools come first",
      "contents,\n    ...(system",
      "...(tools.length > 0 && { tools }),\n    contents,\n    ...(system",
    ],
  ],
  [`${F}gemini/upstream/tools.ts`]: [
    [
      "gemini: any tool is forced where one is named",
      'return { mode: "ANY", allowedFunctionNames: [names.send(choice.name)] };',
      'return { mode: "ANY" };',
    ],
    [
      "gemini: descriptions of tools are lost",
      "...(description && { description })",
      "...(!description && { description: name })",
    ],
    ["gemini: none means auto", 'return { mode: "NONE" };', 'return { mode: "AUTO" };'],
  ],
  [`${F}gemini/upstream/messages.ts`]: [
    [
      "gemini: neighbours of one role stay apart",
      "if (last?.role === role && !last.alone && !alone)",
      "if (!last)",
    ],
    ["gemini: another word to go on", 'const CONTINUE = "(continue)";', 'const CONTINUE = "Go on.";'],
  ],
  [`${F}responses/upstream/request.ts`]: [
    ["responses: answers are stored", "    store: false,", "    store: true,"],
    ["responses: the lowest limit is 32", "const MIN_OUTPUT = 16;", "const MIN_OUTPUT = 32;"],
    [
      "responses: instructions become a message",
      "const isInput = input.length === 0 ||",
      "const isInput = input.length >= 0 ||",
    ],
    ["responses: verbosity is lost", "...(verbosity !== undefined && { verbosity })", ""],
  ],
  [`${F}responses/upstream/messages.ts`]: [
    [
      "responses: texts have no annotations",
      '{ type: "output_text", text, annotations: [] }',
      '{ type: "output_text", text }',
    ],
    ["responses: phases are lost", "...(phase !== undefined && { phase }),", ""],
  ],
  [`${F}converse/upstream/request.ts`]: [
    ["converse: top_p is lost", "...(topP !== undefined && { topP }),\n    ...(sent", "...(sent"],
    [
      "converse: the limit has another name",
      "{ maxTokens: Math.min(maxTokens, most) }",
      "{ maxOutput: Math.min(maxTokens, most) }",
    ],
    [
      "converse: system comes last",
      "...(system.length > 0 && { system }),\n    ...(tools.length > 0 && { toolConfig: { tools, ...(choice && { toolChoice: choice }) } }),\n    messages: messages.map(({ role, content }) => ({ role, content })),",
      "...(tools.length > 0 && { toolConfig: { tools, ...(choice && { toolChoice: choice }) } }),\n    messages: messages.map(({ role, content }) => ({ role, content })),\n    ...(system.length > 0 && { system }),",
    ],
  ],
  [`${F}chat-completions/client/request.ts`]: [
    [
      "chat clients: max_tokens wins",
      "body.max_completion_tokens ?? body.max_tokens, isNumber",
      "body.max_tokens ?? body.max_completion_tokens, isNumber",
    ],
    ["chat clients: a single stop sequence is lost", 'if (typeof stop === "string") return [stop];', ""],
    [
      "chat clients: an effort is lost",
      'return effort === "none" ? { mode: "off", effort } : { effort };',
      'return effort === "none" ? { mode: "off", effort } : {};',
    ],
    ["chat clients: strict schemas are loose", '...present("strict", strict, isBoolean),', ""],
  ],
  [`${F}messages/client/request.ts`]: [
    [
      "messages clients: budgets are lost",
      'typeof budget_tokens === "number") reasoning.budget = budget_tokens;',
      'typeof budget_tokens === "number") reasoning.budget = 1024;',
    ],
    [
      "messages clients: stop sequences are lost",
      "stop: list(body.stop_sequences)",
      "stop: list(body.stops)",
    ],
  ],
  [`${F}messages/client/messages.ts`]: [
    [
      "messages clients: system is a turn of the user",
      '[{ role: "system", blocks, path: "system" }]',
      '[{ role: "user", blocks, path: "system" }]',
    ],
  ],
  [`${F}responses/client/request.ts`]: [
    [
      "responses clients: parallel calls are lost",
      "parallelToolCalls: body.parallel_tool_calls }",
      "parallelToolCalls: true }",
    ],
    [
      "responses clients: the effort is high",
      '? { mode: "off", effort } : { effort };',
      '? { mode: "off", effort } : { effort: "high" };',
    ],
  ],
  "gateway/lanes/native.ts": [
    [
      "the native lane adds a header",
      "headers: upstreamHeaders(target, headerFilters(this.#codec.address).request(call.headers), streams),",
      'headers: { ...upstreamHeaders(target, headerFilters(this.#codec.address).request(call.headers), streams), "x-native": "1" },',
    ],
  ],
  "gateway/routing/plan.ts": [
    ["the last priority wins", "return a[0] - b[0] || a[1] - b[1];", "return b[0] - a[0] || b[1] - a[1];"],
  ],
};

export const FAULTS: readonly FaultChange[] = Object.entries(EDITS).flatMap(([file, edits]) =>
  edits.map(([name, from, to]): FaultChange => ({ kind: "fault", name, file, from, to })),
);
