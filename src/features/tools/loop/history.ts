/** The tools that ran in earlier answers of a conversation, as calls with results that every model understands. */
import type { Block, ToolCallBlock, ToolResultBlock, Turn } from "../../../core/chat.ts";
import type { HostedDeclaration } from "../../../core/events.ts";
import type { HostedCodec, HostedPast, PastResult } from "../../../core/format.ts";
import { isObject } from "../../../core/json.ts";
import type { Offer } from "./offer.ts";

/** Reads what a block says; undefined for a block that is about no tool of a server. */
export type ReadPast = (block: Block) => HostedPast | undefined;

/** @param codec absent: the format has no words for such tools */
export function pastReader(format: string, codec: HostedCodec | undefined): ReadPast {
  return (block) =>
    codec && block.type === "foreign" && block.format === format && isObject(block.value)
      ? codec.past(block.value)
      : undefined;
}

/** The lists of tools that are in a conversation, by the names of their servers. */
export function listsIn(
  turns: readonly Turn[],
  read: ReadPast,
): ReadonlyMap<string, readonly HostedDeclaration[]> {
  const pasts = turns.flatMap(({ blocks }) => blocks.flatMap((block) => read(block) ?? []));
  return new Map(pasts.flatMap((past) => (past.type === "list" ? [[past.server, past.tools] as const] : [])));
}

/** A call that the user has allowed, and whose result is to come. */
export interface Allowed {
  readonly call: ToolCallBlock;
  readonly result: ToolResultBlock;
  /** The id of the request, as the client knows it. */
  readonly request: string;
}

export interface History {
  readonly turns: Turn[];
  readonly allowed: readonly Allowed[];
}

const UNKNOWN: PastResult = { text: "The result of this call is not in the conversation.", isError: true };
/** In front of the ids of calls that have run, where the format has no words for them. */
const RAN = "call_w1_";
const DENIED = "The user did not allow this call.";

export function readHistory(turns: readonly Turn[], offer: Pick<Offer, "nameOf">, read: ReadPast): History {
  const reader = new HistoryReader(turns, offer, read);
  for (const turn of turns) reader.add(turn);
  return reader.end();
}

type Consent = Extract<HostedPast, { type: "consent" }>;
type PastCall = Pick<Extract<HostedPast, { type: "call" }>, "id" | "server" | "name" | "input">;

class HistoryReader {
  readonly #offer: Pick<Offer, "nameOf">;
  readonly #read: ReadPast;
  readonly #turns: Turn[] = [];
  /** Requests that were answered, and those whose calls have run. */
  readonly #answered = new Map<string, Consent>();
  readonly #ran = new Set<string>();
  /** Calls by id: their results may come later. */
  readonly #calls = new Map<string, Allowed>();
  #allowed: Allowed[] = [];
  /** The turn of the assistant that grows, and the results that follow it. */
  #said: Block[] = [];
  #results: ToolResultBlock[] = [];

  constructor(turns: readonly Turn[], offer: Pick<Offer, "nameOf">, read: ReadPast) {
    this.#offer = offer;
    this.#read = read;
    for (const past of turns.flatMap(({ blocks }) => blocks.flatMap((block) => read(block) ?? []))) {
      if (past.type === "consent") this.#answered.set(past.id, past);
      if (past.type === "call" && past.approval !== undefined) this.#ran.add(past.approval);
    }
  }

  add(turn: Turn): void {
    if (turn.role !== "assistant") {
      this.#flush();
      this.#turns.push(turn);
      return;
    }
    for (const block of turn.blocks) {
      const past = this.#read(block);
      if (past) this.#addPast(past, block);
      else this.#addSaid(block);
    }
    this.#flush();
  }

  end(): History {
    return { turns: this.#turns, allowed: this.#allowed };
  }

  #addSaid(block: Block): void {
    this.#goOn();
    // A call that has run, which a client of another format sends back without its result.
    if (block.type === "tool-call" && block.id.startsWith(RAN)) return;
    if (this.#results.length > 0 && block.type !== "tool-call") this.#flush();
    this.#said.push(block);
  }

  #addPast(past: HostedPast, { path }: Block): void {
    switch (past.type) {
      case "list":
        return;
      case "call":
        this.#goOn();
        return this.#call(past, path, past.result ?? UNKNOWN);
      case "result": {
        const { result } = this.#calls.get(past.id) ?? {};
        if (result) setResult(result, past.result);
        return;
      }
      case "request":
        return this.#request(past, path);
      case "consent": {
        const waiting = this.#calls.get(past.id);
        const mayRun = past.isAllowed && !this.#ran.has(past.id);
        // A call runs once, however often its consent is there.
        if (waiting && mayRun && !this.#allowed.includes(waiting)) this.#allowed.push(waiting);
      }
    }
  }

  #call({ id, server, name, input }: PastCall, path: string | undefined, came: PastResult): void {
    const own = this.#offer.nameOf(server, name) ?? safeName(`${server}__${name}`);
    const at = path === undefined ? {} : { path };
    const call: ToolCallBlock = { type: "tool-call", id, name: own, input, kind: "function", ...at };
    const result: ToolResultBlock = { type: "tool-result", id, blocks: [] };
    setResult(result, came);
    this.#said.push(call);
    this.#results.push(result);
    this.#calls.set(id, { call, result, request: id });
  }

  /** A call that has run stands for itself, and a request without an answer is none. */
  #request(past: PastCall, path: string | undefined): void {
    const answer = this.#answered.get(past.id);
    if (!answer || this.#ran.has(past.id) || this.#calls.has(past.id)) return;
    const denied = {
      text: answer.reason === undefined ? DENIED : `${DENIED} ${answer.reason}`,
      isError: true,
    };
    this.#call(past, path, answer.isAllowed ? UNKNOWN : denied);
  }

  /** The model has gone on: what was allowed before has run, or never will. */
  #goOn(): void {
    this.#allowed = [];
  }

  #flush(): void {
    if (this.#said.length > 0) this.#turns.push({ role: "assistant", blocks: this.#said });
    if (this.#results.length > 0) this.#turns.push({ role: "user", blocks: this.#results });
    this.#said = [];
    this.#results = [];
  }
}

function setResult(result: ToolResultBlock, { text, isError }: PastResult): void {
  result.blocks = [{ type: "text", text }];
  if (isError) result.error = true;
  else delete result.error;
}

/** A name that every provider takes. */
function safeName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, 64);
}
