/** Beta features of Claude at hosts that take them in the body, as a list, and only some of them. */
import type { CallView, Json, JsonObject } from "weir";

/** The client's beta features that the host accepts, and the others. */
interface Sorted {
  kept: readonly string[];
  dropped: readonly string[];
}

/**
 * Puts the beta features of the client's header into the member `anthropic_beta`, without those that the host does not accept, and
 * removes the members of the body that these allow.
 * @param accepted the features that the host accepts, separated by commas
 */
export function moveBetas(body: JsonObject, call: CallView, accepted: string): void {
  if (call.format !== "messages") return;
  const { kept, dropped } = sort(body, call, accepted);
  if (kept.length > 0) body.anthropic_beta = [...kept];
  else delete body.anthropic_beta;
  if (dropped.length === 0) return;
  const what = call.refused.includes("features") ? "refused one of" : "does not accept";
  call.reportLoss("dropped", "anthropic-beta", `the host ${what} ${dropped.join(", ")}`);
  for (const gate of GATES) {
    const isClosed = allows(gate, dropped) && !allows(gate, kept);
    if (isClosed) gate.remove(body, (path) => call.reportLoss("dropped", path, "its beta was dropped"));
  }
}

/** Removes the scopes of cache marks if the client uses their beta, for hosts that do not know the beta. */
export function dropCacheScopes(body: JsonObject, call: CallView): void {
  if (!call.headers.get("anthropic-beta")?.includes(SCOPES)) return;
  removeAllScopes(body, (path) => call.reportLoss("dropped", path, "the host does not accept it"));
}

/** Removes the labels for Anthropic's bills: hosts of other vendors refuse a request with them. */
export function dropTags(body: JsonObject, call: CallView): void {
  removeFrom(body, "tags", "tags", (path) => call.reportLoss("dropped", path, "the host does not accept it"));
}

function sort(body: JsonObject, call: CallView, accepted: string): Sorted {
  const inHeader = split(call.headers.get("anthropic-beta") ?? "");
  const inBody = Array.isArray(body.anthropic_beta) ? body.anthropic_beta.map(String) : [];
  const all = [...new Set([...inBody, ...inHeader])];
  const allowed = new Set(call.refused.includes("features") ? [] : split(accepted));
  return { kept: all.filter((beta) => allowed.has(beta)), dropped: all.filter((beta) => !allowed.has(beta)) };
}

function split(list: string): string[] {
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

type Report = (path: string) => void;

/** A member of the body that hosts refuse without its beta. */
interface Gate {
  /** How the names of its betas begin. */
  betas: readonly string[];
  remove(body: JsonObject, report: Report): void;
}

function allows({ betas }: Gate, names: readonly string[]): boolean {
  return names.some((name) => betas.some((begin) => name.startsWith(begin)));
}

/** How the name of the beta for scopes of cache marks begins. */
const SCOPES = "prompt-caching-scope-";

const GATES: readonly Gate[] = [
  {
    betas: ["context-management-"],
    remove: (body, report) => removeFrom(body, "context_management", "context_management", report),
  },
  {
    betas: ["tool-search-tool-", "advanced-tool-use-"],
    remove: (body, report) => removeFromTools(body, "defer_loading", report),
  },
  {
    betas: ["fine-grained-tool-streaming-"],
    remove: (body, report) => removeFromTools(body, "eager_input_streaming", report),
  },
  {
    betas: ["thinking-binding-controls-"],
    remove(body, report) {
      if (isObject(body.thinking))
        removeFrom(body.thinking, "block_binding", "thinking.block_binding", report);
    },
  },
  {
    betas: [SCOPES],
    remove: removeAllScopes,
  },
];

function removeAllScopes(body: JsonObject, report: Report): void {
  for (const part of ["system", "tools", "messages", "cache_control"]) removeScopes(body[part], part, report);
}

function removeFrom(object: JsonObject, name: string, path: string, report: Report): void {
  if (object[name] === undefined) return;
  delete object[name];
  report(path);
}

function removeFromTools({ tools }: JsonObject, name: string, report: Report): void {
  if (!Array.isArray(tools)) return;
  tools.forEach((tool, index) => {
    if (isObject(tool)) removeFrom(tool, name, `tools[${index}].${name}`, report);
  });
}

/** Removes `scope` from the cache marks at any depth. */
function removeScopes(value: Json | undefined, path: string, report: Report): void {
  if (Array.isArray(value)) value.forEach((item, index) => removeScopes(item, `${path}[${index}]`, report));
  if (!isObject(value)) return;
  if (path.endsWith("cache_control")) removeFrom(value, "scope", `${path}.scope`, report);
  else for (const [name, member] of Object.entries(value)) removeScopes(member, `${path}.${name}`, report);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
