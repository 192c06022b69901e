/** Checks that the events of a plugin follow the rules in `core/events.ts`, on which the writers of answers rely. */
import type { ChatEvent, HostedStart } from "../../core/events.ts";
import { isObject } from "../../core/json.ts";

const BLOCKS = new Set(["text", "reasoning", "tool-call", "refusal", "image", "hosted-tool", "foreign"]);
const HOSTED_KINDS = new Set(["call", "approval", "list"]);
const REASONS = new Set(["stop", "stop-sequence", "length", "tool-calls", "content-filter", "pause"]);
const COUNTS = ["input", "cacheRead", "cacheWrite", "output", "reasoning"] as const;
const MORE_COUNTS = [
  "cacheWrite1h",
  "cacheReadAudio",
  "audioIn",
  "imageIn",
  "audioOut",
  "imageOut",
  "searches",
  "reported",
] as const;

export class EventRules {
  #begun = false;
  #next = 0;
  readonly #open = new Map<number, string>();
  /** The hosted tool that is open; no other block is. */
  #hosted: { start: HostedStart; runs: boolean } | undefined;

  /** @throws Error that names the rule which the event breaks */
  check(event: ChatEvent): void {
    const given: unknown = event;
    if (!isObject(given))
      throw new Error(`an event must be an object, but is ${given === null ? "null" : typeof given}`);
    if (!this.#begun && event.type !== "message-start") fail(event, "comes before message-start");
    switch (event.type) {
      case "message-start":
        return this.#start(event);
      case "block-start":
        return this.#startBlock(event);
      case "block-delta":
        return this.#delta(event);
      case "citation":
        if (!this.#open.has(event.index)) fail(event, `is for block ${event.index}, which is not open`);
        return isObject(event.citation) ? undefined : fail(event, "has no citation");
      case "block-end":
        return this.#endBlock(event);
      case "block-run":
        if (this.#open.get(event.index) !== "hosted-tool") fail(event, "is for no hosted tool");
        if (this.#hosted?.start.kind !== "call") fail(event, "is for a hosted tool that is not called");
        if (this.#hosted.runs) fail(event, "comes twice");
        this.#hosted.runs = true;
        return;
      case "usage":
        return checkUsage(event, event.usage, false);
      case "message-end":
        return this.#end(event);
      default:
        throw new Error(
          `unknown event type ${JSON.stringify(String((given as { type?: unknown }).type)).slice(0, 60)}`,
        );
    }
  }

  #start(event: Extract<ChatEvent, { type: "message-start" }>): void {
    if (this.#begun) fail(event, "comes twice");
    if (typeof event.id !== "string" || typeof event.model !== "string") fail(event, "needs id and model");
    if (event.usage !== undefined) checkUsage(event, event.usage, true);
    this.#begun = true;
  }

  #startBlock(event: Extract<ChatEvent, { type: "block-start" }>): void {
    const { block } = event;
    if (!isObject(block) || !BLOCKS.has(block.type)) fail(event, "has a block of an unknown type");
    if (event.index !== this.#next) fail(event, `has the index ${event.index} instead of ${this.#next}`);
    if (block.type === "tool-call" && (typeof block.id !== "string" || typeof block.name !== "string"))
      fail(event, "is a tool call without id or name");
    if (block.type === "image" && (typeof block.mediaType !== "string" || typeof block.data !== "string"))
      fail(event, "is an image without mediaType or data");
    if (block.type === "hosted-tool") checkHosted(event, block);
    const overlaps = [...this.#open.values()].some(
      (type) => type !== "tool-call" || block.type !== "tool-call",
    );
    if (overlaps) fail(event, "comes before the block before it has ended");
    this.#open.set(event.index, block.type);
    this.#hosted = block.type === "hosted-tool" ? { start: block, runs: false } : undefined;
    this.#next++;
  }

  #delta(event: Extract<ChatEvent, { type: "block-delta" }>): void {
    if (!this.#open.has(event.index)) fail(event, `is for block ${event.index}, which is not open`);
    if (typeof event.delta !== "string") fail(event, "has a delta that is not a string");
    if (this.#open.get(event.index) === "image")
      fail(event, "is for an image, which is whole from its start");
    if (this.#hosted?.runs) fail(event, "comes after the hosted tool began to run");
    if (this.#hosted?.start.kind === "list") fail(event, "is for a list, which has no arguments");
  }

  #endBlock(event: Extract<ChatEvent, { type: "block-end" }>): void {
    if (!this.#open.delete(event.index)) fail(event, `is for block ${event.index}, which is not open`);
    const kind = this.#hosted?.start.kind;
    this.#hosted = undefined;
    const { result } = event;
    if (kind === undefined || kind === "approval") {
      if (result !== undefined) fail(event, "has a result, but ends no call and no list of hosted tools");
      return;
    }
    const member = kind === "call" ? "output" : "tools";
    if (!isObject(result) || !(hasError(result) || isResult(result, member)))
      fail(event, `ends a hosted tool without ${member} or error`);
  }

  #end(event: Extract<ChatEvent, { type: "message-end" }>): void {
    if (this.#open.size > 0) fail(event, `leaves block ${[...this.#open.keys()][0]} open`);
    if (!isObject(event.reason) || !REASONS.has(event.reason.kind)) fail(event, "has an unknown reason");
    checkUsage(event, event.usage, true);
  }
}

function checkHosted(event: ChatEvent, { kind, id, server, name }: HostedStart): void {
  if (!HOSTED_KINDS.has(kind)) fail(event, "is a hosted tool of an unknown kind");
  if (typeof id !== "string" || !/^[\w-]{1,48}$/.test(id))
    fail(event, "is a hosted tool whose id is not 1 to 48 letters, digits, _ and -");
  if (typeof server !== "string" || typeof name !== "string")
    fail(event, "is a hosted tool without server or name");
}

function hasError(result: object): boolean {
  return typeof (result as { error?: unknown }).error === "string";
}

function isResult(result: object, member: "output" | "tools"): boolean {
  const { output, tools } = result as { output?: unknown; tools?: unknown };
  if (member === "output") return typeof output === "string";
  const isTool = (tool: unknown) =>
    isObject(tool) && typeof tool.name === "string" && isObject(tool.parameters);
  return Array.isArray(tools) && tools.every(isTool);
}

function checkUsage(event: ChatEvent, usage: unknown, whole: boolean): void {
  if (!isObject(usage)) fail(event, "has no usage");
  const counts = usage as Record<string, unknown>;
  for (const name of [...COUNTS, ...MORE_COUNTS]) {
    const count = counts[name];
    const isOptional = !whole || !COUNTS.some((required) => required === name);
    if (count === undefined && isOptional) continue;
    if (typeof count !== "number" || !(count >= 0))
      fail(event, `has a usage whose ${name} is not a number from 0 on`);
  }
  const { units } = counts as { units?: unknown };
  if (units !== undefined && !areUnits(units))
    fail(event, "has a usage whose units are not whole numbers from 0 on");
}

/** Whether a plugin gave whole numbers of units. */
export function areUnits(units: unknown): boolean {
  return (
    isObject(units) &&
    Object.values(units).every((count) => Number.isSafeInteger(count) && Number(count) >= 0)
  );
}

function fail(event: ChatEvent, clause: string): never {
  throw new Error(`the event ${event.type} ${clause}`);
}
