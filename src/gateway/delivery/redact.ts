/**
 * Masks the provider's credential in what clients and logs receive. A provider may repeat what weir sent: in an error, in a
 * header, in the answer.
 */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { ActiveProvider, Deployment, Target } from "../../core/provider.ts";

const MASK = "***";

/** Names of configured headers whose values are treated as secrets. */
const SECRET_HEADER = /auth|key|token|secret|cookie|password/i;

/** Shorter values are not masked: they would match ordinary words. UTF-16 units. */
const MIN_LENGTH = 6;

/** The same for successful answers, where a match must hardly ever be something else. UTF-16 units. */
const MIN_LENGTH_IN_ANSWERS = 12;

/** Placeholder keys for servers that need none (`no-key-required`, `not-needed`): answers may contain these words. */
const PLACEHOLDER = /no-?(?:api-?)?key|not-?(?:needed|required|used)/i;

/** Values computed once for a provider or a deployment, and again when a plugin conceals another value. */
interface Cached<Value> {
  value: Value;
  /** Secrets of the plugin when it was computed, for each deployment. */
  concealed: readonly (readonly string[] | undefined)[];
}

function isCurrent(cached: Cached<unknown>, deployments: readonly Masked[]): boolean {
  return deployments.every(({ authorizer }, index) => cached.concealed[index] === authorizer?.concealed);
}

const concealedBy = (deployments: readonly Masked[]) =>
  deployments.map(({ authorizer }) => authorizer?.concealed);

const secretsByProvider = new WeakMap<ActiveProvider, Cached<readonly string[]>>();

function secretsOf(provider: ActiveProvider): readonly string[] {
  const { deployments } = provider;
  let cached = secretsByProvider.get(provider);
  if (!cached || !isCurrent(cached, deployments)) {
    cached = { value: collectSecrets(provider, deployments), concealed: concealedBy(deployments) };
    secretsByProvider.set(provider, cached);
  }
  return cached.value;
}

type Masked = Pick<Deployment, "credentials" | "authorizer">;

/** The secrets in all their spellings (as JSON and URLs escape them), the longest first: a shorter one may be a part of it. */
function collectSecrets({ headers = {} }: ActiveProvider, deployments: readonly Masked[]): string[] {
  const listed = Object.entries(headers).flatMap(([name, value]) =>
    SECRET_HEADER.test(name) ? [value] : [],
  );
  const credentials = deployments.flatMap(({ credentials, authorizer }) => [
    ...Object.values(credentials),
    ...(authorizer?.concealed ?? []),
  ]);
  const bare = [...credentials, ...listed].map((value) => value.replace(/^(Bearer|Basic) /i, ""));
  const spellings = bare.flatMap((value) => [
    value,
    JSON.stringify(value).slice(1, -1),
    value.replaceAll("/", "\\/"),
    encodeURIComponent(value.toWellFormed()),
  ]);
  return [...new Set(spellings)]
    .filter((value) => value.length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
}

/** Secrets to mask in answers, as text for headers and as bytes for bodies. */
interface Needles {
  texts: readonly string[];
  bytes: readonly Buffer[];
}

const needlesByDeployment = new WeakMap<Deployment, Cached<Needles>>();

/** Secrets to mask in answers of a target. Only its own: the provider knows no other deployment's credential. */
function needlesOf({ provider, deployment }: Target): Needles {
  let cached = needlesByDeployment.get(deployment);
  if (!cached || (deployment.authorizer && !isCurrent(cached, [deployment]))) {
    const texts = collectSecrets(provider, [deployment]).filter(
      (secret) => secret.length >= MIN_LENGTH_IN_ANSWERS && !PLACEHOLDER.test(secret),
    );
    const value = { texts, bytes: texts.map((secret) => Buffer.from(secret)) };
    cached = { value, concealed: concealedBy([deployment]) };
    needlesByDeployment.set(deployment, cached);
  }
  return cached.value;
}

/** Response headers of a target, with its credential masked. */
export function headersWithoutCredential(
  headers: Record<string, string>,
  target: Target,
): Record<string, string> {
  const { texts } = needlesOf(target);
  const masked: Record<string, string> = {};
  for (const name in headers) masked[name] = mask(headers[name]!, texts);
  return masked;
}

/** Text from a target's answer, with its credential masked. */
export function textWithoutCredential(text: string, target: Target): string {
  return mask(text, needlesOf(target).texts);
}

/** The bytes of a whole answer, with the target's credential masked; the same array if it does not occur. */
export function bytesWithoutCredential(bytes: Uint8Array, target: Target): Uint8Array {
  return needlesOf(target).bytes.reduce(replaceIn, bytes);
}

const NOTHING = new Uint8Array(0);
const MASK_BYTES = Buffer.from(MASK);
const LINE_FEED = 0x0a;

function replaceIn(bytes: Uint8Array, needle: Buffer): Uint8Array {
  const buffer = asBuffer(bytes);
  let at = buffer.indexOf(needle);
  if (at < 0) return bytes;
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (; at >= 0; at = buffer.indexOf(needle, from)) {
    pieces.push(buffer.subarray(from, at), MASK_BYTES);
    from = at + needle.length;
  }
  return Buffer.concat([...pieces, buffer.subarray(from)]);
}

function asBuffer(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Masks the target's credential in an answer that arrives in chunks. If a chunk ends with what may be the beginning of the
 * credential, those bytes wait for the next chunk; other chunks pass unchanged.
 */
export class CredentialMask {
  readonly #needles: readonly Buffer[];
  #held: Uint8Array = NOTHING;

  constructor(target: Target) {
    this.#needles = needlesOf(target).bytes;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#needles.length === 0) return chunk;
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const clean = this.#needles.reduce(replaceIn, bytes);
    const held = this.#beginningAtEnd(clean);
    this.#held = held === 0 ? NOTHING : clean.slice(clean.length - held);
    return held === 0 ? clean : clean.subarray(0, clean.length - held);
  }

  /** The bytes that still wait at the end of the answer. */
  end(): Uint8Array {
    const held = this.#held;
    this.#held = NOTHING;
    return held;
  }

  /** How many of the last bytes may be the beginning of the credential. */
  #beginningAtEnd(bytes: Uint8Array): number {
    // Events end with a line feed, and credentials contain none: a chunk of whole events never waits.
    if (bytes[bytes.length - 1] === LINE_FEED) return 0;
    let longest = 0;
    for (const needle of this.#needles) {
      const first = Math.max(0, bytes.length - needle.length + 1);
      for (let at = bytes.indexOf(needle[0]!, first); at >= 0; at = bytes.indexOf(needle[0]!, at + 1)) {
        if (!endsWithBeginning(bytes, at, needle)) continue;
        longest = Math.max(longest, bytes.length - at);
        break;
      }
    }
    return longest;
  }
}

/** @returns a function that masks the credentials of all providers in a text */
export function secretFilter(providers: readonly ActiveProvider[]): (text: string) => string {
  const isFixed = ({ deployments }: ActiveProvider) => deployments.every(({ authorizer }) => !authorizer);
  const secrets = [...new Set(providers.filter(isFixed).flatMap(secretsOf))];
  const others = providers.filter((provider) => !isFixed(provider));
  return (text) => others.reduce(withoutSecrets, mask(text, secrets));
}

function mask(text: string, secrets: readonly string[]): string {
  let masked = text;
  // A secret that is longer cannot occur, and most headers are shorter.
  for (const secret of secrets) if (masked.length >= secret.length) masked = masked.replaceAll(secret, MASK);
  return masked;
}

/** The text, with the provider's credentials masked. */
export function withoutSecrets(text: string, provider: ActiveProvider | undefined): string {
  if (!provider) return text;
  return mask(text, secretsOf(provider));
}

/** The bytes, with the provider's credentials masked; the same array if none occurs. */
export function bytesWithoutSecrets(bytes: Uint8Array, provider: ActiveProvider): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!secretsOf(provider).some((secret) => buffer.includes(secret))) return bytes;
  return Buffer.from(withoutSecrets(buffer.toString("latin1"), provider), "latin1");
}

/** Whether the bytes from `at` to the end are the beginning of the needle. */
function endsWithBeginning(bytes: Uint8Array, at: number, needle: Uint8Array): boolean {
  for (let offset = 0; at + offset < bytes.length; offset++)
    if (bytes[at + offset] !== needle[offset]) return false;
  return true;
}

/** A thrown value, as an error for the client: without credentials. */
export function toClientError(thrown: unknown, call: Call): GatewayError {
  const error = GatewayError.from(thrown);
  error.message = withoutSecrets(error.message, call.attempt?.target.provider);
  return error;
}
