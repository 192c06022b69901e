/** Writers for the calls of tools. */
import type { Tool } from "../../../core/chat.ts";
import type { BlockStart } from "../../../core/events.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { text } from "../../shared/read.ts";
import { readToolInput, ToolInputStream } from "../../shared/tool-input.ts";
import { WrappedInput } from "../../shared/wrapped-input.ts";
import { FORMAT } from "../own-fields.ts";
import { TOOL_KINDS, type ToolKind } from "../tool-kinds.ts";
import { type ItemWriter, type Output, type Status, Writer } from "./writer.ts";

type CallStart = BlockStart & { type: "tool-call" };

/** Creates the writer of a call: the declaration of the tool says which item it is. */
export function createCallWriter(block: CallStart, output: Output): ItemWriter {
  const tool = output.tool(block.name);
  const kind = kindOf(tool);
  if (kind) return new OwnCallWriter(block, kind, output);
  if (block.kind === "custom" || tool?.kind === "custom") return new CustomCallWriter(block, output);
  return new FunctionCallWriter(block, output);
}

/** The declaration of a tool with items of its own. */
function kindOf(tool: Tool | undefined): ToolKind | undefined {
  const type = tool?.format === FORMAT ? text(tool.value?.type) : undefined;
  return type === undefined ? undefined : getOwn(TOOL_KINDS, type);
}

/** Members of a call with its name, which a namespace splits. */
function nameMembers(name: string, output: Output): JsonObject {
  const declaration = output.tool(name)?.value;
  if (output.tool(name)?.format !== FORMAT || declaration?.type !== "namespace") return { name };
  const namespace = text(declaration.name) ?? "";
  return { name: name.slice(namespace === "" ? 0 : namespace.length + 2), namespace };
}

/** Writes the call of a function; its arguments are one JSON object. */
class FunctionCallWriter extends Writer implements ItemWriter {
  readonly #members: JsonObject;
  readonly #name: string;
  readonly #input = new ToolInputStream();
  #arguments = "";
  brokenCall?: string;

  constructor({ id, name }: CallStart, output: Output) {
    super(output);
    this.#name = name;
    this.#members = { call_id: output.ids.take(id), ...nameMembers(name, output) };
    this.open("function_call");
  }

  write(fragment: string): void {
    this.#grow(this.#input.push(fragment));
  }

  end(): void {
    const { rest, repair, broken } = this.#input.end();
    if (repair !== undefined)
      this.output.context.reportLoss("repaired", `output[${this.index}].arguments`, repair);
    if (broken) this.brokenCall = this.#name;
    this.#grow(rest);
    // Clients call JSON.parse on the arguments.
    if (this.#arguments === "") this.#grow("{}");
  }

  repair(): void {
    const { value, repair } = readToolInput(this.#arguments);
    this.output.context.reportLoss("repaired", `output[${this.index}].arguments`, repair);
    this.#arguments = JSON.stringify(value);
    this.brokenCall = undefined;
  }

  close(status: Status): void {
    this.emit("response.function_call_arguments.done", {
      name: this.#members.name!,
      arguments: this.#arguments,
    });
    this.done(status);
  }

  value(status: Status): JsonObject {
    return { id: this.id, type: "function_call", status, ...this.#members, arguments: this.#arguments };
  }

  #grow(delta: string): void {
    if (delta === "") return;
    this.#arguments += delta;
    this.emit("response.function_call_arguments.delta", { delta });
  }
}

/** Writes the call of a custom tool, whose input is text. */
class CustomCallWriter extends Writer implements ItemWriter {
  readonly #members: JsonObject;
  /** Absent if the provider knows custom tools itself. */
  readonly #wrapped: WrappedInput | undefined;
  #input = "";

  constructor({ id, name, kind }: CallStart, output: Output) {
    super(output);
    this.#wrapped = kind === "custom" ? undefined : new WrappedInput();
    this.#members = { call_id: output.ids.take(id), ...nameMembers(name, output) };
    this.open("custom_tool_call");
  }

  write(fragment: string): void {
    this.#grow(this.#wrapped ? this.#wrapped.push(fragment) : fragment);
  }

  end(): void {
    if (this.#wrapped) this.#grow(this.#wrapped.end());
  }

  close(status: Status): void {
    this.emit("response.custom_tool_call_input.done", { input: this.#input });
    this.done(status);
  }

  value(status: Status): JsonObject {
    return { id: this.id, type: "custom_tool_call", status, ...this.#members, input: this.#input };
  }

  #grow(delta: string): void {
    if (delta === "") return;
    this.#input += delta;
    this.emit("response.custom_tool_call_input.delta", { delta });
  }
}

/** Writes the call of a tool with items of its own, which have no deltas. */
class OwnCallWriter extends Writer implements ItemWriter {
  readonly #kind: ToolKind;
  readonly #name: string;
  readonly #callId: string;
  #arguments = "";
  #input: JsonObject = {};
  brokenCall?: string;

  constructor({ id, name }: CallStart, kind: ToolKind, output: Output) {
    super(output);
    this.#kind = kind;
    this.#name = name;
    this.#callId = output.ids.take(id);
    this.open(kind.call);
  }

  write(fragment: string): void {
    this.#arguments += fragment;
  }

  end(): void {
    const { value, broken } = readToolInput(this.#arguments);
    this.#input = isObject(value) ? value : {};
    if (broken) this.brokenCall = this.#name;
  }

  repair(): void {
    this.output.context.reportLoss("repaired", `output[${this.index}]`, "the arguments were not JSON");
    this.brokenCall = undefined;
  }

  close(status: Status): void {
    this.done(status);
  }

  value(status: Status): JsonObject {
    return {
      id: this.id,
      type: this.#kind.call,
      status,
      call_id: this.#callId,
      ...this.#kind.encode(this.#input),
    };
  }
}
