/**
 * One attempt to sign in, between the way to the provider and the way back. The browser keeps it, sealed: any node can go on with it,
 * and weir stores nothing for somebody who only opens the page.
 */
import { isObject, parseJson } from "../../../core/json.ts";
import { Sealer } from "./sealer.ts";

export interface Attempt {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
  /** Own path to which the browser goes then. */
  readonly to: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export const ATTEMPT_MS = 600_000;

/** Longest own path: the request of a program for a code is one. */
const MOST_TARGET = 2_000;

/** 256 random bits. */
export function randomText(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

/** Seals attempts with a key that follows from the secret which all nodes share with the provider. */
export class AttemptSealer {
  readonly #sealer: Sealer;

  constructor(secret: string) {
    this.#sealer = new Sealer(secret, "attempts to sign in");
  }

  seal(attempt: Attempt): Promise<string> {
    return this.#sealer.seal(JSON.stringify(attempt));
  }

  /** @returns undefined for a text that no node has sealed */
  async unseal(text: string): Promise<Attempt | undefined> {
    const attempt = parseJson((await this.#sealer.unseal(text)) ?? "");
    return isObject(attempt) ? (attempt as unknown as Attempt) : undefined;
  }
}

/** A path of weir's own, whatever the text is: no other host, no other scheme. */
export function ownTarget(text: string | null, url: string): string {
  const fallback = "/console";
  if (
    text === null ||
    text.length > MOST_TARGET ||
    !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) ||
    text.includes("\\")
  )
    return fallback;
  const target = URL.parse(text, url);
  if (!target || target.origin !== new URL(url).origin) return fallback;
  const isOwn = /^\/(console(\/|$)|device$|oauth\/authorize$|[a-z]+\/connect\/[a-z0-9-]+$)/.test(
    target.pathname,
  );
  return isOwn ? target.pathname + target.search : fallback;
}
