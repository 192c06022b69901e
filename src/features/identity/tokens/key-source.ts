/** The keys of an issuer as they change: fetched, kept, renewed in the background, and used for a while when the issuer is away. */
import { parseJson, isObject } from "../../../core/json.ts";
import { type FetchDocument, type FetchedDocument, placeOf } from "../fetch-document.ts";
import { addressFault } from "../section.ts";
import { shown, TokenFault } from "./fault.ts";
import { KeySet } from "./key-set.ts";
import type { Token } from "./token.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** How long keys are kept where the issuer does not say, at least and at most. Milliseconds. */
const KEPT = { unsaid: 60 * MINUTE_MS, least: 5 * MINUTE_MS, most: DAY_MS };
/** How long keys are used when the issuer cannot be reached. Milliseconds. */
const STALE_MS = DAY_MS;
/** Least time between two fetches because of an unknown key, and after a fetch that failed. Milliseconds. */
const UNKNOWN_MS = MINUTE_MS;
const FAILED_MS = 5_000;

export interface KeySourceOptions {
  readonly issuer: string;
  /** Address of the key set, or path of a file with it; absent: the issuer's metadata says where it is. */
  readonly jwks?: string;
  readonly fetchDocument: FetchDocument;
  /** Milliseconds since 1970. */
  now(): number;
  /** Logs a sentence as a fault. */
  fault(sentence: string): void;
}

export class KeySource {
  readonly #options: KeySourceOptions;
  #set: KeySet | undefined;
  /** When the set was fetched, and when it is to be renewed. */
  #fetchedAt = -Infinity;
  #renewAt = 0;
  /** When it was tried last, and whether that failed. */
  #triedAt = -Infinity;
  /** When an unknown key was the reason. */
  #unknownAt = -Infinity;
  #fault: string | undefined;
  #pending: Promise<void> | undefined;
  #timer: Timer | undefined;
  /** From the metadata. */
  #address: string | undefined;

  constructor(options: KeySourceOptions) {
    this.#options = options;
    this.#address = options.jwks;
  }

  /** Why the keys could not be renewed; undefined if they could. */
  get staleBecause(): string | undefined {
    return this.#fault;
  }

  /** Fetches the keys in the background, so that the first token does not wait for them. */
  start(): void {
    if (this.#set === undefined) void this.#renew();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** @throws TokenFault, of the reason `unavailable` if there are no keys to verify with */
  async verify(token: Token): Promise<void> {
    const { now } = this.#options;
    if (this.#isUsable(now())) {
      if (!this.#set!.has(token)) await this.#lookForUnknown();
    } else if (this.#pending !== undefined || now() - this.#triedAt >= FAILED_MS) await this.#renew();
    if (!this.#isUsable(now()))
      throw new TokenFault(
        "unavailable",
        `the keys of the issuer are not known: ${this.#fault ?? "not yet"}`,
      );
    await this.#set!.verify(token);
  }

  /** A client could send tokens with unknown keys without end, so they cause one fetch a minute; all wait for a fetch that runs. */
  async #lookForUnknown(): Promise<void> {
    const now = this.#options.now();
    if (this.#pending === undefined && now - this.#unknownAt < UNKNOWN_MS) return;
    if (this.#pending === undefined) this.#unknownAt = now;
    await this.#renew();
  }

  #isUsable(now: number): boolean {
    return (
      this.#set !== undefined && now - this.#fetchedAt < Math.max(STALE_MS, this.#renewAt - this.#fetchedAt)
    );
  }

  /** One fetch at a time. */
  #renew(): Promise<void> {
    return (this.#pending ??= this.#fetch().finally(() => (this.#pending = undefined)));
  }

  async #fetch(): Promise<void> {
    const { now, fault, issuer } = this.#options;
    this.#triedAt = now();
    try {
      const { set, keptMs } = await this.#load();
      this.#set = set;
      this.#fetchedAt = now();
      this.#renewAt = this.#fetchedAt + keptMs;
      if (this.#fault !== undefined) fault(`identity: the keys of ${issuer} are known again`);
      this.#fault = undefined;
      // Half of the time, and not all issuers and workers at once.
      this.#later((keptMs / 2) * (0.9 + Math.random() / 5));
    } catch (cause) {
      const clause = (cause as Error).message;
      const kept = this.#set ? "; weir uses those that it has for up to a day" : "";
      if (this.#fault === undefined)
        fault(`identity: the keys of ${issuer} cannot be renewed: ${clause}${kept}`);
      this.#fault = clause;
      this.#later(MINUTE_MS);
    }
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#renew(), ms);
    this.#timer.unref();
  }

  async #load(): Promise<{ set: KeySet; keptMs: number }> {
    const { jwks, issuer, fetchDocument } = this.#options;
    if (jwks !== undefined && !/^https?:\/\//i.test(jwks))
      return { set: KeySet.read(await readFile(jwks)), keptMs: KEPT.least };
    this.#address ??= await findAddress(issuer, fetchDocument);
    try {
      const answer = await fetchDocument(this.#address, { headers: { accept: "application/json" } });
      expectOk(answer, this.#address);
      return { set: KeySet.read(answer.text), keptMs: keptMs(answer.headers) };
    } catch (cause) {
      // The issuer may have moved its keys.
      this.#address = jwks;
      throw cause;
    }
  }
}

/** The address of an issuer's keys, by its metadata. @throws Error with a clause */
async function findAddress(issuer: string, fetchDocument: FetchDocument): Promise<string> {
  const metadata = await fetchMetadata(issuer, fetchDocument);
  const address = metadata["jwks_uri"];
  const fault = typeof address === "string" ? addressFault(address) : "is missing";
  if (fault !== undefined) throw new Error(`jwks_uri in the metadata of ${issuer} ${fault}`);
  return address as string;
}

/** @throws Error with a clause */
export async function fetchMetadata(
  issuer: string,
  fetchDocument: FetchDocument,
): Promise<Record<string, unknown>> {
  // A path of the issuer ends before the suffix, with or without its slash (OpenID Connect Discovery 4.1).
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetchDocument(address, { headers: { accept: "application/json" } });
  expectOk(answer, address);
  const metadata = parseJson(answer.text);
  if (!isObject(metadata)) throw new Error(`${placeOf(address)} answers no JSON object`);
  if (metadata["issuer"] !== issuer)
    throw new Error(
      `the metadata names the issuer ${shown(metadata["issuer"])}, but the config ${shown(issuer)}; they must be the same, also in the slash at the end`,
    );
  return metadata;
}

function expectOk({ status }: FetchedDocument, address: string): void {
  if (status !== 200) throw new Error(`${placeOf(address)} answers ${status}`);
}

function keptMs(headers: Headers): number {
  const control = headers.get("cache-control") ?? "";
  const [, seconds] = /(?:^|[\s,])max-age=(\d{1,9})/.exec(control) ?? [];
  const said = seconds === undefined ? KEPT.unsaid : Number(seconds) * 1_000;
  return Math.min(Math.max(said, KEPT.least), KEPT.most);
}

async function readFile(path: string): Promise<string> {
  try {
    return await Bun.file(path).text();
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    throw new Error(`the file ${path} cannot be read${typeof code === "string" ? ` (${code})` : ""}`);
  }
}
