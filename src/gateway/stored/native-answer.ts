/**
 * Stores an answer that passes through the native lane: its origin if the provider stores it, else the whole answer. The bytes
 * stay the provider's, except for the member that says whether the answer is stored.
 */
import type { Attempt } from "../../core/call.ts";
import type { StreamSummary } from "../../core/format.ts";
import type { AnswerFollower } from "../../core/stored-codec.ts";
import type { JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { editMembers, scanBody } from "../../stream/scan.ts";
import { eventsIn, parseFrames, writeFrame } from "../../stream/sse.ts";
import type { StreamTap } from "../../stream/tap.ts";
import { changedMembers } from "../lanes/native-body.ts";
import type { StoredCall } from "./types.ts";

/** Stores a JSON answer. @returns its bytes, saying whether it is stored */
export async function keepAnswer(
  stored: StoredCall,
  bytes: Uint8Array,
  { answerId, isStored, usage }: StreamSummary,
  attempt: Attempt,
): Promise<Uint8Array> {
  switch (stored.keeperOf(attempt)) {
    case "none":
      return bytes;
    case "provider":
      if (answerId === undefined || !isStored || !stored.canKeep) return bytes;
      const items = stored.remembersItems ? itemsIn(bytes, stored) : [];
      if (await stored.keepOrigin(answerId, attempt, { isRunning: usage === undefined, items })) return bytes;
      return withStored(stored, bytes, () => false);
    case "weir":
      return withStored(stored, bytes, (answer) => stored.keep(answer, attempt));
  }
}

/** The ids of the items in a JSON answer, or in the data of an event. */
function itemsIn(json: Uint8Array | string, { codec }: StoredCall): readonly string[] {
  const value = parseJson(typeof json === "string" ? json : new TextDecoder().decode(json));
  return isObject(value) ? codec.itemIds(value) : [];
}

type Keep = (answer: JsonObject) => boolean | Promise<boolean>;

async function withStored(stored: StoredCall, bytes: Uint8Array, keep: Keep): Promise<Uint8Array> {
  const answer = parseJson(new TextDecoder().decode(bytes));
  if (!isObject(answer)) return bytes;
  const isStored = await keep(answer);
  const edits = changedMembers(answer, stored.codec.withStored(answer, isStored, stored.conversation));
  const { members } = scanBody(bytes, Infinity);
  return edits.size === 0 ? bytes : Buffer.concat(editMembers(bytes, edits, (name) => members.get(name)));
}

/** Stores a streamed answer. */
export interface StreamKeeper {
  /**
   * Takes complete events on their way to the client.
   * @returns the bytes to pass on; a promise for those with the last event, which must wait until the answer is stored
   */
  pass(bytes: Uint8Array, tap: StreamTap): Uint8Array | Promise<Uint8Array>;
}

/** `undefined` if the answer is not stored. */
export function streamKeeper(stored: StoredCall, attempt: Attempt): StreamKeeper | undefined {
  switch (stored.keeperOf(attempt)) {
    case "none":
      return undefined;
    case "provider":
      return stored.canKeep ? new OriginKeeper(stored, attempt) : undefined;
    case "weir":
      return new WholeKeeper(stored, attempt);
  }
}

/**
 * Stores the origin as soon as the id is known, so that the client can also cancel the answer while it runs, and again with the
 * items that have passed before the last event.
 */
class OriginKeeper implements StreamKeeper {
  readonly #stored: StoredCall;
  readonly #attempt: Attempt;
  readonly #follower: AnswerFollower;
  readonly #items = new Set<string>();
  #storing: Promise<boolean> | undefined;
  #isKept: boolean | undefined;
  #hasEnded = false;

  constructor(stored: StoredCall, attempt: Attempt) {
    this.#stored = stored;
    this.#attempt = attempt;
    this.#follower = stored.codec.follow();
  }

  pass(bytes: Uint8Array, { seen }: StreamTap): Uint8Array | Promise<Uint8Array> {
    const { answerId, isStored, terminated } = seen;
    if (answerId === undefined || !isStored) return bytes;
    if (this.#stored.remembersItems) this.#noteItems(bytes);
    this.#storing ??= this.#keep(answerId, []);
    if (!terminated) return bytes;
    if (!this.#hasEnded && this.#items.size > 0)
      this.#storing = this.#storing.then((isKept) => isKept && this.#keep(answerId, this.#items));
    else if (this.#isKept === true) return bytes;
    this.#hasEnded = true;
    return this.#storing.then((isKept) => (isKept ? bytes : denying(bytes, this.#follower)));
  }

  async #keep(answerId: string, items: Iterable<string>): Promise<boolean> {
    return (this.#isKept = await this.#stored.keepOrigin(answerId, this.#attempt, { items }));
  }

  #noteItems(bytes: Uint8Array): void {
    if (!isMarked(bytes, this.#follower)) return;
    for (const event of eventsIn(bytes)) {
      const [frame] = isMarked(event, this.#follower) ? parseFrames(event) : [];
      if (frame) for (const id of itemsIn(frame.data, this.#stored)) this.#items.add(id);
    }
  }
}

/** The events, saying that the answer is not stored. */
function denying(bytes: Uint8Array, follower: AnswerFollower): Uint8Array {
  return Buffer.concat(
    [...eventsIn(bytes)].map((event) => {
      const [frame] = parseFrames(event);
      const denied = frame && isMarked(event, follower) ? follower.withStored(frame, false) : undefined;
      return denied ? Buffer.from(writeFrame(denied)) : event;
    }),
  );
}

/** Stores the whole answer of a provider that does not store answers. */
class WholeKeeper implements StreamKeeper {
  readonly #stored: StoredCall;
  readonly #attempt: Attempt;
  readonly #follower: AnswerFollower;
  /** An event was too long to be read whole: the answer cannot be collected. */
  #isCut = false;

  constructor(stored: StoredCall, attempt: Attempt) {
    this.#stored = stored;
    this.#attempt = attempt;
    this.#follower = stored.codec.follow();
  }

  pass(bytes: Uint8Array, tap: StreamTap): Uint8Array | Promise<Uint8Array> {
    this.#isCut ||= tap.midEvent;
    return this.#isCut || !isMarked(bytes, this.#follower) ? bytes : this.#rewrite(bytes);
  }

  async #rewrite(bytes: Uint8Array): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for (const event of eventsIn(bytes)) {
      const [frame] = isMarked(event, this.#follower) ? parseFrames(event) : [];
      const answer = frame && this.#follower.read(frame);
      const isStored = answer ? await this.#stored.keep(answer, this.#attempt) : this.#stored.stores;
      const changed = frame && this.#follower.withStored(frame, isStored, this.#stored.conversation);
      pieces.push(changed ? Buffer.from(writeFrame(changed)) : event);
    }
    return Buffer.concat(pieces);
  }
}

function isMarked({ buffer, byteOffset, byteLength }: Uint8Array, { marks }: AnswerFollower): boolean {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return marks.some((mark) => bytes.includes(mark));
}
