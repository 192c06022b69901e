/** Client secrets (`ek_…`), by which a browser opens one session without a key. */
import type { Channel } from "../../../core/channel.ts";
import { GatewayError } from "../../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { textAt } from "../../../kinds/realtime/events.ts";
import type { Grant, SecretAnswer, SecretAsk, SecretDown, SecretUp } from "./messages.ts";

const PREFIX = "ek_";
/** Longest life of a secret. Seconds. */
const MOST_SECONDS = 600;
const LEAST_SECONDS = 10;
/** Longest time of an answer of the keeper. Milliseconds. */
const TIMEOUT_MS = 5_000;

/** The body of `POST /v1/realtime/client_secrets`, as weir understands it. */
export interface SecretRequest extends Omit<Grant, "key"> {
  readonly seconds: number;
}

/** Whether a credential has the form of a client secret. */
export function isSecret(credential: string): boolean {
  return credential.startsWith(PREFIX);
}

export class Secrets {
  readonly #keeper: Channel<SecretUp, SecretDown>;
  readonly #waiting = new Map<number, (answer: SecretAnswer | null) => void>();
  #number = 0;

  constructor(keeper: Channel<SecretUp, SecretDown>) {
    this.#keeper = keeper;
    keeper.listen({
      up: () => {},
      down: () => {
        for (const resolve of this.#waiting.values()) resolve(null);
      },
      message: ({ number, answer }) => this.#waiting.get(number)?.(answer),
    });
  }

  /** @returns the secret, and when it expires in seconds since 1970 @throws GatewayError while the keeper is away */
  async issue(
    { seconds, ...rest }: SecretRequest,
    key: string | null,
  ): Promise<[value: string, until: number]> {
    const value = PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
    const until = Math.floor(Date.now() / 1000) + seconds;
    await this.#ask({ issue: { key, ...rest }, digest: digestOf(value), until: until * 1000 });
    return [value, until];
  }

  /** Uses a secret up. @param model of the client; null: it names none @throws GatewayError for one that opens no session */
  async redeem(value: string, model: string | null): Promise<Grant> {
    const answer = await this.#ask({ redeem: digestOf(value), model });
    if ("grant" in answer) return answer.grant;
    if ("refused" in answer && answer.refused === "model")
      throw new GatewayError("permission", "The client secret is for another model.", {
        ...{ code: "model_not_allowed", param: "model" },
      });
    throw new GatewayError(
      "authentication",
      "The client secret is not valid: it was used, has expired or is not one of this gateway.",
      { code: "invalid_client_secret" },
    );
  }

  async #ask(ask: SecretAsk): Promise<SecretAnswer> {
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<SecretAnswer | null>();
    const timer = setTimeout(() => resolve(null), TIMEOUT_MS);
    this.#waiting.set(number, resolve);
    if (this.#keeper.isUp) this.#keeper.send({ number, ask });
    else resolve(null);
    const answer = await promise;
    clearTimeout(timer);
    this.#waiting.delete(number);
    if (answer) return answer;
    throw new GatewayError(
      "overloaded",
      "weir cannot reach its client secrets at the moment; retry in 5 s.",
      {
        ...{ code: "client_secrets_unavailable", retryAfter: 5 },
      },
    );
  }
}

/** @throws GatewayError `invalid-request` with the path of the first fault */
export function readSecretRequest(body: Json | undefined): SecretRequest {
  if (!isObject(body)) throw wrong("The body must be a JSON object.");
  const session = body["session"] ?? {};
  if (!isObject(session)) throw wrong("`session` must be an object.", "session");
  const { model: named, ...settings } = session as JsonObject;
  const transcribes = session["type"] === "transcription";
  const model = transcribes ? textAt(session, "audio", "input", "transcription", "model") : named;
  const path = transcribes ? "session.audio.input.transcription.model" : "session.model";
  if (typeof model !== "string" || model === "")
    throw wrong(`\`${path}\` must name the model: a client secret is for one.`, path);
  const after = body["expires_after"] ?? {};
  const seconds = isObject(after) ? (after["seconds"] ?? MOST_SECONDS) : undefined;
  if (typeof seconds !== "number" || !Number.isInteger(seconds) || seconds < LEAST_SECONDS)
    throw wrong("`expires_after.seconds` must be a whole number of at least 10.", "expires_after.seconds");
  return { model, transcribes, session: settings, seconds: Math.min(seconds, MOST_SECONDS) };
}

function wrong(message: string, param?: string): GatewayError {
  return new GatewayError("invalid-request", message, param === undefined ? {} : { param });
}

function digestOf(value: string): string {
  return new Bun.CryptoHasher("sha256").update(value).digest("hex");
}
