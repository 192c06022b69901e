/**
 * A provider that plays the model of a job of four turns: it reads two files at once, edits one, runs the test, and says so.
 * It goes on only when the request holds what the turn before must have brought: the results of its calls, in order, and
 * the reasoning of all earlier turns.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import { chatChunk, messagesEvent } from "../../helpers/event-streams.ts";
import { responsesBody, responsesStream, type ScriptedItem } from "../../helpers/responses-events.ts";
import { type Answer, json, sse } from "../../helpers/upstream.ts";

/** The files of the job; the test fails until `calc.py` is edited. */
export const FILES: Readonly<Record<string, string>> = {
  "calc.py": "def add(a, b):\n    return a - b\n",
  "test_calc.py": 'from calc import add\n\nassert add(2, 3) == 5\nprint("1 test passed")\n',
};

export const TASK = "Fix calc.py so that test_calc.py passes. Run the test.";
/** What the model says last. */
export const DONE = "The test passes now.";

const FIXED = "    return a + b  # fixed";
const PATCH = [
  "*** Begin Patch",
  "*** Update File: calc.py",
  "@@",
  " def add(a, b):",
  "-    return a - b",
  `+${FIXED}`,
  "*** End Patch",
].join("\n");

/** A tool as the request declares it. */
interface Declared {
  name: string;
  kind: "function" | "custom";
  properties: JsonObject;
}

/** What the provider reads of a request, whatever its format. */
interface Asked {
  tools: Declared[];
  /** The results of calls, in order, as text. */
  results: string[];
  /** Reasoning of earlier turns, in order: what seals each. */
  reasoning: string[];
  stream: boolean;
}

interface Call {
  id: string;
  name: string;
  kind: "function" | "custom";
  /** Arguments as JSON, or the input of a custom tool. */
  input: string;
}

interface Turn {
  /** Number of the turn, from 0. */
  number: number;
  reasoning: string;
  text?: string;
  calls: Call[];
}

/** A format that the provider speaks. */
interface Language {
  read(body: JsonObject): Asked;
  write(turn: Turn, stream: boolean): Answer;
}

/** What a run of the job has shown. */
export interface JobReport {
  /** Turns of the job that the client went through. */
  turns: number;
  /** What a request lacked; the provider refuses it. */
  faults: string[];
  /** Earlier turns whose reasoning the last request held. */
  reasoning: number;
}

export interface JobProvider {
  answer(body: JsonObject): Answer;
  report: JobReport;
}

/** What the provider says in a format. @param format its id */
export function jobLanguage(format: string): Language {
  return LANGUAGES[format]!;
}

/** @param format id of the format that the provider speaks @param folder with the files of the job */
export function jobProvider(format: string, folder: string): JobProvider {
  const language = jobLanguage(format);
  const report: JobReport = { turns: 0, faults: [], reasoning: 0 };
  return {
    report,
    answer(body) {
      const asked = language.read(body);
      // A client that wants a title of the conversation declares no tools.
      if (asked.tools.length === 0)
        return language.write({ number: 9, reasoning: "", text: "A job", calls: [] }, asked.stream);
      try {
        const turn = nextTurn(asked, folder);
        report.turns = turn.number + 1;
        report.reasoning = asked.reasoning.length;
        return language.write(turn, asked.stream);
      } catch (thrown) {
        const { message } = thrown as Error;
        report.faults.push(message);
        return json({ error: { message, type: "invalid_request_error", code: null, param: null } }, 400);
      }
    },
  };
}

/** The turn after these results. @throws Error if the request lacks something */
function nextTurn({ tools, results, reasoning }: Asked, folder: string): Turn {
  const number = TURN_BY_RESULTS[results.length];
  if (number === undefined) throw new Error(`${results.length} results are no state of the job`);
  const wrong = reasoning.find((seal, turn) => seal !== sealOf(turn));
  if (wrong !== undefined) throw new Error(`the reasoning of an earlier turn came back as ${wrong}`);
  const call = (position: number, tool: Declared, input: string | JsonObject): Call => ({
    id: `call_t${number}_${position}`,
    name: tool.name,
    kind: tool.kind,
    input: typeof input === "string" ? input : JSON.stringify(input),
  });
  const demand = (text: string | undefined, wanted: string) => {
    if (!text?.includes(wanted)) throw new Error(`turn ${number} lacks "${wanted}": ${text?.slice(0, 200)}`);
  };
  switch (number) {
    case 0:
      return {
        number,
        reasoning: "I read both files first.",
        text: "I look at both files.",
        calls: Object.keys(FILES).map((path, position) => call(position, ...readCall(tools, folder, path))),
      };
    case 1:
      demand(results[0], "return a - b");
      demand(results[1], "assert add(2, 3) == 5");
      return { number, reasoning: "The sign is wrong.", calls: [call(0, ...editCall(tools))] };
    case 2:
      demand(readFileSync(join(folder, "calc.py"), "utf8"), FIXED);
      return {
        number,
        reasoning: "Now the test.",
        text: "I run the test.",
        calls: [call(0, ...runCall(tools, "python3 test_calc.py"))],
      };
    default:
      demand(results[3], "1 test passed");
      return { number, reasoning: "All is well.", text: DONE, calls: [] };
  }
}

const TURN_BY_RESULTS: readonly (number | undefined)[] = [0, undefined, 1, 2, 3];

/** What seals the reasoning of a turn: only this provider can read it. */
const sealOf = (turn: number) => Buffer.from(`sealed reasoning of turn ${turn}`).toString("base64");

type Made = [tool: Declared, input: string | JsonObject];

/** The first of these tools that the client has. */
function choose(
  tools: readonly Declared[],
  makers: Readonly<Record<string, (tool: Declared) => string | JsonObject>>,
): Made {
  for (const [name, make] of Object.entries(makers)) {
    const tool = tools.find((declared) => declared.name === name);
    if (tool) return [tool, make(tool)];
  }
  throw new Error(`the client has none of ${Object.keys(makers).join(", ")}`);
}

const inShell = (command: string) => ({
  exec_command: () => ({ cmd: command }),
  shell: () => ({ command: ["bash", "-lc", command] }),
  bash: () => ({ command, description: command }),
  run_command: () => ({ command }),
});

function readCall(tools: readonly Declared[], folder: string, path: string): Made {
  return choose(tools, {
    read_file: () => ({ path }),
    read: ({ properties }) => (properties["filePath"] ? { filePath: join(folder, path) } : { path }),
    view: () => ({ path: join(folder, path) }),
    ...inShell(`cat ${path}`),
  });
}

function editCall(tools: readonly Declared[]): Made {
  return choose(tools, {
    apply_patch: ({ kind, properties }) =>
      kind === "custom" ? PATCH : { [Object.keys(properties)[0] ?? "input"]: PATCH },
    edit: () => ({ path: "calc.py", edits: [{ oldText: "    return a - b", newText: FIXED }] }),
    write_file: () => ({ path: "calc.py", content: `def add(a, b):\n${FIXED}\n` }),
    ...inShell(`sed -i 's/^    return .*/${FIXED}/' calc.py`),
  });
}

const runCall = (tools: readonly Declared[], command: string): Made => choose(tools, inShell(command));

const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** Text, or the texts of parts. */
const textOf = (value: Json | undefined): string =>
  typeof value === "string"
    ? value
    : list(value)
        .map(({ text }) => (typeof text === "string" ? text : ""))
        .join("\n");

const declared = (name: Json | undefined, kind: Declared["kind"], schema?: Json): Declared => ({
  name: String(name),
  kind,
  properties: object(object(schema)["properties"]),
});

/** Four characters at a time. */
const inPieces = (text: string): string[] => text.match(/[^]{1,4}/g) ?? [];

const LANGUAGES: Readonly<Record<string, Language>> = {
  responses: {
    read: (body) => ({
      tools: list(body["tools"]).map(({ type, name, parameters }) =>
        declared(name, type === "custom" ? "custom" : "function", parameters),
      ),
      results: list(body["input"])
        .filter(({ type }) => String(type).endsWith("_call_output"))
        .map(({ output }) => textOf(output)),
      reasoning: list(body["input"])
        .filter(({ type }) => type === "reasoning")
        .map(({ encrypted_content }) => String(encrypted_content)),
      stream: body["stream"] === true,
    }),
    write(turn, stream) {
      const calls = turn.calls.map(({ id, name, kind, input }): ScriptedItem =>
        kind === "custom"
          ? { type: "custom_tool_call", callId: id, name, input }
          : { type: "function_call", callId: id, name, arguments: input },
      );
      const answer = {
        id: `turn_${turn.number}`,
        items: [
          { type: "reasoning", summary: [turn.reasoning], encrypted: sealOf(turn.number) } as const,
          ...(turn.text === undefined ? [] : [{ type: "message", text: turn.text } as const]),
          ...calls,
        ],
      };
      return stream ? sse(responsesStream(answer)) : json(responsesBody(answer));
    },
  },
  "chat-completions": {
    read: (body) => ({
      tools: list(body["tools"]).map(({ type, function: called, custom }) =>
        type === "custom"
          ? declared(object(custom)["name"], "custom")
          : declared(object(called)["name"], "function", object(called)["parameters"]),
      ),
      results: list(body["messages"])
        .filter(({ role }) => role === "tool")
        .map(({ content }) => textOf(content)),
      reasoning: list(body["messages"]).flatMap(({ reasoning_details: details }) =>
        list(details).flatMap(({ data }) => (data === undefined ? [] : [String(data)])),
      ),
      stream: body["stream"] === true,
    }),
    write(turn, stream) {
      const { number, reasoning, text = null, calls } = turn;
      const details = [{ type: "reasoning.encrypted", data: sealOf(number), format: "job-v1", index: 0 }];
      const inputOf = (kind: Call["kind"]) => (kind === "custom" ? "input" : "arguments");
      const finish = calls.length > 0 ? "tool_calls" : "stop";
      const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };
      if (!stream) {
        const tool_calls = calls.map(({ id, name, kind, input }) => ({
          ...{ id, type: kind, [kind]: { name, [inputOf(kind)]: input } },
        }));
        const message = {
          ...{ role: "assistant", content: text, reasoning_content: reasoning, reasoning_details: details },
          ...(calls.length > 0 ? { tool_calls } : {}),
        };
        const choices = [{ index: 0, message, finish_reason: finish }];
        return json({
          id: `chat_${number}`,
          object: "chat.completion",
          created: 1,
          model: "m",
          choices,
          usage,
        });
      }
      const piece = (index: number, more: object) => chatChunk({ tool_calls: [{ index, ...more }] });
      const written = calls.flatMap(({ id, name, kind, input }, index) => [
        piece(index, { id, type: kind, [kind]: { name, [inputOf(kind)]: "" } }),
        ...inPieces(input).map((text) => piece(index, { [kind]: { [inputOf(kind)]: text } })),
      ]);
      return sse([
        chatChunk({ role: "assistant", content: "" }),
        ...inPieces(reasoning).map((piece) => chatChunk({ reasoning_content: piece })),
        chatChunk({ reasoning_details: details }),
        ...inPieces(text ?? "").map((content) => chatChunk({ content })),
        ...written,
        chatChunk({}, finish),
        `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage })}\n\n`,
        "data: [DONE]\n\n",
      ]);
    },
  },
  messages: {
    read: (body) => {
      const blocks = list(body["messages"]).flatMap(({ content }) => list(content));
      return {
        tools: list(body["tools"]).map(({ name, input_schema }) => declared(name, "function", input_schema)),
        results: blocks.filter(({ type }) => type === "tool_result").map(({ content }) => textOf(content)),
        reasoning: blocks.filter(({ type }) => type === "thinking").map(({ signature }) => String(signature)),
        stream: body["stream"] === true,
      };
    },
    write(turn, stream) {
      const { number, reasoning, text, calls } = turn;
      const blocks: { whole: JsonObject; empty: JsonObject; deltas: JsonObject[] }[] = [
        {
          whole: { type: "thinking", thinking: reasoning, signature: sealOf(number) },
          empty: { type: "thinking", thinking: "", signature: "" },
          deltas: [
            ...inPieces(reasoning).map((thinking) => ({ type: "thinking_delta", thinking })),
            { type: "signature_delta", signature: sealOf(number) },
          ],
        },
      ];
      if (text !== undefined)
        blocks.push({
          whole: { type: "text", text },
          empty: { type: "text", text: "" },
          deltas: inPieces(text).map((piece) => ({ type: "text_delta", text: piece })),
        });
      for (const { id, name, input } of calls)
        blocks.push({
          whole: { type: "tool_use", id, name, input: JSON.parse(input) as Json },
          empty: { type: "tool_use", id, name, input: {} },
          deltas: inPieces(input).map((partial_json) => ({ type: "input_json_delta", partial_json })),
        });
      const stop = { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null };
      const message = {
        ...{
          id: `msg_${number}`,
          type: "message",
          role: "assistant",
          model: "m",
          content: [] as JsonObject[],
        },
        ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 12, output_tokens: 7 } },
      };
      if (!stream) return json({ ...message, ...stop, content: blocks.map(({ whole }) => whole) });
      return sse([
        messagesEvent("message_start", { message }),
        ...blocks.flatMap(({ empty, deltas }, index) => [
          messagesEvent("content_block_start", { index, content_block: empty }),
          ...deltas.map((delta) => messagesEvent("content_block_delta", { index, delta })),
          messagesEvent("content_block_stop", { index }),
        ]),
        messagesEvent("message_delta", { delta: stop, usage: { output_tokens: 7 } }),
        messagesEvent("message_stop"),
      ]);
    },
  },
};
