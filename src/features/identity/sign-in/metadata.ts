/** What a provider says about itself (OpenID Connect Discovery 1.0). */
import type { JsonObject } from "../../../core/json.ts";
import { type FetchDocument, type FetchedDocument, placeOf } from "../fetch-document.ts";
import { addressFault } from "../section.ts";
import { TokenFault } from "../tokens/fault.ts";
import { fetchMetadata } from "../tokens/key-source.ts";

const KEPT_MS = 3_600_000;

export interface MetadataOptions {
  readonly issuer: string;
  readonly fetchDocument: FetchDocument;
  /** Milliseconds since 1970. */
  now(): number;
}

export class Metadata {
  readonly #options: MetadataOptions;
  #kept: { readonly value: JsonObject; readonly at: number } | undefined;

  constructor(options: MetadataOptions) {
    this.#options = options;
  }

  /** What was read last. */
  get known(): JsonObject | undefined {
    return this.#kept?.value;
  }

  /** @throws TokenFault of the reason `unavailable` */
  async read(): Promise<JsonObject> {
    const { now, issuer, fetchDocument } = this.#options;
    const kept = this.#kept;
    if (kept && now() - kept.at < KEPT_MS) return kept.value;
    try {
      const value = (await fetchMetadata(issuer, fetchDocument)) as JsonObject;
      this.#kept = { value, at: now() };
      return value;
    } catch (cause) {
      throw new TokenFault("unavailable", `${placeOf(issuer)}: ${(cause as Error).message}`);
    }
  }

  /** The address of an endpoint. @throws TokenFault of the reason `unavailable` */
  async endpoint(name: string): Promise<string> {
    const address = (await this.read())[name];
    const fault = typeof address === "string" ? addressFault(address) : "is missing";
    if (fault !== undefined) throw new TokenFault("unavailable", `${name} in the metadata ${fault}`);
    return address as string;
  }

  /** Asks an address of the provider. @throws TokenFault of the reason `unavailable` */
  ask(address: string, init: RequestInit): Promise<FetchedDocument> {
    return this.#options.fetchDocument(address, init).catch((cause: Error) => {
      throw new TokenFault("unavailable", cause.message);
    });
  }
}
