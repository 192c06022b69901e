/** The tool calls of a turn that have no result yet: clients name the call of a result by id, by name, or not at all. */
import type { ToolCallBlock } from "../../core/chat.ts";

/** Calls without a result; lookups take constant time. */
export class OpenCalls {
  readonly #left: Set<ToolCallBlock>;
  readonly #byId = new Map<string, ToolCallBlock[]>();
  readonly #byName = new Map<string, ToolCallBlock[]>();

  constructor(calls: readonly ToolCallBlock[]) {
    this.#left = new Set(calls);
    for (const call of [...calls].reverse()) {
      enqueue(this.#byId, call.id, call);
      enqueue(this.#byName, call.name, call);
    }
  }

  takeById(id: string): ToolCallBlock | undefined {
    return this.#takeFirst(this.#byId.get(id));
  }

  /** Takes the first open call of this name; without a name, the first open call. */
  takeByName(name: string | undefined): ToolCallBlock | undefined {
    if (name !== undefined) return this.#takeFirst(this.#byName.get(name));
    const [first] = this.#left;
    if (first) this.#left.delete(first);
    return first;
  }

  /** Takes the first open call of a list; the lists are in reverse order. */
  #takeFirst(calls: ToolCallBlock[] = []): ToolCallBlock | undefined {
    for (let call = calls.pop(); call; call = calls.pop()) if (this.#left.delete(call)) return call;
    return undefined;
  }
}

function enqueue(lists: Map<string, ToolCallBlock[]>, key: string, call: ToolCallBlock): void {
  const list = lists.get(key);
  if (list) list.push(call);
  else lists.set(key, [call]);
}
