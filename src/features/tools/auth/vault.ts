/**
 * Tokens and clients at rest: a file for each, sealed with the key of the config, else with one of the folder. In memory, where weir
 * has no folder.
 */
import { createDecipheriv, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Envelope, isSealed } from "../../../core/envelope.ts";

const NONCE = 12;
const TAG = 16;
const KEY_BYTES = 32;

export class Vault {
  readonly #folder: string | undefined;
  readonly #fault: (sentence: string) => void;
  readonly #known = new Map<string, unknown>();
  #key: Buffer | undefined;
  /** Of the config, the one of now first. */
  #keys: readonly string[] = [];
  #envelope: Envelope | undefined;

  /** @param folder that only this user can read @param fault logs a sentence */
  constructor(folder: string | undefined, fault: (sentence: string) => void) {
    this.#folder = folder;
    this.#fault = fault;
  }

  /** The keys of a config: all files get the first one. */
  sealBy(keys: readonly string[]): void {
    if (Bun.deepEquals(keys, this.#keys)) return;
    this.#keys = keys;
    this.#envelope = undefined;
    if (this.#folder !== undefined) for (const name of this.#listed()) this.#sealAnew(name);
  }

  /** @param name letters, digits, dots and dashes @returns undefined: there is nothing, or nothing that this weir has sealed */
  get<Value>(name: string): Value | undefined {
    if (this.#known.has(name)) return this.#known.get(name) as Value | undefined;
    const value = this.#read(name);
    this.#known.set(name, value);
    return value as Value | undefined;
  }

  /** It is on the disk when this returns, or a fault is logged. */
  set(name: string, value: unknown): void {
    this.#known.set(name, value);
    if (this.#folder === undefined) return;
    try {
      this.#write(name, this.#envelopeOf().seal(JSON.stringify(value), name));
    } catch (cause) {
      this.#fault(`tools: a token cannot be kept: ${(cause as Error).message}`);
    }
  }

  delete(name: string): void {
    this.#known.set(name, undefined);
    if (this.#folder !== undefined) rmSync(join(this.#folder, name), { force: true });
  }

  /** All names that begin so. */
  names(beginning: string): string[] {
    const kept = this.#folder === undefined ? [] : this.#listed();
    const held = [...this.#known].flatMap(([name, value]) => (value === undefined ? [] : [name]));
    return [...new Set([...kept, ...held])].filter((name) => name.startsWith(beginning));
  }

  #listed(): string[] {
    try {
      return readdirSync(this.#folder!).filter((name) => !name.endsWith(".new") && name !== "key");
    } catch {
      return [];
    }
  }

  #read(name: string): unknown {
    if (this.#folder === undefined) return undefined;
    try {
      return JSON.parse(this.#open(name, readFileSync(join(this.#folder, name))));
    } catch (cause) {
      if ((cause as { code?: unknown }).code !== "ENOENT")
        this.#fault(
          `tools: the file ${name} of the folder of tokens cannot be read; its account is to be connected again`,
        );
      return undefined;
    }
  }

  #write(name: string, sealed: string): void {
    const path = join(this.#folder!, name);
    const draft = `${path}.${randomBytes(6).toString("hex")}.new`;
    writeFileSync(draft, sealed, { mode: 0o600 });
    renameSync(draft, path);
  }

  /** A file that no key opens stays as it is: the config may have the wrong keys. */
  #sealAnew(name: string): void {
    try {
      const bytes = readFileSync(join(this.#folder!, name));
      const sealed = bytes.toString("latin1");
      const next = isSealed(sealed)
        ? this.#envelopeOf().rewrap(sealed, name)
        : this.#envelopeOf().seal(this.#open(name, bytes), name);
      if (next !== undefined && next !== sealed) this.#write(name, next);
    } catch {
      // Who reads it says so.
    }
  }

  /** The name is sealed with it: no file passes for another. */
  #envelopeOf(): Envelope {
    if (this.#envelope) return this.#envelope;
    const [first, ...others] = [...this.#keys, this.#keyOf().toString("hex")];
    return (this.#envelope = new Envelope(first!, others));
  }

  #open(name: string, bytes: Buffer): string {
    const sealed = bytes.toString("latin1");
    if (isSealed(sealed)) {
      const text = this.#envelopeOf().open(sealed, name);
      if (text === undefined) throw new Error("no key opens it");
      return text;
    }
    // As earlier releases wrote it.
    const cipher = createDecipheriv("aes-256-gcm", this.#keyOf(), bytes.subarray(0, NONCE));
    cipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
    return Buffer.concat([cipher.update(bytes.subarray(NONCE + TAG)), cipher.final()]).toString("utf8");
  }

  #keyOf(): Buffer {
    return (this.#key ??= keyIn(this.#folder!));
  }
}

/** The key of a folder, which is made with it. @throws Error of the system */
function keyIn(folder: string): Buffer {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const path = join(folder, "key");
  try {
    writeFileSync(path, randomBytes(KEY_BYTES), { mode: 0o600, flag: "wx" });
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "EEXIST") throw cause;
  }
  const key = readFileSync(path);
  if (key.length !== KEY_BYTES) throw new Error(`${path} is no key`);
  return key;
}

/** A part of a name that stands for a text of any length. */
export function digestName(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 40);
}
