/** The tool calls of a turn that have no result yet: clients name the call of a result by id, by name, or not at all. */
import type { ToolCallBlock } from "../../core/chat.ts";

/** Calls without a result; lookups take constant time. */
export class OpenCalls {
  readonly #calls: readonly ToolCallBlock[];
  #found: Lists | undefined;

  constructor(calls: readonly ToolCallBlock[]) {
    this.#calls = calls;
  }

  /** Made at the first lookup: most turns have no calls, and calls that nothing answers need none. */
  get #lists(): Lists {
    return (this.#found ??= listsOf(this.#calls));
  }

  takeById(id: string): ToolCallBlock | undefined {
    return this.#takeFirst(this.#lists.byId.get(id));
  }

  /** Takes the first open call of this name; without a name, the first open call. */
  takeByName(name: string | undefined): ToolCallBlock | undefined {
    if (name !== undefined) return this.#takeFirst(this.#lists.byName.get(name));
    const { left } = this.#lists;
    const [first] = left;
    if (first) left.delete(first);
    return first;
  }

  /** Takes the first open call of a list; the lists are in reverse order. */
  #takeFirst(calls: ToolCallBlock[] = []): ToolCallBlock | undefined {
    for (let call = calls.pop(); call; call = calls.pop()) if (this.#lists.left.delete(call)) return call;
    return undefined;
  }
}

interface Lists {
  left: Set<ToolCallBlock>;
  byId: Map<string, ToolCallBlock[]>;
  byName: Map<string, ToolCallBlock[]>;
}

function listsOf(calls: readonly ToolCallBlock[]): Lists {
  const lists: Lists = { left: new Set(calls), byId: new Map(), byName: new Map() };
  for (const call of calls.toReversed()) {
    enqueue(lists.byId, call.id, call);
    enqueue(lists.byName, call.name, call);
  }
  return lists;
}

function enqueue(lists: Map<string, ToolCallBlock[]>, key: string, call: ToolCallBlock): void {
  const list = lists.get(key);
  if (list) list.push(call);
  else lists.set(key, [call]);
}
