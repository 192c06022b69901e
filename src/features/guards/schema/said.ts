/** What an answer says, and what is wrong with it. */
import type { ChatRequest } from "../../../core/chat.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Shape } from "./section.ts";
import type { SchemaFault } from "./rules.ts";
import { schemaFaults } from "./validate.ts";

interface Called {
  readonly name: string;
  /** JSON text. */
  input: string;
}

export interface Said {
  readonly text: string;
  /** Calls of functions that others run. */
  readonly calls: readonly Called[];
  /** The model refuses, and gives no answer. */
  readonly isRefusal: boolean;
}

/** Something that does not match its schema. */
export interface Mismatch {
  /** The tool; absent: the text of the answer. */
  readonly tool?: string;
  readonly faults: readonly SchemaFault[];
}

export function saidBy(events: readonly ChatEvent[]): Said {
  const calls: Called[] = [];
  let text = "";
  let isRefusal = false;
  const grow = new Map<number, (delta: string) => void>();
  for (const event of events)
    if (event.type === "block-start") {
      const { block, index } = event;
      if (block.type === "tool-call" && block.kind === "function") {
        const call: Called = { name: block.name, input: "" };
        calls.push(call);
        grow.set(index, (delta) => void (call.input += delta));
      } else if (block.type === "text") grow.set(index, (delta) => void (text += delta));
      else if (block.type === "refusal") isRefusal = true;
    } else if (event.type === "block-delta") grow.get(event.index)?.(event.delta);
    else if (event.type === "message-end") isRefusal ||= event.reason.kind === "content-filter";
  return { text, calls, isRefusal };
}

/** The schemas by which a guard checks the answers to a request. */
export class Wanted {
  readonly #tools: ReadonlyMap<string, JsonObject>;
  readonly #answer: JsonObject | undefined;

  constructor({ tools, answer }: Shape, { tools: declared, answerFormat }: ChatRequest) {
    const functions = tools ? declared : [];
    this.#tools = new Map(
      functions.flatMap(({ kind, name, parameters }) =>
        kind === "function" && parameters ? [[name, parameters] as const] : [],
      ),
    );
    const own = answerFormat?.type === "json-schema" ? answerFormat.schema : undefined;
    this.#answer = typeof answer === "object" ? answer : answer ? own : undefined;
  }

  get isEmpty(): boolean {
    return this.#tools.size === 0 && this.#answer === undefined;
  }

  /** @param restored a text with the values of the caller in place of tokens */
  check({ text, calls, isRefusal }: Said, restored: (json: string) => string): Mismatch[] {
    const found: Mismatch[] = [];
    for (const { name, input } of calls) {
      const schema = this.#tools.get(name);
      const faults = schema ? faultsOf(schema, input.trim() === "" ? "{}" : restored(input)) : [];
      if (faults.length > 0) found.push({ tool: name, faults });
    }
    const isAnswer = !isRefusal && (calls.length === 0 || text.trim() !== "");
    const faults = this.#answer && isAnswer ? faultsOf(this.#answer, restored(text)) : [];
    // A model that calls tools may say something beside that.
    if (faults.length > 0 && calls.length === 0) found.push({ faults });
    return found;
  }
}

function faultsOf(schema: JsonObject, text: string): SchemaFault[] {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return [{ path: "", clause: "is no valid JSON" }];
  }
  return schemaFaults(schema, value);
}

const MOST_WORDS = 3;

/** `the arguments of the tool "send" do not match its schema: to is required`. */
export function inWords({ tool, faults }: Mismatch, most = MOST_WORDS): string {
  const what = tool === undefined ? "it does" : `the arguments of the tool ${JSON.stringify(tool)} do`;
  const said = faults
    .slice(0, most)
    .map(({ path, clause }) => `${path === "" ? "the value" : path} ${clause}`);
  return `${what} not match the schema: ${said.join("; ")}`;
}
