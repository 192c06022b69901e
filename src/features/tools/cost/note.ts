/** Notes on a call which tools it carried, while the provider works on it, and which of them its answer called. */
import type { Attempt, Call } from "../../../core/call.ts";
import type { ChatEvent, Usage } from "../../../core/events.ts";
import { sha256 } from "../../../core/ids.ts";
import { type Noted, Slot } from "../../../core/slot.ts";
import { contextOf } from "../../../gateway/recording/request.ts";
import type { Incoming } from "../../../gateway/types.ts";
import { Booking } from "../../../ledger/worker/booking.ts";
import { toolSet, toolUse } from "../columns.ts";
import { addClasses, type Classes, noClasses, PromptTokens } from "./attribute.ts";
import { type Layout, layoutOf, notedName, sizesOf, type ToolSize } from "./layout.ts";

/** `unread`: the request has tools, and weir cannot read it. */
const LAYOUT = new Slot<Layout | "unread">();
/** Numbers of calls of tools in the answer, by tool. */
const CALLED = new Slot<Map<string, number>>();
/** The answer may have called tools that weir could not read. */
const UNREAD = new Slot<true>();

/** Most lists of tools whose sizes are remembered. */
const MOST_SETS = 200;
/** How long a worker takes it that the store knows a list of tools. Milliseconds. */
export const SENT_AGAIN_MS = 3_600_000;
/** Bytes of a prompt for each of its tokens, where weir does not see all of it. */
const TOKEN_BYTES = 4;

/** The tools that the call carried; undefined: none, or weir cannot read them. */
export function layoutIn(call: Noted): Layout | undefined {
  const layout = LAYOUT.get(call);
  return layout === "unread" ? undefined : layout;
}

/** Notes that the answer calls a tool. */
export function noteCall(call: Noted, tool: string): void {
  const called = CALLED.get(call) ?? new Map<string, number>();
  const name = notedName(tool);
  CALLED.set(call, called.set(name, (called.get(name) ?? 0) + 1));
}

export function hasCalls(call: Noted): boolean {
  return CALLED.get(call) !== undefined;
}

export function noteUnread(call: Noted): void {
  UNREAD.set(call, true);
}

/** The hook for translated and generated answers. */
export function observe(event: ChatEvent, view: Noted): void {
  if (event.type === "block-start" && event.block.type === "tool-call") noteCall(view, event.block.name);
}

export class ToolNotes {
  /** By the hash of their bytes in the client's request. */
  readonly #sizes = new Map<bigint | number, readonly ToolSize[]>();
  readonly #hashes = new WeakMap<readonly ToolSize[], string>();
  /** When the records had a list of tools last, by its hash. Monotonic milliseconds. */
  readonly #sent = new Map<string, number>();

  /** The bytes of an attempt are with the transport. */
  sent({ request, lane }: Attempt, incoming: Incoming): void {
    const { call } = incoming;
    if (LAYOUT.get(call) !== undefined) return;
    if (request) return keep(call, layoutOf(request));
    if (lane !== "native") return;
    try {
      const read = incoming.format.client.codec.decodeRequest(incoming.body, contextOf({ call }));
      keep(call, whole(layoutOf(read, this.#sizesIn(incoming, read.tools)), incoming));
    } catch {
      if (incoming.spanOf("tools")) LAYOUT.set(call, "unread");
    }
  }

  /** Equal lists cost one hash. */
  #sizesIn({ bytes, spanOf }: Incoming, tools: Parameters<typeof sizesOf>[0]): readonly ToolSize[] {
    const span = spanOf("tools");
    if (!span) return sizesOf(tools);
    const hash = Bun.hash(bytes.subarray(span.start, span.end));
    const known = this.#sizes.get(hash);
    // A client may name tools beside this member.
    if (known?.length === tools.length) return known;
    if (this.#sizes.size >= MOST_SETS) this.#sizes.clear();
    const sizes = sizesOf(tools);
    this.#sizes.set(hash, sizes);
    return sizes;
  }

  /** The record of a call is written. */
  record(call: Call, attempts: readonly Attempt[]): void {
    const last = attempts.at(-1);
    if (!last || isPluginsAnswer(last)) return;
    const unread = UNREAD.get(call) ?? LAYOUT.get(call) === "unread";
    const layout = layoutIn(call) ?? (last.request && layoutOf(last.request));
    if (!layout || (layout.tools.length === 0 && layout.called.size === 0)) {
      if (unread) toolUse.set(call, { set: "", bytes: 0, unread });
      return;
    }
    const usage = last.booking instanceof Booking ? (last.booking.estimate ?? last.usage) : last.usage;
    const set = this.#hashOf(layout.tools);
    const bytes = layout.isPart ? Math.max(layout.bytes, tokensIn(usage) * TOKEN_BYTES) : layout.bytes;
    toolUse.set(call, {
      set,
      bytes,
      ...listed(
        "results",
        [...resultsIn(layout, bytes, usage)].map(([tool, { uncached, write, read }]): ResultColumn => [
          ...([tool, uncached, write, read] as const),
        ]),
      ),
      ...listed("errors", [...layout.errors]),
      ...listed("calls", [...(CALLED.get(call) ?? [])]),
      ...(unread && { unread }),
    });
    if (this.#isDue(set))
      toolSet.set(
        call,
        layout.tools.map(({ name, bytes, isHosted }) => [name, bytes, isHosted ? 1 : 0]),
      );
  }

  #hashOf(tools: readonly ToolSize[]): string {
    let hash = this.#hashes.get(tools);
    if (hash === undefined) this.#hashes.set(tools, (hash = sha256(JSON.stringify(tools)).slice(0, 16)));
    return hash;
  }

  #isDue(set: string): boolean {
    const now = performance.now();
    if (now - (this.#sent.get(set) ?? -Infinity) < SENT_AGAIN_MS) return false;
    if (this.#sent.size >= MOST_SETS) this.#sent.clear();
    this.#sent.set(set, now);
    return true;
  }
}

/** A plugin has answered itself, such as the loop of tools: no model has read the tools. Its name is the source of its answer. */
function isPluginsAnswer({ target: { lane, provider } }: Attempt): boolean {
  return lane === "generated" && provider.source === provider.name;
}

function keep(call: Call, layout: Layout): void {
  LAYOUT.set(call, layout);
}

/** A request that continues an answer which its provider keeps is the end of a prompt. */
function whole(layout: Layout, { format, spanOf }: Incoming): Layout {
  const previous = format.client.beside.stored?.members.previous;
  const isPart = previous !== undefined && spanOf(previous) !== undefined;
  return isPart ? { ...layout, isPart } : layout;
}

/** Tokens of the results in a conversation, by tool; also of those that it has only calls of. @param bytes of the whole prompt */
export function resultsIn(
  { results, called }: Layout,
  bytes: number,
  usage: Usage,
): ReadonlyMap<string, Classes> {
  const prompt = new PromptTokens(bytes, usage);
  const tokens = new Map<string, Classes>([...called].map((tool) => [tool, noClasses()]));
  for (const { tool, from, to } of results) addClasses(tokens.get(tool)!, prompt.between(from, to));
  return tokens;
}

type ResultColumn = [tool: string, uncached: number, write: number, read: number];

const tokensIn = ({ input, cacheRead, cacheWrite }: Usage) => input + cacheRead + cacheWrite;

function listed<Name extends string, Entry>(name: Name, list: Entry[]): { [Member in Name]?: Entry[] } {
  return (list.length === 0 ? {} : { [name]: list }) as { [Member in Name]?: Entry[] };
}
