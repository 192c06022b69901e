/** Authorizes requests with credentials that may change while weir runs: each request gets the values that are known then. */
import type { Authorizer, OutgoingRequest } from "../../core/place.ts";
import type { Secret } from "../../core/secret.ts";
import type { Stoppable } from "../../core/stop.ts";

type HeaderRecord = Readonly<Record<string, string>>;

/** Values of before that are masked as well: a call may still run with one. */
const MOST_OLD = 8;

export class LiveAuthorizer implements Authorizer {
  readonly #secrets: readonly Secret[];
  readonly #make: () => HeaderRecord;
  readonly #inner: Authorizer | undefined;
  #own = 0;
  #values: readonly string[];
  #old: readonly string[] = [];
  #headers: HeaderRecord;
  /** Its parts of the last list of concealed values, to see whether that is still right. */
  #concealed:
    { values: readonly string[]; inner: readonly string[] | undefined; all: readonly string[] } | undefined;

  /**
   * @param secrets those that may change @param make the headers of their present values
   * @param inner makes further headers from the same secrets
   */
  constructor(secrets: readonly Secret[], make: () => HeaderRecord, inner?: Authorizer) {
    this.#secrets = secrets;
    this.#make = make;
    this.#inner = inner;
    this.#values = secrets.map((secret) => secret.reveal());
    this.#headers = Object.freeze(make());
  }

  get generation(): number {
    this.#look();
    return this.#own + (this.#inner?.generation ?? 0);
  }

  get concealed(): readonly string[] {
    this.#look();
    const inner = this.#inner?.concealed;
    const known = this.#concealed;
    if (known && known.values === this.#values && known.inner === inner) return known.all;
    const all = [...new Set([...this.#values, ...this.#old, ...(inner ?? [])])];
    this.#concealed = { values: this.#values, inner, all };
    return all;
  }

  async authorize(request: OutgoingRequest, stop: Stoppable): Promise<HeaderRecord> {
    this.#look();
    const own = this.#headers;
    if (!this.#inner) return own;
    const headers = { ...request.headers, ...own };
    return { ...own, ...(await this.#inner.authorize({ ...request, headers }, stop)) };
  }

  async preview(request: OutgoingRequest): Promise<readonly string[]> {
    const more = (await this.#inner?.preview(request)) ?? [];
    return [...new Set([...Object.keys(this.#headers), ...more])].sort();
  }

  async renew(generation: number, date: string | null): Promise<boolean> {
    if (generation !== this.generation) return true;
    await Promise.all(this.#secrets.map((secret) => secret.live?.renew()));
    const isChanged = generation !== this.generation;
    const isInner = (await this.#inner?.renew(this.#inner.generation, date)) ?? false;
    return isChanged || isInner;
  }

  /** Takes over values that have changed. */
  #look(): void {
    if (this.#secrets.every((secret, at) => secret.reveal() === this.#values[at])) return;
    this.#old = [...new Set([...this.#values, ...this.#old])].slice(0, MOST_OLD);
    this.#values = this.#secrets.map((secret) => secret.reveal());
    this.#headers = Object.freeze(this.#make());
    this.#own++;
  }
}
