/**
 * Translates tool-call ids and tool names between formats.
 *
 * A format limits the characters and the length. An id or name that does not fit is replaced by its legal characters and a
 * hash of the original. The hash keeps similar ids distinct, and makes the result the same in the next turn and in another
 * process. Nothing is stored between requests: the mapping is derived from the history, in order, so an added turn never
 * changes earlier results. See src/formats/README.md#ids-and-names.
 */

/** The limits of a format. */
export interface IdRule {
  /** Pattern of ids that are kept unchanged. */
  legal: RegExp;
  /** Maximum number of characters. */
  length: number;
  /** Ids must consist of exactly `length` letters and digits. */
  exact?: boolean;
}

/** The rule for tool names and for the ids that clients get: every vendor accepts these characters. */
const NAME_RULE: IdRule = { legal: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 };

const HASH_LENGTH = 16;

/**
 * Maps the tool-call ids of one request to ids for the provider. Calls and results must be passed in the order of the
 * history: some servers repeat ids (`call_0` in every turn), and each result belongs to the call of its own turn.
 */
export class ToolIds {
  readonly #rule: IdRule;
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();
  #open = new Map<string, string[]>();

  constructor(rule: IdRule) {
    this.#rule = rule;
  }

  /** Begins a turn with calls. Unanswered calls of earlier turns no longer accept results. */
  beginTurn(): void {
    this.#open = new Map();
  }

  /** The provider's id for a call. */
  call(id: string): string {
    const count = (this.#counts.get(id) ?? 0) + 1;
    this.#counts.set(id, count);
    const renamed = fit(count === 1 ? id : `${id}_${count}`, this.#rule, this.#taken);
    this.#taken.add(renamed);
    const open = this.#open.get(id);
    if (open) open.push(renamed);
    else this.#open.set(id, [renamed]);
    return renamed;
  }

  /** The provider's id for the call that a result answers; `undefined` when this turn has no call with that id. */
  result(id: string): string | undefined {
    const open = this.#open.get(id);
    return open && open.length > 1 ? open.shift() : open?.[0];
  }
}

/** Maps the tool names of one request to names for the provider. The mapping is stable within a request. */
export class ToolNames {
  readonly #sent = new Map<string, string>();

  /**
   * @param names all names of the request; legal names are kept, whatever their position
   * @param originals receives the way back: provider's name → client's name, for each renamed tool
   * @param legal pattern of the names that the provider accepts
   */
  constructor(names: Iterable<string>, originals: Map<string, string>, legal = NAME_RULE.legal) {
    const all = [...new Set(names)];
    if (all.every((name) => legal.test(name))) return;
    const taken = new Set(all.filter((name) => legal.test(name)));
    for (const name of all) {
      if (legal.test(name)) continue;
      const sent = fitName(name, taken, legal);
      taken.add(sent);
      this.#sent.set(name, sent);
      originals.set(sent, name);
    }
  }

  /** The provider's name for a tool. */
  send(name: string): string {
    return this.#sent.get(name) ?? name;
  }
}

/**
 * Ids of the tool calls of one answer. An id that the client's format accepts and that is unique in the answer is kept; any
 * other is replaced by one that is unique across all calls of the gateway.
 */
export class AnswerIds {
  readonly #seed: string;
  readonly #taken = new Set<string>();

  /** @param seed the call's id, unique across all calls */
  constructor(seed: string) {
    this.#seed = seed;
  }

  /** @param id the provider's id; absent or empty when it sent none */
  take(id: string | undefined): string {
    const kept = id !== undefined && NAME_RULE.legal.test(id) && !this.#taken.has(id);
    const taken = kept ? id : `call_${base62(`${this.#seed}:${this.#taken.size}`, 24)}`;
    this.#taken.add(taken);
    return taken;
  }
}

/** An id for a legacy `function_call`, which has none: derived from its turn and name, so that it is stable. */
export function legacyCallId(turn: number, name: string): string {
  return `call_${sha256(`${turn}:${name}`).slice(0, 24)}`;
}

/** The id itself if it is legal and free, else legal characters and a hash; on a collision the next block of the hash. */
function fit(id: string, rule: IdRule, taken: ReadonlySet<string>): string {
  if (rule.legal.test(id) && !taken.has(id)) return id;
  for (let block = 0; ; block++) {
    const fitted = rule.exact ? base62(`${id}#${block}`, rule.length) : hashed(id, rule.length, block);
    if (!taken.has(fitted)) return fitted;
  }
}

/** The first (length − 17) legal characters, `_`, and 16 hexadecimal digits of the hash of the whole id. */
function hashed(id: string, length: number, block: number): string {
  const head = id.replace(/[^a-zA-Z0-9_-]/g, "").slice(0, length - HASH_LENGTH - 1);
  return `${head}_${hashBlock(id, block)}`;
}

/** Replaces illegal characters by `_`. A name that is too long or taken becomes 47 characters, `_` and a hash. */
function fitName(name: string, taken: ReadonlySet<string>, legal: RegExp): string {
  const bare = name.replace(/[^a-zA-Z0-9_-]/g, "_");
  // Some providers want a letter or `_` first.
  const plain = legal.test(bare.slice(0, 1)) ? bare : `_${bare}`;
  if (legal.test(plain) && !taken.has(plain)) return plain;
  for (let block = 0; ; block++) {
    const fitted = `${plain.slice(0, NAME_RULE.length - HASH_LENGTH - 1)}_${hashBlock(name, block)}`;
    if (!taken.has(fitted)) return fitted;
  }
}

/** The nth block of 16 hexadecimal digits of the hash; after the fourth block the text is hashed again. */
function hashBlock(text: string, block: number): string {
  const round = Math.floor(block / 4);
  const digest = sha256(round === 0 ? text : `${text}#${round}`);
  return digest.slice((block % 4) * HASH_LENGTH, ((block % 4) + 1) * HASH_LENGTH);
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function base62(text: string, length: number): string {
  let rest = BigInt(`0x${sha256(text)}`);
  let written = "";
  while (written.length < length) {
    written += ALPHABET[Number(rest % 62n)]!;
    rest /= 62n;
  }
  return written;
}

/** SHA-256 as 64 lower-case hexadecimal digits. */
export function sha256(text: string): string {
  return Bun.SHA256.hash(text, "hex");
}

/** An end user's id as sent to the provider: an opaque id is kept, one that may identify a person (an e-mail address) is hashed. */
export function maskUser(user: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(user) ? user : sha256(user);
}
