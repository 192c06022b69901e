/**
 * The keys that sign weir's own tokens. They follow from the secret of the config and the number of the month, so all processes and
 * nodes have the same ones, and no store has any.
 */
import { createECDH } from "node:crypto";
import { KeySet } from "../tokens/key-set.ts";

/** Keys are replaced after this time; the one before still verifies. Milliseconds. */
const EPOCH_MS = 30 * 86_400_000;

interface TokenKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: Readonly<Record<string, string>>;
}

export class TokenKeys {
  readonly #secret: string;
  readonly #now: () => number;
  readonly #made = new Map<number, Promise<TokenKey>>();
  #set: { readonly epoch: number; readonly keys: Promise<KeySet> } | undefined;

  constructor(secret: string, now: () => number) {
    this.#secret = secret;
    this.#now = now;
  }

  /** The key that signs at this moment. */
  current(): Promise<TokenKey> {
    return this.#keyOf(this.#epoch);
  }

  /** The keys that verify: the current one and its neighbours, since clocks of nodes differ. */
  async published(): Promise<{ keys: TokenKey["jwk"][] }> {
    const epoch = this.#epoch;
    const keys = await Promise.all([epoch, epoch - 1, epoch + 1].map((one) => this.#keyOf(one)));
    return { keys: keys.map(({ jwk }) => jwk) };
  }

  /** The same keys, to verify with. */
  async set(): Promise<KeySet> {
    const epoch = this.#epoch;
    if (this.#set?.epoch !== epoch)
      this.#set = { epoch, keys: this.published().then((document) => KeySet.read(JSON.stringify(document))) };
    return this.#set.keys;
  }

  get #epoch(): number {
    return Math.floor(this.#now() / EPOCH_MS);
  }

  #keyOf(epoch: number): Promise<TokenKey> {
    const known = this.#made.get(epoch) ?? makeKey(this.#secret, epoch);
    this.#made.set(epoch, known);
    return known;
  }
}

async function makeKey(secret: string, epoch: number): Promise<TokenKey> {
  const encode = (text: string) => new TextEncoder().encode(text);
  const base = await crypto.subtle.importKey("raw", encode(secret), "HKDF", false, ["deriveBits"]);
  const curve = createECDH("prime256v1");
  for (let round = 0; ; round++) {
    const info = encode(`tokens of weir, ES256, ${epoch}, ${round}`);
    const bits = await crypto.subtle.deriveBits(
      { name: "HKDF", hash: "SHA-256", salt: encode("weir"), info },
      base,
      256,
    );
    const scalar = Buffer.from(bits);
    // One number in 2^32 is not below the order of the curve.
    if (!isBelowOrder(scalar)) continue;
    curve.setPrivateKey(scalar);
    const point = curve.getPublicKey();
    const [x, y] = [point.subarray(1, 33), point.subarray(33, 65)].map((part) => part.toString("base64url"));
    const publicPart = { kty: "EC", crv: "P-256", x: x!, y: y! };
    const privatePart = { ...publicPart, d: scalar.toString("base64url") };
    const how = { name: "ECDSA", namedCurve: "P-256" };
    const privateKey = await crypto.subtle.importKey("jwk", privatePart, how, false, ["sign"]);
    const kid = new Bun.CryptoHasher("sha256")
      .update(JSON.stringify(publicPart))
      .digest("base64url")
      .slice(0, 16);
    return { kid, privateKey, jwk: { ...publicPart, kid, alg: "ES256", use: "sig" } };
  }
}

const ORDER = BigInt("0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");

function isBelowOrder(scalar: Buffer): boolean {
  const value = BigInt(`0x${scalar.toString("hex")}`);
  return value > 0n && value < ORDER;
}
