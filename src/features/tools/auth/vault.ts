/** Tokens and clients at rest: a file for each, sealed with a key of the folder. In memory, where weir has no folder. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NONCE = 12;
const TAG = 16;
const KEY_BYTES = 32;

export class Vault {
  readonly #folder: string | undefined;
  readonly #fault: (sentence: string) => void;
  readonly #known = new Map<string, unknown>();
  #key: Buffer | undefined;

  /** @param folder that only this user can read @param fault logs a sentence */
  constructor(folder: string | undefined, fault: (sentence: string) => void) {
    this.#folder = folder;
    this.#fault = fault;
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
      const path = join(this.#folder, name);
      const draft = `${path}.${randomBytes(6).toString("hex")}.new`;
      writeFileSync(draft, this.#seal(name, JSON.stringify(value)), { mode: 0o600 });
      renameSync(draft, path);
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

  /** The name is sealed with it: no file passes for another. */
  #seal(name: string, text: string): Buffer {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv("aes-256-gcm", this.#keyOf(), nonce).setAAD(Buffer.from(name));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  #open(name: string, bytes: Buffer): string {
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
