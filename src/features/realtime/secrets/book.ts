/** Client secrets by their digests. Each opens one session. */
import type { Grant, SecretAnswer, SecretAsk } from "./messages.ts";

/** Most secrets; the oldest makes room. */
const MAX_SECRETS = 20_000;

export class SecretBook {
  readonly #secrets = new Map<string, { readonly grant: Grant; readonly until: number }>();

  get size(): number {
    return this.#secrets.size;
  }

  /** @param now milliseconds since 1970 */
  answer(ask: SecretAsk, now: number): SecretAnswer {
    if ("redeem" in ask) return this.#redeem(ask.redeem, ask.model, now);
    for (const [digest, { until }] of this.#secrets)
      if (until <= now || this.#secrets.size >= MAX_SECRETS) this.#secrets.delete(digest);
    this.#secrets.set(ask.digest, { grant: ask.issue, until: ask.until });
    return { issued: true };
  }

  /** A wrong model does not use the secret up. */
  #redeem(digest: string, model: string | null, now: number): SecretAnswer {
    const found = this.#secrets.get(digest);
    if (!found || found.until <= now) return { refused: "unknown" };
    if (model !== null && model !== found.grant.model) return { refused: "model" };
    this.#secrets.delete(digest);
    return { grant: found.grant };
  }
}
