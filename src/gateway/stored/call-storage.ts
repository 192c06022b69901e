/** Finds what a call needs of stored answers, and stores its answer. */
import { keptNotes } from "../../core/answer-notes.ts";
import type { Attempt } from "../../core/call.ts";
import type { CodecContext } from "../../core/context.ts";
import type { GatewayError } from "../../core/error.ts";
import type { FoundItems, StoredAsk, StoredCodec } from "../../core/stored-codec.ts";
import type { JsonObject } from "../../core/json.ts";
import { heldItem, isHeld, type StoredAnswer, type StoredItem } from "../../core/stored-answer.ts";
import type { Gateway, Incoming } from "../types.ts";
import type { Plan } from "../routing/plan.ts";
import { findPrevious, hintFor, type Previous } from "./find-previous.ts";
import { refusesUnknown, refusesUnseen } from "./foreign.ts";
import { ownerOf } from "./owner.ts";
import { namesConversation, readAsk } from "./read-ask.ts";
import { extend } from "./extend-conversation.ts";
import { noteOf } from "./conversation-place.ts";
import { findConversation } from "./find-conversation.ts";
import { reading } from "./reading.ts";
import { type Keeper, type VendorRecord, RUNNING, type StoredCall } from "./types.ts";

export type StoreContext = Pick<Gateway, "answers" | "answerOptions">;

/** Items that a request names, as weir knows them. */
interface Named {
  /** The items that weir stores, by their ids. */
  items: ReadonlyMap<string, JsonObject>;
  /** Ids that the caller's key has not received, where another key may have. */
  unseen: ReadonlySet<string>;
}

const NO_ITEMS: Named = { items: new Map(), unseen: new Set() };

export class CallStorage implements StoredCall {
  readonly codec: StoredCodec;
  readonly #incoming: Incoming;
  readonly #context: StoreContext;
  readonly #ask: StoredAsk;
  readonly #owner: string;
  readonly #previous: Previous | undefined;
  readonly #items: ReadonlyMap<string, JsonObject>;
  readonly #unseen: ReadonlySet<string>;
  /** The conversation could not be extended. */
  #isLeft = false;

  private constructor(
    incoming: Incoming,
    context: StoreContext,
    ask: StoredAsk,
    previous?: Previous,
    { items, unseen }: Named = NO_ITEMS,
  ) {
    this.codec = incoming.format.client.beside.stored!;
    this.#incoming = incoming;
    this.#context = context;
    this.#ask = ask;
    this.#owner = ownerOf(incoming.call);
    this.#previous = previous;
    this.#items = items;
    this.#unseen = unseen;
  }

  /**
   * Reads what the request asks and finds it. At once if there is nothing to find.
   * @throws GatewayError `invalid-request` if the answer that it continues is unknown or belongs to another key, or if it
   * continues a conversation that may be of another key
   */
  static open(incoming: Incoming, context: StoreContext): CallStorage | Promise<CallStorage> {
    const codec = incoming.format.client.beside.stored!;
    const conversation = namesConversation(incoming, codec) && codec.conversations?.named(incoming.body);
    const ask = readAsk(incoming, codec, refusesUnseen(incoming.call, context.answerOptions));
    if (conversation) return CallStorage.#find(incoming, context, ask, conversation);
    if (ask.previous === undefined && ask.references.length + ask.partial.length === 0)
      return new CallStorage(incoming, context, ask);
    return CallStorage.#find(incoming, context, ask);
  }

  static async #find(
    incoming: Incoming,
    context: StoreContext,
    ask: StoredAsk,
    conversation?: string,
  ): Promise<CallStorage> {
    const previous =
      conversation !== undefined
        ? findConversation(conversation, incoming, context)
        : ask.previous === undefined
          ? undefined
          : findPrevious(ask.previous, incoming, context);
    const found = await Promise.all([previous, findNamed(ask, incoming, context)]);
    return new CallStorage(incoming, context, ask, ...found);
  }

  get pin(): string | undefined {
    return this.#previous?.at === "provider" ? this.#previous.deployment : undefined;
  }

  get conversation(): string | null | undefined {
    if (this.#isLeft) return null;
    return this.#previous?.at === "weir" ? this.#previous.conversation : undefined;
  }

  get stores(): boolean {
    return this.#ask.store !== false;
  }

  get canKeep(): boolean {
    return this.#context.answers !== undefined;
  }

  get added(): readonly JsonObject[] {
    const before = this.#previous?.at === "weir" ? this.#previous.items : [];
    return [...before, ...this.#items.values()];
  }

  narrow(plan: Plan): Plan {
    const { pin } = this;
    if (pin === undefined) return plan;
    const all = [plan.choices, ...plan.fallbacks, ...plan.larger].flat();
    const choice = all.find(({ target }) => target.deployment.name === pin && target.lane === "native");
    if (choice) return { choices: [choice], fallbacks: [], larger: [] };
    throw this.#unknown(`It is stored at ${pin}, and the model of this request is not served there.`);
  }

  keeperOf({ target, context }: Attempt): Keeper {
    // In a conversation of weir, weir has to see each answer.
    const storesThere = context.target.traits.storesAnswers === true && this.conversation === undefined;
    if (target.lane === "native" && (storesThere || this.pin !== undefined)) return "provider";
    return this.#ownKeeper;
  }

  get #ownKeeper(): "weir" | "none" {
    const isAnswer = this.#incoming.below === undefined;
    if (!isAnswer || this.#previous?.at === "elsewhere") return "none";
    if (!this.stores && this.conversation === undefined) return "none";
    return this.#context.answers ? "weir" : "none";
  }

  expanded(attempt: Attempt): JsonObject {
    this.#note(attempt, this.#ownKeeper);
    if (this.#ask.store === true && !this.#context.answers)
      attempt.reportLoss("dropped", this.codec.members.store, "weir keeps no answers; see responses.store");
    if (attempt.target.format === this.#incoming.format.id) this.#assertSeen(attempt);
    return this.#expand(attempt.context);
  }

  previewed(context: CodecContext): JsonObject {
    return this.#expand(context);
  }

  detached(attempt: Attempt): JsonObject | undefined {
    this.#assertSeen(attempt);
    const keeper = this.keeperOf(attempt);
    const isLost = this.#previous?.at === "elsewhere" && attempt.context.target.traits.storesAnswers;
    if (isLost && this.codec.isOwnId?.(this.#ask.previous!)) throw this.#unknown(OWN_ID_HINT);
    this.#note(attempt, keeper);
    const isExpanded = this.#previous?.at === "weir" || this.#items.size > 0;
    if (!isExpanded && keeper !== "weir") return undefined;
    const detached = this.codec.detached(this.#expand(attempt.context), keeper === "provider");
    const isOfConversation = this.#previous?.at === "weir" && this.#previous.place !== undefined;
    return isOfConversation ? this.codec.conversations!.portable(detached) : detached;
  }

  #note(attempt: Attempt, keeper: Keeper): void {
    attempt.storesAnswer = keeper === "weir" && this.stores;
    if (keeper === "weir") attempt.conversation = this.conversation;
  }

  converted(attempt: Attempt): JsonObject {
    return this.#previous && this.#previous.at !== "weir"
      ? this.#incoming.body
      : this.#expand(attempt.context);
  }

  #expand(context: CodecContext): JsonObject {
    const { body } = this.#incoming;
    const previous = this.#previous;
    if (previous?.at === "provider")
      throw this.#unknown(
        `It is stored at ${previous.deployment}, which continues it only for requests that are not translated.`,
      );
    if (previous?.at === "elsewhere") throw this.#unknown(hintFor(this.#context));
    const before = previous?.items ?? [];
    const own =
      this.conversation === undefined ? body : withoutMember(body, this.codec.members.conversation!);
    if (before.length === 0 && this.#ask.references.length === 0) return own;
    return this.codec.expand(own, { before, items: this.#items }, context);
  }

  async keep(answer: JsonObject, attempt: Attempt): Promise<boolean> {
    const { codec, conversation } = this;
    const parts = codec.split(answer);
    if (!parts || (await this.#isTaken(parts.id, attempt))) return false;
    const before: FoundItems = { before: [], items: this.#items };
    const { body } = this.#incoming;
    const own = this.#ask.references.length === 0 ? body : codec.expand(body, before, attempt.context);
    const input = codec.inputItems(own, parts.id);
    if (conversation != null) await this.#extend(conversation, [...input, ...parts.output], attempt);
    if (!this.stores) return false;
    const kept = conversation === undefined ? answer : codec.withStored(answer, true, this.conversation);
    const parent = this.#previous ? this.#ask.previous : undefined;
    const notes =
      this.#previous?.at === "weir" && conversation != null ? [noteOf(this.#previous.place!)] : [];
    return this.#put({ ...(codec.split(kept) ?? parts), ...this.#facts(), parent, input, notes }, attempt);
  }

  get remembersItems(): boolean {
    return this.canKeep && refusesUnknown(this.#incoming.call, this.#context.answerOptions);
  }

  keepOrigin(id: string, attempt: Attempt, origin: VendorRecord = {}): Promise<boolean> {
    return this.#put(
      {
        id,
        ...this.#facts(),
        deployment: attempt.target.deployment.name,
        status: origin.isRunning ? RUNNING : "completed",
        input: [],
        output: [...new Set(origin.items)].map(heldItem),
      },
      attempt,
    );
  }

  /** @throws GatewayError `not-found` for an item that the provider would look up for another key */
  #assertSeen({ target, context }: Attempt): void {
    if (this.#unseen.size === 0) return;
    const { references, partial } = this.#ask;
    const refers = target.lane === "native" ? references : [];
    const looksUp = context.target.traits.storesAnswers ? partial : [];
    const id = [...refers, ...looksUp].find((named) => this.#unseen.has(named));
    if (id !== undefined) throw this.codec.unknownItem(id, unseenHint(this.#context));
  }

  /** Some servers give several answers the same id: a later one must not change what the earlier one says. */
  async #isTaken(id: string, attempt: Attempt): Promise<boolean> {
    if (attempt.target.lane !== "native") return false;
    const earlier = await this.#context.answers?.get(id, this.#owner).catch(() => undefined);
    if (earlier) attempt.reportLoss("dropped", this.codec.members.store, "the provider used the id before");
    return earlier !== undefined;
  }

  #facts(): Pick<StoredAnswer, "owner" | "model" | "created" | "expires"> {
    const created = Date.now();
    const expires = created + this.#context.answerOptions.keepMs;
    return { owner: this.#owner, model: this.#incoming.call.model, created, expires };
  }

  async #put(answer: StoredAnswer, attempt: Attempt): Promise<boolean> {
    const { answers, answerOptions } = this.#context;
    if (!answers) return false;
    const { notes = [] } = keptNotes(this.#incoming.call);
    const all = [...(answer.notes ?? []), ...notes];
    const noted = { ...answer, ...(all.length > 0 && { notes: all }) };
    // The store itself logs why it rejects.
    const result = await answers.put(noted, answerOptions.commitMs).catch(() => "failed" as const);
    if (result === "stored") return true;
    attempt.reportLoss("dropped", this.codec.members.store, NOT_STORED[result]);
    return false;
  }

  /** Appends the items of a request and its answer to the conversation. */
  async #extend(id: string, add: readonly StoredItem[], attempt: Attempt): Promise<void> {
    const { answers, answerOptions } = this.#context;
    const { call } = this.#incoming;
    const { owner, expires } = this.#facts();
    const change = { add, expires, ...keptNotes(call) };
    const { outcome: result } = await extend(answers!, { id, owner }, change, {
      ...{ codec: this.codec.conversations!, callId: call.id, withinMs: answerOptions.commitMs },
    }).catch(() => ({ outcome: "failed" as const }));
    if (result === "stored") return;
    this.#isLeft = true;
    attempt.conversation = null;
    attempt.reportLoss("dropped", this.codec.members.conversation!, NOT_ADDED[result]);
  }

  #unknown(hint?: string): GatewayError {
    return this.codec.unknownPrevious(this.#ask.previous!, hint);
  }
}

const OWN_ID_HINT =
  "It is an id of weir, which does not have the answer; the answer of a compaction is continued by its output, sent as input.";

/** The same for an unknown item and for one of another key. */
function unseenHint(context: StoreContext): string {
  const why = hintFor(context) ?? "No answer that this key has received, and weir has kept, contains it.";
  return `${why} Send the item's content instead.`;
}

function withoutMember(body: JsonObject, member: string): JsonObject {
  const { [member]: _, ...rest } = body;
  return rest;
}

const NOT_STORED = {
  "too-large": "the answer is larger than weir stores",
  late: "the answer could not be stored in time",
  failed: "the answer could not be stored",
};

const NOT_ADDED = {
  unknown: "the conversation was deleted before the answer was complete",
  "too-large": "the conversation is larger than weir keeps",
  late: "the conversation could not be extended in time",
  taken: "the conversation has items of the same ids",
  failed: "the conversation could not be extended",
};

async function findNamed(
  { references, partial }: StoredAsk,
  { call }: Incoming,
  context: StoreContext,
): Promise<Named | undefined> {
  const checks = refusesUnseen(call, context.answerOptions);
  const ids = checks ? [...new Set([...references, ...partial])] : references;
  if (ids.length === 0) return undefined;
  const found = (await reading(context, (answers) => answers.items(ids, ownerOf(call)))) ?? new Map();
  return {
    items: new Map([...found].filter(([, value]) => !isHeld(value))),
    unseen: new Set(checks ? ids.filter((id) => !found.has(id)) : []),
  };
}
