/** The gateway keys of this process. weir keeps and compares only their SHA-256 digests. */
import type { CompiledKey, Principal } from "../core/principal.ts";

/** Why a key does not admit a call. `admin`: it is a key for the admin API. */
export type KeyFault = "unknown" | "mistyped" | "expired" | "revoked" | "replaced" | "admin" | "unenforced";

/** A digest and its key. */
interface Slot {
  readonly key: CompiledKey;
  readonly digest: Buffer;
  /** The digest admits calls before this time. Milliseconds since 1970; `Infinity`: always. */
  readonly until: number;
}

/** Longer keys are invalid: weir does not hash them. Characters. */
const MAX_KEY_LENGTH = 4096;
const NO_DIGEST = Buffer.alloc(32);

/**
 * The keys of the config, which exist from the start, and those of the store, which arrive and change at run time. A key of the
 * config wins over one of the store with the same digest.
 */
export class Keyring {
  readonly #declared = new Map<string, Slot>();
  readonly #stored = new Map<string, Slot>();
  /** Texts that stand for a key for a moment: see {@link lend}. */
  readonly #lent = new Map<string, Slot>();
  /** The digests of each key of the store, by its id. */
  readonly #digestsOf = new Map<string, readonly string[]>();
  readonly #digest = Buffer.alloc(32);
  readonly #isMistyped: (text: string) => boolean;
  #isStoreClosed = false;
  #mustBeClosed = false;
  #isDoubted = false;
  #pending: PromiseWithResolvers<void> | undefined;
  #isOpen = true;

  /** @param isMistyped whether a text looks like a key with a typing error */
  constructor(isMistyped: (text: string) => boolean = () => false) {
    this.#isMistyped = isMistyped;
  }

  /** Every call is admitted without a key. The keyring then checks nothing. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The keys of the store may be incomplete or old: they admit no call, and neither does the lack of keys. */
  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** Number of keys that admit calls at this moment. */
  countValid(): number {
    const now = Date.now();
    const slots = [...this.#declared.values(), ...(this.#isDoubted ? [] : this.#stored.values())];
    return new Set(slots.filter(({ until }) => now < until).map(({ key }) => key.principal.id)).size;
  }

  /** The caller with a key. @returns undefined: the key with this id admits no call at the moment, or there is none */
  byId(id: string): Principal | undefined {
    const now = Date.now();
    for (const slots of [this.#declared, ...(this.#isDoubted ? [] : [this.#stored])])
      for (const { key, until } of slots.values())
        if (key.principal.id === id && now < until) return key.principal;
    return undefined;
  }

  /** Whether the key with an id admits no call and never will: it was revoked, or there is none. @returns false while keys are not known */
  isGone(id: string): boolean {
    if (this.#pending || this.#isDoubted) return false;
    const all = [...this.#declared.values(), ...this.#stored.values()];
    return all.every(({ key }) => key.principal.id !== id || key.revokedAt !== undefined);
  }

  /** More than one key for calls is known, valid or not: what a revoked key has left behind is not another's. */
  get hasSeveral(): boolean {
    if (this.#pending || this.#isDoubted) return true;
    let first: string | undefined;
    for (const slots of [this.#declared, this.#stored])
      for (const { key } of slots.values())
        if (key.isForCalls && (first ??= key.principal.id) !== key.principal.id) return true;
    return false;
  }

  /** Resolves when the keys of the store are known; absent when they are. */
  get pending(): Promise<void> | undefined {
    return this.#pending?.promise;
  }

  /** Admits no call without a key from now on, also while there is none: other machines can reach the gateway. */
  close(): void {
    this.#mustBeClosed = true;
    this.#settle();
  }

  /** The store may contain keys that this process does not know yet: an unknown key waits for {@link replace}. */
  expectStored(): void {
    this.#pending ??= Promise.withResolvers();
    this.#settle();
  }

  /** Sets the keys of the config. */
  declare(keys: readonly CompiledKey[]): void {
    this.#declared.clear();
    this.#lent.clear();
    for (const key of keys) enter(this.#declared, key);
    this.#settle();
  }

  /** Sets the keys of the store. @param closed a call key exists or has existed @param isDoubted see {@link isDoubted} */
  replace(keys: readonly CompiledKey[], closed: boolean, isDoubted = false): void {
    this.#stored.clear();
    this.#lent.clear();
    this.#digestsOf.clear();
    this.change(keys, [], closed, isDoubted);
    this.#pending?.resolve();
    this.#pending = undefined;
    this.#settle();
  }

  /** Changes keys of the store. @param removed ids */
  change(keys: readonly CompiledKey[], removed: readonly string[], closed: boolean, isDoubted = false): void {
    for (const id of removed) this.#remove(id);
    for (const key of keys) {
      this.#remove(key.principal.id);
      this.#digestsOf.set(key.principal.id, enter(this.#stored, key));
    }
    this.#isStoreClosed = closed;
    this.#isDoubted = isDoubted;
    this.#settle();
  }

  /**
   * The caller with a key. `undefined` if it does not admit the call. Constant time: a valid and an invalid key cost the same
   * hash, look-ups and comparison.
   */
  check(text: string): Principal | undefined {
    const slot = this.#find(text);
    if (slot === undefined) return undefined;
    return slot.until === Infinity || Date.now() < slot.until ? slot.key.principal : undefined;
  }

  /** Whether a text is a key, valid or not. */
  knows(text: string): boolean {
    return this.#find(text) !== undefined;
  }

  /** Why {@link check} did not find a key. */
  faultOf(text: string): { fault: KeyFault; until?: number; unenforced?: string } {
    const slot = this.#find(text);
    if (!slot) return { fault: this.#isMistyped(text) ? "mistyped" : "unknown" };
    const { isForCalls, revokedAt, expiresAt, unenforced } = slot.key;
    if (!isForCalls) return { fault: "admin" };
    if (revokedAt !== undefined) return { fault: "revoked", until: revokedAt };
    if (unenforced !== undefined) return { fault: "unenforced", unenforced };
    if (slot.until === expiresAt) return { fault: "expired", until: expiresAt };
    return { fault: "replaced", until: slot.until };
  }

  #find(text: string): Slot | undefined {
    if (text.length > MAX_KEY_LENGTH) return undefined;
    Bun.SHA256.hash(text, this.#digest);
    const name = this.#digest.toString("latin1");
    const [stored, lent] = this.#isDoubted ? [] : [this.#stored.get(name), this.#lent.get(name)];
    const slot = this.#declared.get(name) ?? stored ?? lent;
    const equal = crypto.timingSafeEqual(this.#digest, slot?.digest ?? NO_DIGEST);
    return equal ? slot : undefined;
  }

  /**
   * Admits calls with another text as calls of a key, until a time or until the key changes.
   * @param id of the key @param until milliseconds since 1970 @returns whether the key admits calls
   */
  lend(id: string, sha256: string, until: number): boolean {
    const now = Date.now();
    const slots = [...this.#declared.values(), ...this.#stored.values()];
    const owner = slots.find((slot) => slot.key.principal.id === id && now < slot.until);
    for (const [name, lent] of this.#lent) if (lent.until <= now) this.#lent.delete(name);
    if (!owner) return false;
    const digest = Buffer.from(sha256, "hex");
    const slot = { key: owner.key, digest, until: Math.min(until, owner.until) };
    this.#lent.set(digest.toString("latin1"), slot);
    return true;
  }

  #remove(id: string): void {
    for (const name of this.#digestsOf.get(id) ?? [])
      if (this.#stored.get(name)?.key.principal.id === id) this.#stored.delete(name);
    this.#digestsOf.delete(id);
    for (const [name, { key }] of this.#lent) if (key.principal.id === id) this.#lent.delete(name);
  }

  #settle(): void {
    const isClosed = this.#isDoubted || this.#mustBeClosed || this.#isStoreClosed || this.#declared.size > 0;
    this.#isOpen = !isClosed && this.#pending === undefined;
  }
}

/** @returns the names of the digests in the map */
function enter(slots: Map<string, Slot>, key: CompiledKey): string[] {
  return key.digests.map(({ sha256, until = Infinity }) => {
    const digest = Buffer.from(sha256, "hex");
    const name = digest.toString("latin1");
    const { isForCalls, revokedAt, unenforced, expiresAt = Infinity } = key;
    const isValid = isForCalls && revokedAt === undefined && unenforced === undefined;
    slots.set(name, { key, digest, until: isValid ? Math.min(until, expiresAt) : 0 });
    return name;
  });
}
