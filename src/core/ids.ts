/**
 * Tool-call ids and tool names between dialects (src/formats/README.md#ids-and-names).
 *
 * A dialect allows few characters and little room. What does not fit is replaced by legal characters and a hash of the
 * whole original, so that two ids that begin alike stay two, and so that the next turn of the conversation, in another
 * process, gives the same again. Nothing is remembered between requests: the map is built from the history, in its
 * order, and a turn that is added never changes what came out before.
 */

/** What a dialect allows. */
export interface IdRule {
  /** What a whole id must look like to be kept. */
  legal: RegExp;
  /** Most characters. */
  length: number;
  /** The dialect wants nothing but letters and digits, exactly `length` of them. */
  exact?: boolean;
}

/** Tool-call ids by dialect. */
export const ID_RULES = {
  /** Messages: `^[a-zA-Z0-9_-]+$`, checked by the server; 64 keeps a hash readable. */
  messages: { legal: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 },
  /** OpenAI refuses `tool_calls[].id` over 40 characters on its older versions. */
  chatCompletions: { legal: /^[a-zA-Z0-9_-]{1,40}$/, length: 40 },
  /** Mistral: "Tool call id has to be defined and a string of length 9 of a-z, A-Z, 0-9". */
  mistral: { legal: /^[a-zA-Z0-9]{9}$/, length: 9, exact: true },
} as const satisfies Record<string, IdRule>;

/** Tool names: both vendors allow `^[a-zA-Z0-9_-]{1,64}$`. */
const NAME_RULE: IdRule = { legal: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 };

const HASH_LENGTH = 16;

/**
 * Ids of one request, on their way to an upstream. Calls and results are asked for in the order of the history;
 * a repeated id (some servers mint `call_0` in every turn) pairs each result with the call of its own turn.
 */
export class ToolIds {
  readonly #rule: IdRule;
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();
  #open = new Map<string, string[]>();

  constructor(rule: IdRule) {
    this.#rule = rule;
  }

  /** A turn with calls begins: calls of earlier turns that nobody answered stay unanswered. */
  beginTurn(): void {
    this.#open = new Map();
  }

  /** The id of a call, as the upstream will read it. */
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

  /** The call of this turn that a result with this id answers; `undefined` for a result nobody asked for. */
  result(id: string): string | undefined {
    const open = this.#open.get(id);
    return open && open.length > 1 ? open.shift() : open?.[0];
  }
}

/** Names of tools on their way to an upstream. The same name gives the same again within one request. */
export class ToolNames {
  readonly #sent = new Map<string, string>();

  /**
   * @param names all names of the request: those that are legal as they are keep themselves, whoever comes first.
   * @param originals filled with name upstream → name of the client, for those that differ; the way back.
   */
  constructor(names: Iterable<string>, originals: Map<string, string>) {
    const all = [...new Set(names)];
    const taken = new Set(all.filter((name) => NAME_RULE.legal.test(name)));
    for (const name of all) {
      if (NAME_RULE.legal.test(name)) continue;
      const sent = fitName(name, taken);
      taken.add(sent);
      this.#sent.set(name, sent);
      originals.set(sent, name);
    }
  }

  /** The name as the upstream will read it. */
  send(name: string): string {
    return this.#sent.get(name) ?? name;
  }
}

/**
 * Ids of one answer, on their way to the client: an id the client's dialect can take and that is unique in the answer
 * is kept, any other is replaced by one that is unique over all calls of the gateway.
 */
export class AnswerIds {
  readonly #seed: string;
  readonly #taken = new Set<string>();

  /** @param seed the id of the call, unique over all calls. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  /** @param id what the upstream said; absent or empty when it said nothing. */
  take(id: string | undefined): string {
    const kept = id !== undefined && ID_RULES.messages.legal.test(id) && !this.#taken.has(id);
    const taken = kept ? id : `call_${base62(`${this.#seed}:${this.#taken.size}`, 24)}`;
    this.#taken.add(taken);
    return taken;
  }
}

/** The id of a legacy `function_call`, which has none: from its place and name. */
export function legacyCallId(turn: number, name: string): string {
  return `call_${sha256(`${turn}:${name}`).slice(0, 24)}`;
}

/** The original when it is legal and free, else legal characters and a hash; the next hash block on a collision. */
function fit(id: string, rule: IdRule, taken: ReadonlySet<string>): string {
  if (rule.legal.test(id) && !taken.has(id)) return id;
  for (let block = 0; ; block++) {
    const fitted = rule.exact ? base62(`${id}#${block}`, rule.length) : hashed(id, rule.length, block);
    if (!taken.has(fitted)) return fitted;
  }
}

/** First (length − 17) legal characters, `_`, 16 hexadecimal digits of the hash of the whole. */
function hashed(id: string, length: number, block: number): string {
  const head = id.replace(/[^a-zA-Z0-9_-]/g, "").slice(0, length - HASH_LENGTH - 1);
  return `${head}_${hashBlock(id, block)}`;
}

/** Illegal characters become `_`; too long becomes 47 characters, `_` and a hash; so does what another name took. */
function fitName(name: string, taken: ReadonlySet<string>): string {
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_");
  if (NAME_RULE.legal.test(plain) && !taken.has(plain)) return plain;
  for (let block = 0; ; block++) {
    const fitted = `${plain.slice(0, NAME_RULE.length - HASH_LENGTH - 1)}_${hashBlock(name, block)}`;
    if (!taken.has(fitted)) return fitted;
  }
}

/** The nth block of 16 hexadecimal digits; behind the fourth the hash is taken again. */
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
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** An end user's id as it may leave: as it is when it says nothing of a person, else its hash. */
export function maskUser(user: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(user) ? user : sha256(user);
}
