/** The map of a call beside its stored answer, sealed: the store has no value of it. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { KeptMap } from "./call-map.ts";

const NONCE = 12;
const TAG = 16;

/** @param secret of the caller */
export function sealMap(secret: Uint8Array, map: KeptMap): Uint8Array {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret), nonce);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(map)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** @returns nothing for what another caller has sealed */
export function openMap(secret: Uint8Array, bytes: Uint8Array): KeptMap {
  const decipher = createDecipheriv("aes-256-gcm", keyOf(secret), bytes.subarray(0, NONCE));
  decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString();
    return JSON.parse(text) as KeptMap;
  } catch {
    return [];
  }
}

function keyOf(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(0), "map", 32));
}
