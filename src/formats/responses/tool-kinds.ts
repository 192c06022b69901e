/**
 * The tools of this format with items of their own, which the client runs: weir declares them to other providers as functions
 * and turns the calls back into the items.
 */
import { isObject, type JsonObject } from "../../core/json.ts";
import { getOwn } from "../../core/own.ts";
import { list, number, text } from "../shared/read.ts";

export interface ToolKind {
  description: string;
  parameters: JsonObject;
  /** Type of the item that calls the tool. */
  call: string;
  /** Members of such an item besides type, id, status and call id, from the arguments of the function. */
  encode(input: JsonObject): JsonObject;
  /** The arguments of the function, from an item that a client sends back. */
  decode(item: JsonObject): JsonObject;
}

const strings = { type: "array", items: { type: "string" } };
const milliseconds = { type: "integer", description: "Time limit in milliseconds." };

/** Tools by type of their declaration, which is also the name of the function. */
export const TOOL_KINDS: Readonly<Record<string, ToolKind>> = {
  local_shell: {
    description: "Runs a command on the user's machine and returns its output.",
    parameters: {
      type: "object",
      properties: {
        command: { ...strings, description: "The program and its arguments." },
        workdir: { type: "string", description: "The directory to run it in." },
        timeout_ms: milliseconds,
      },
      required: ["command"],
    },
    call: "local_shell_call",
    encode: (input) => ({
      action: {
        type: "exec",
        command: list(input.command).map(String),
        env: {},
        ...given("working_directory", text(input.workdir)),
        ...given("timeout_ms", number(input.timeout_ms)),
      },
    }),
    decode: ({ action }) => {
      const { command, working_directory, timeout_ms } = isObject(action) ? action : {};
      return {
        command: list(command),
        ...given("workdir", text(working_directory)),
        ...given("timeout_ms", number(timeout_ms)),
      };
    },
  },
  shell: {
    description: "Runs shell commands on the user's machine, one after the other, and returns their output.",
    parameters: {
      type: "object",
      properties: {
        commands: { ...strings, description: "The commands, as for a shell." },
        timeout_ms: milliseconds,
      },
      required: ["commands"],
    },
    call: "shell_call",
    encode: (input) => ({
      action: {
        commands: list(input.commands).map(String),
        timeout_ms: number(input.timeout_ms) ?? null,
        max_output_length: null,
      },
    }),
    decode: ({ action }) => {
      const { commands, timeout_ms } = isObject(action) ? action : {};
      return { commands: list(commands), ...given("timeout_ms", number(timeout_ms)) };
    },
  },
  apply_patch: {
    description: "Creates, changes or deletes one file.",
    parameters: {
      type: "object",
      properties: {
        type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
        path: { type: "string", description: "Path of the file." },
        diff: {
          type: "string",
          description:
            "For create_file and update_file: the change as a V4A diff, without a header for the file.",
        },
      },
      required: ["type", "path"],
    },
    call: "apply_patch_call",
    encode: (input) => ({
      operation: {
        type: text(input.type) ?? "update_file",
        path: text(input.path) ?? "",
        ...(input.type !== "delete_file" && { diff: text(input.diff) ?? "" }),
      },
    }),
    decode: ({ operation }) => {
      const { type, path, diff } = isObject(operation) ? operation : {};
      return { type: text(type) ?? "update_file", path: text(path) ?? "", ...given("diff", text(diff)) };
    },
  },
  tool_search: {
    description: "Searches for further tools.",
    parameters: { type: "object", properties: {} },
    call: "tool_search_call",
    encode: (input) => ({ execution: "client", arguments: input }),
    decode: (item) => (isObject(item.arguments) ? item.arguments : {}),
  },
};

const BY_CALL = Object.fromEntries(Object.entries(TOOL_KINDS).map(([name, kind]) => [kind.call, name]));

/** The name of the tool that items of this type call; `undefined` for other items. */
export function toolOfCall(type: string): string | undefined {
  return getOwn(BY_CALL, type);
}

function given(name: string, value: string | number | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
