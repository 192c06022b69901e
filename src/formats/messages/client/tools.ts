/** Decodes tools and tool choice. */
import type { Tool, ToolChoice } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { FORMAT } from "../own-fields.ts";
import { decodeCache } from "./content.ts";
import { missing } from "./check.ts";

/** Members of the canonical tool; all others go into `value`. */
const CANONICAL = new Set(["name", "description", "input_schema", "strict", "type", "cache_control"]);

/**
 * @param messages the undecoded conversation: it names the tools that a search has found, and system turns may add and remove tools
 */
export function decodeTools(tools: readonly Json[], messages: readonly Json[]): Tool[] {
  const declared = tools.filter(isObject);
  const searched = declared.some((tool) => String(tool.type ?? "").startsWith("tool_search_tool_"));
  const found = searched ? referencedTools(messages) : new Set<string>();
  const decoded = declared.map((tool, index) => {
    const hidden = searched && tool.defer_loading === true && !found.has(String(tool.name));
    const path = `tools[${index}]`;
    return hidden ? decodeForeignTool(tool, path) : decodeTool(tool, path);
  });
  return applyToolChanges(decoded, messages);
}

function decodeTool(tool: JsonObject, path: string): Tool {
  if (tool.type != null && tool.type !== "custom") return decodeTypedTool(tool, path);
  if (typeof tool.name !== "string" || tool.name === "") throw missing(`${path}.name`);
  const rest = Object.fromEntries(
    Object.entries(tool).filter(([key, value]) => !CANONICAL.has(key) && value != null),
  );
  const description = typeof tool.description === "string" ? tool.description : undefined;
  const examples = writeExamples(tool.input_examples);
  // For other formats the examples are part of the description; this format gets both members unchanged.
  if (examples && description !== undefined) rest.description = description;
  return {
    kind: "function",
    name: tool.name,
    path,
    memberPaths: { parameters: `${path}.input_schema`, strict: `${path}.strict` },
    ...((description !== undefined || examples) && {
      description: description ? description + examples : examples.trimStart(),
    }),
    ...(isObject(tool.input_schema) && { parameters: tool.input_schema }),
    ...(typeof tool.strict === "boolean" && { strict: tool.strict }),
    ...(Object.keys(rest).length > 0 && { format: FORMAT, value: rest }),
    ...decodeCache(tool.cache_control),
  };
}

function writeExamples(examples: Json | undefined): string {
  if (!Array.isArray(examples) || examples.length === 0) return "";
  return `\n\nExamples of its input:\n${examples.map((example) => JSON.stringify(example)).join("\n")}`;
}

function decodeForeignTool(tool: JsonObject, path: string): Tool {
  return {
    kind: "foreign",
    name: String(tool.name ?? tool.type ?? ""),
    path,
    ...(String(tool.type ?? "").startsWith("web_search") && { searchesWeb: true }),
    format: FORMAT,
    value: tool,
    ...decodeCache(tool.cache_control),
  };
}

/**
 * Typed tools that the client runs and whose input Anthropic documents: other formats get them as functions with this
 * schema. They are recognised by the prefix of their type, because the date after it changes more often than the input.
 */
const TYPED: { prefix: string; description: string; parameters: JsonObject }[] = [
  {
    prefix: "bash_",
    description: "Runs a command in a persistent bash session.",
    parameters: {
      type: "object",
      properties: {
        command: { type: "string", description: "The command to run." },
        restart: { type: "boolean", description: "Restarts the session instead of running a command." },
      },
    },
  },
  {
    prefix: "text_editor_",
    description: "Views, creates and edits text files.",
    parameters: {
      type: "object",
      properties: {
        command: { type: "string", enum: ["view", "create", "str_replace", "insert", "undo_edit"] },
        path: { type: "string", description: "Absolute path of a file or directory." },
        file_text: { type: "string", description: "For create: the content." },
        old_str: { type: "string", description: "For str_replace: the text to replace; it must occur once." },
        new_str: { type: "string", description: "For str_replace: what replaces it." },
        insert_line: {
          type: "integer",
          description: "For insert: the line behind which to insert; 0 is the top.",
        },
        insert_text: { type: "string", description: "For insert: the text." },
        view_range: {
          type: "array",
          items: { type: "integer" },
          description: "For view: first and last line; -1 is the end.",
        },
      },
      required: ["command", "path"],
    },
  },
  {
    prefix: "memory_",
    description: "Reads and writes files of the memory directory /memories.",
    parameters: {
      type: "object",
      properties: {
        command: { type: "string", enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
        path: { type: "string" },
        view_range: { type: "array", items: { type: "integer" } },
        file_text: { type: "string" },
        old_str: { type: "string" },
        new_str: { type: "string" },
        insert_line: { type: "integer" },
        insert_text: { type: "string" },
        old_path: { type: "string", description: "For rename." },
        new_path: { type: "string", description: "For rename." },
      },
      required: ["command"],
    },
  },
];

function decodeTypedTool(tool: JsonObject, path: string): Tool {
  const known = TYPED.find(({ prefix }) => String(tool.type).startsWith(prefix));
  if (!known || typeof tool.name !== "string") return decodeForeignTool(tool, path);
  return {
    kind: "function",
    name: tool.name,
    path,
    description: known.description,
    parameters: known.parameters,
    format: FORMAT,
    value: tool,
    ...decodeCache(tool.cache_control),
  };
}

/** Returns the tools that a search result or a system turn has loaded. */
function referencedTools(messages: readonly Json[]): Set<string> {
  const found = new Set<string>();
  const visit = (value: Json | undefined) => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    else if (isObject(value)) {
      if (value.type === "tool_reference") found.add(String(value.tool_name ?? value.name));
      visit(value.content);
      visit(value.tool_references);
      visit(value.tool);
    }
  };
  for (const message of messages) if (isObject(message)) visit(message.content);
  return found;
}

/** Whether a block changes the list of tools; such a block is not content. */
export function isToolChange(block: Json): block is JsonObject {
  return isObject(block) && (block.type === "tool_addition" || block.type === "tool_removal");
}

/** Returns the tools after the last `tool_addition` or `tool_removal`. */
function applyToolChanges(tools: Tool[], messages: readonly Json[]): Tool[] {
  const removed = new Map<string, Tool>();
  const current = [...tools];
  for (const block of messages.flatMap(blocksOf).filter(isToolChange)) {
    const change = isObject(block.tool) ? block.tool : {};
    const name = String(change.name ?? change.tool_name ?? "");
    const at = current.findIndex((tool) => tool.name === name);
    if (block.type === "tool_removal") {
      const [tool] = at >= 0 ? current.splice(at, 1) : [];
      if (tool) removed.set(name, tool);
    } else if (isObject(change.definition)) {
      current.push(decodeTool(change.definition, "messages"));
    } else if (at >= 0) current[at] = loaded(current[at]!);
    else if (removed.has(name)) current.push(removed.get(name)!);
  }
  return current;
}

function blocksOf(message: Json): Json[] {
  return isObject(message) && Array.isArray(message.content) ? message.content : [];
}

function loaded(tool: Tool): Tool {
  if (!tool.value || tool.value.defer_loading === undefined) return tool;
  const { defer_loading: _, ...value } = tool.value;
  return tool.kind === "foreign" ? decodeTool(value, "tools") : { ...tool, value };
}

/** Decodes `tool_choice`; no choice for undocumented types. */
export function decodeToolChoice(choice: Json | undefined): {
  toolChoice?: ToolChoice;
  parallelToolCalls?: boolean;
} {
  if (!isObject(choice)) return {};
  const parallel = choice.disable_parallel_tool_use === true ? { parallelToolCalls: false } : {};
  switch (choice.type) {
    case "auto":
      return { toolChoice: { type: "auto" }, ...parallel };
    case "any":
      return { toolChoice: { type: "required" }, ...parallel };
    case "none":
      return { toolChoice: { type: "none" }, ...parallel };
    case "tool":
      if (typeof choice.name !== "string") throw missing("tool_choice.name");
      return { toolChoice: { type: "tool", name: choice.name }, ...parallel };
    default:
      return parallel;
  }
}
