/** weir's signatures are those of the AWS SDK for JavaScript, for any path and query. */
import { expect, test } from "bun:test";
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { signV4 } from "../../../src/auth/sign-v4.ts";
import { encodeComponent } from "../../../src/core/template.ts";

/** SHA-256 as the SDK wants it. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {}
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === "string") return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}

const keys = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: "SESSION",
};
const now = Date.parse("2026-11-21T00:00:00Z");
const body = Buffer.from('{"messages":[]}');

/** Pseudo-random, the same in every run. */
function* numbers(seed: number): Generator<number> {
  for (;;) yield (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31);
}

const LETTERS = [
  "a",
  "Z",
  "0",
  "-",
  ".",
  "_",
  "~",
  ":",
  "/",
  "%",
  " ",
  "+",
  "@",
  "=",
  "&",
  "$",
  "'",
  "(",
  "!",
  "é",
  "😀",
];

test("200 random model names", async () => {
  const random = numbers(7);
  const next = (limit: number) => random.next().value! % limit;
  for (let round = 0; round < 200; round++) {
    const model = Array.from({ length: 1 + next(30) }, () => LETTERS[next(LETTERS.length)]).join("");
    if (/^\.+$/.test(model)) continue;
    const path = `/model/${encodeComponent(model)}/invoke`;
    const url = new URL(`https://bedrock-runtime.eu-central-1.amazonaws.com${path}`);
    const ours = signV4(
      { method: "POST", url, headers: { "content-type": "application/json" }, body: [body] },
      { service: "bedrock", region: "eu-central-1", keys, now },
    );
    const signer = new SignatureV4({
      ...{ service: "bedrock", region: "eu-central-1", credentials: keys, sha256: Sha256 },
    });
    const theirs = await signer.sign(
      {
        ...{ method: "POST", protocol: "https:", hostname: url.hostname, path, query: {}, body },
        headers: { host: url.host, "content-type": "application/json" },
      },
      { signingDate: new Date(now) },
    );
    expect([model, ours["authorization"]]).toEqual([model, theirs.headers["authorization"]!]);
  }
});
