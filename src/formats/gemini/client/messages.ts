/** Decodes the system instruction and the contents into canonical turns. */
import type { Block, ReasoningBlock, Turn } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { legacyCallId } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { list, text } from "../../shared/read.ts";
import { dataOf, decodeMedia, decodeResponse, foreignPart, reportDetails } from "./content.ts";
import { decodeSignature, SENTINEL } from "../reasoning.ts";
import { fault } from "../../shared/request-fault.ts";
import type { Spell } from "./tools.ts";

/** Decodes a request's turns. @throws GatewayError for parts without data */
export function decodeTurns(
  { systemInstruction, contents }: JsonObject,
  spell: Spell,
  context: CodecContext,
): Turn[] {
  const history = new History(spell, context);
  if (isObject(systemInstruction)) history.add(systemInstruction, "systemInstruction", "system");
  for (const [index, content] of list(contents).entries()) {
    const path = `contents[${index}]`;
    if (!isObject(content)) throw fault(path, "an object");
    history.add(content, path, content.role === "model" ? "assistant" : "user");
  }
  return history.turns.filter(({ role, blocks }) => role !== "system" || blocks.length > 0);
}

/** A call that has no response yet. */
interface OpenCall {
  id: string;
  name: string;
}

/**
 * Decodes one content after another. Calls and responses need no ids: they belong together by name and order. Contents of the
 * model that follow each other are one turn, because the SDK keeps each record of a stream as a content.
 */
class History {
  readonly turns: Turn[] = [];
  readonly #spell: Spell;
  readonly #context: CodecContext;
  /** Calls of the last turn of the model, in order. */
  #open: OpenCall[] = [];
  #contents = 0;

  constructor(spell: Spell, context: CodecContext) {
    this.#spell = spell;
    this.#context = context;
  }

  add({ parts }: JsonObject, contentPath: string, role: Turn["role"]): void {
    const path = this.#spell(contentPath);
    const { blocks } = this.#turn(role, path);
    for (const [index, part] of list(parts).entries())
      this.#decodePart(part, `${path}.parts[${index}]`, index, blocks);
    this.#contents++;
  }

  #turn(role: Turn["role"], path: string): Turn {
    const last = this.turns.at(-1);
    if (role === "assistant" && last?.role === "assistant") return last;
    if (role === "assistant") this.#open = [];
    const turn: Turn = { role, blocks: [], path };
    this.turns.push(turn);
    return turn;
  }

  #decodePart(part: Json, path: string, index: number, blocks: Block[]): void {
    if (!isObject(part)) throw fault(path, "an object");
    reportDetails(part, path, (lost) => this.#context.reportLoss("dropped", lost));
    const signature = text(part.thoughtSignature);
    if (part.thought === true && typeof part.text === "string" && part.text !== "") {
      blocks.push(signedThought(part.text, signature, path));
      return;
    }
    const data = dataOf(part);
    const isEmpty = data === undefined || (data === "text" && part.text === "");
    if (signature && signature !== SENTINEL) addSignature(signature, isEmpty, path, blocks);
    else if (data === undefined && !hasOther(part))
      throw fault(path, "an object with text, media, a function call or a function response");
    if (isEmpty && signature) return;
    blocks.push(this.#decodeData(part, data, path, index));
  }

  #decodeData(part: JsonObject, data: ReturnType<typeof dataOf>, path: string, index: number): Block {
    switch (data) {
      case "text":
        return { type: "text", text: String(part.text), path };
      case "functionCall":
        return this.#decodeCall(part.functionCall as JsonObject, path, index);
      case "functionResponse":
        return this.#decodeResponse(part.functionResponse as JsonObject, path, index);
      case "inlineData":
      case "fileData":
        return decodeMedia(part, path);
      default:
        return foreignPart(part, path);
    }
  }

  #decodeCall(call: JsonObject, path: string, index: number): Block {
    const name = String(call.name);
    const id = text(call.id) || legacyCallId(this.#contents, `${index}:${name}`);
    this.#open.push({ id, name });
    return {
      type: "tool-call",
      id,
      name,
      input: JSON.stringify(call.args ?? {}),
      inputPath: this.#spell(`${path}.functionCall.args`),
      kind: "function",
      path,
    };
  }

  #decodeResponse(response: JsonObject, path: string, index: number): Block {
    const name = text(response.name) ?? "";
    const id = this.#callOf(text(response.id), name) ?? legacyCallId(this.#contents, `${index}:${name}`);
    const content = decodeResponse(response, this.#spell(`${path}.functionResponse`));
    return { type: "tool-result", id, ...(name !== "" && { name }), ...content, path };
  }

  /** The call with that id; else the first one of that name that has no response. */
  #callOf(id: string | undefined, name: string): string | undefined {
    const byId = id ? this.#open.findIndex((call) => call.id === id) : -1;
    const at = byId >= 0 ? byId : this.#open.findIndex((call) => call.name === name);
    return at < 0 ? id || undefined : this.#open.splice(at, 1)[0]!.id;
  }
}

/** Whether a part without data that weir knows has other data. */
function hasOther(part: JsonObject): boolean {
  return Object.keys(part).some(
    (name) => name !== "thought" && name !== "thoughtSignature" && part[name] != null,
  );
}

function signedThought(thought: string, signature: string | undefined, path: string): ReasoningBlock {
  if (!signature || signature === SENTINEL) return { type: "reasoning", text: thought, path };
  return { ...decodeSignature(thought, signature), path };
}

/**
 * Adds the reasoning that a signature stands for in front of its part: the thoughts before it, or a block without text. The
 * signature of an empty part belongs to no other part.
 */
function addSignature(signature: string, isEmpty: boolean, path: string, blocks: Block[]): void {
  const last = blocks.at(-1);
  const isThought = last?.type === "reasoning" && last.origin === undefined;
  const read = decodeSignature(isThought ? last.text : "", signature);
  if (isThought) blocks.pop();
  const block: ReasoningBlock = { ...read, path };
  if (!isEmpty || read.signature === undefined) blocks.push(block);
  else {
    const { signature: redacted, ...rest } = block;
    blocks.push({ ...rest, redacted });
  }
}
