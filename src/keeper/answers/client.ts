/** The gateway's side of stored answers: implements `AnswerStore` by messages over a link. */
import type { Amendment, AnswerStore, ChainLink, ItemPage, PageRequest } from "../../core/answer-store.ts";
import type { JsonObject } from "../../core/json.ts";
import type { StoredAnswer, StoredItem } from "../../core/stored-answer.ts";
import type { Ask, Asks, FromKeeper, Op, PackedAnswer, PackedItem, Results } from "../protocol.ts";
import type { Connect, Link } from "../link.ts";

/** Maximum time for every request but `put`. Milliseconds. */
const READ_MS = 5_000;
/** Maximum time for the first connection. Milliseconds. */
const START_MS = 10_000;
/** Shortest time between two reports of answers that were not stored. Milliseconds. */
const REPORT_MS = 60_000;
/** Maximum number of answers of unknown outcome that are retracted after a failure of the keeper. */
const MAX_UNCLEAR = 10_000;

interface Pending {
  ask: Ask;
  /** Whether the keeper may have received the request. */
  isSent: boolean;
  timer: ReturnType<typeof setTimeout>;
  resolve(value: Results[Op] | undefined): void;
  reject(fault: Error): void;
}

export interface ClientOptions {
  /** Milliseconds since 1970, by the clock of the keeper; default: `Date.now`. */
  now?(): number;
  /** Called with a sentence when answers are not stored, at most once a minute. */
  onFault?(sentence: string): void;
}

export class AnswerClient implements AnswerStore {
  readonly #connect: Connect;
  readonly #options: ClientOptions;
  readonly #started = Promise.withResolvers<string | undefined>();
  #link: Link | undefined;
  #reportedAt = -Infinity;
  #isUp = false;
  #closed = false;
  #last = 0;
  /** By number, in the order in which they were asked. */
  readonly #pending = new Map<number, Pending>();
  /** What may be stored although its sender does not know it as stored. */
  #unclear: Asks["retract"][] = [];

  constructor(connect: Connect, options: ClientOptions = {}) {
    this.#connect = connect;
    this.#options = options;
  }

  /**
   * Connects to the keeper; requests before that wait.
   * @returns when the keeper is ready, with one sentence if it cannot open its file; it tries again at later requests
   */
  start(): Promise<string | undefined> {
    const timer = setTimeout(
      () => this.#started.resolve(`the keeper did not start within ${START_MS / 1000} s`),
      START_MS,
    );
    this.#link ??= this.#connect({
      up: (fault) => this.#up(fault),
      down: () => this.#down(),
      receive: (message) => this.#receive(message),
    });
    return this.#started.promise.finally(() => clearTimeout(timer));
  }

  put(answer: StoredAnswer, withinMs: number): Promise<Results["put"]> {
    return this.#ask("put", { answer: pack(answer), until: this.#now() + withinMs }, withinMs);
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  async get(id: string, owner: string, item?: string): Promise<StoredAnswer | undefined> {
    const found = await this.#ask("get", { id, owner, ...(item !== undefined && { item }) });
    return found && unpack(found);
  }

  async chain(id: string, owner: string): Promise<readonly ChainLink[] | "too-long" | undefined> {
    const links = await this.#ask("chain", { id, owner });
    if (links === undefined || links === "too-long") return links;
    return links.map(({ input, output, ...link }) => ({
      ...link,
      input: input.map(unpackItem),
      output: output.map(unpackItem),
    }));
  }

  async items(ids: readonly string[], owner: string): Promise<ReadonlyMap<string, JsonObject>> {
    const found = await this.#ask("items", { ids, owner });
    return new Map(found.map(({ id, value }) => [id, unpackValue(value)]));
  }

  async inputItems(id: string, owner: string, page: PageRequest): Promise<ItemPage | undefined> {
    const found = await this.#ask("inputItems", { id, owner, page });
    return found && { items: found.items.map(unpackItem), hasMore: found.hasMore };
  }

  amend(
    id: string,
    owner: string,
    { add = [], body, ...rest }: Amendment,
    withinMs = READ_MS,
  ): Promise<Results["amend"]> {
    const packed = { ...rest, add: add.map(packItem), ...(body && { body: packValue(body) }) };
    return this.#ask("amend", { id, owner, ...packed, until: this.#now() + withinMs }, withinMs);
  }

  async list(prefix: string, owner: string, limit: number, after = prefix): Promise<readonly StoredAnswer[]> {
    return (await this.#ask("list", { prefix, owner, limit, after })).map(unpack);
  }

  delete(id: string, owner: string): Promise<boolean> {
    return this.#ask("delete", { id, owner });
  }

  /** Ends the connection; the keeper of this process ends with it. Requests without a result reject. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#link?.close();
    this.#isUp = false;
    for (const number of this.#pending.keys()) this.#take(number)?.reject(new Error("the store is closed"));
  }

  #ask<Name extends Op>(op: Name, what: Asks[Name], withinMs = READ_MS): Promise<Results[Name]> {
    if (this.#closed) return Promise.reject(new Error("the store is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<Results[Name]>();
    const number = ++this.#last;
    this.#pending.set(number, {
      // The compiler does not see that the two types fit by their name.
      ask: { op, ...what } as unknown as Ask,
      isSent: false,
      timer: setTimeout(() => this.#giveUp(number), Math.max(1, withinMs)),
      resolve: (value) => resolve(value as Results[Name]),
      reject,
    });
    if (this.#isUp) this.#send(number);
    return promise;
  }

  #send(number: number): void {
    const pending = this.#pending.get(number);
    if (!pending) return;
    pending.isSent = true;
    this.#link?.send({ number, ask: pending.ask });
  }

  /** Removes a request whose outcome is known now. */
  #take(number: number): Pending | undefined {
    const pending = this.#pending.get(number);
    clearTimeout(pending?.timer);
    this.#pending.delete(number);
    return pending;
  }

  #giveUp(number: number): void {
    const pending = this.#take(number);
    if (!pending) return;
    const { ask, isSent } = pending;
    if (ask.op !== "put" && ask.op !== "amend")
      return pending.reject(new Error("the keeper did not answer in time"));
    if (isSent || (ask.op === "amend" && ask.again)) undoOf(ask).forEach((undo) => this.#retract(undo));
    pending.resolve("late");
    this.#report("the keeper did not store it in time");
  }

  #report(why: string): void {
    if (performance.now() - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = performance.now();
    this.#options.onFault?.(`an answer was not stored: ${why}`);
  }

  #receive(message: FromKeeper): void {
    if (!("number" in message)) return;
    const { number, value, error } = message;
    const pending = this.#take(number);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(new Error(error));
    if (pending?.ask.op === "put" && error !== undefined) this.#report(error);
  }

  #up(fault: string | undefined): void {
    this.#started.resolve(fault);
    this.#isUp = true;
    const unclear = this.#unclear;
    this.#unclear = [];
    for (const address of unclear) this.#retract(address);
    for (const [number, { isSent }] of this.#pending) if (!isSent) this.#send(number);
  }

  #down(): void {
    this.#isUp = false;
    for (const [number, pending] of this.#pending) {
      const { isSent, ask } = pending;
      if (!isSent) continue;
      if (ask.op === "amend") {
        // The next keeper sees whether it was made.
        Object.assign(pending, { ask: { ...ask, again: true }, isSent: false });
        continue;
      }
      this.#unclear.push(...undoOf(ask));
      const why = "the keeper ended before it answered";
      this.#take(number)?.reject(new Error(why));
      if (ask.op === "put") this.#report(why);
    }
    this.#unclear = this.#unclear.slice(-MAX_UNCLEAR);
  }

  /** Undoes a change of unknown outcome, again if the keeper ends before it has done so. */
  #retract(undo: Asks["retract"]): void {
    if (this.#isUp) void this.#ask("retract", undo).catch(() => {});
    else this.#unclear.push(undo);
  }
}

/** What undoes a request, if it has to be undone. */
function undoOf(ask: Ask): Asks["retract"][] {
  if (ask.op === "put") return [{ id: ask.answer.id, owner: ask.answer.owner }];
  if (ask.op === "amend" && ask.add.length > 0)
    return [{ id: ask.id, owner: ask.owner, items: ask.add.map(({ id }) => id) }];
  return ask.op === "retract" ? [ask] : [];
}

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

function pack({ body, input, output, ...answer }: StoredAnswer): PackedAnswer {
  return {
    ...answer,
    ...(body && { body: packValue(body) }),
    input: input.map(packItem),
    output: output.map(packItem),
  };
}

function unpack({ body, input, output, ...answer }: PackedAnswer): StoredAnswer {
  return {
    ...answer,
    ...(body && { body: unpackValue(body) }),
    input: input.map(unpackItem),
    output: output.map(unpackItem),
  };
}

function packItem({ id, value }: StoredItem): PackedItem {
  return { id, value: packValue(value) };
}

function unpackItem({ id, value }: PackedItem): StoredItem {
  return { id, value: unpackValue(value) };
}

function packValue(value: JsonObject): Uint8Array {
  return utf8.encode(JSON.stringify(value));
}

function unpackValue(value: Uint8Array): JsonObject {
  return JSON.parse(fromUtf8.decode(value)) as JsonObject;
}
