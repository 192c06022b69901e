/** Reads secrets from their stores, and keeps them fresh: by lease or time, and at once when a provider refuses one. */
import { resolve } from "node:path";
import type { ReferenceReader, References, Surroundings, Use } from "../../config/references.ts";
import type { WrittenConfig } from "../../config/section.ts";
import { readDuration } from "./declarations.ts";
import { placeOf, valueIn } from "./reference.ts";
import type { SecretRow } from "./rows.ts";
import { openStore } from "./open-store.ts";
import type { Environment, Lease, Store, StoreOptions } from "./store.ts";

/** All secrets of a start. Milliseconds. */
const START_MS = 10_000;
/** A secret that a provider has refused: calls wait for it. Milliseconds. */
const RENEW_MS = 5_000;
/** A secret is read again for refused calls at most once in this time. Milliseconds. */
const RENEW_PAUSE_MS = 10_000;
const REFRESH_MS = 300_000;
/** A look at a file costs next to nothing. Milliseconds. */
const FILE_MS = 1_000;
/** Longest pause after a failure. Milliseconds. */
const MOST_PAUSE_MS = 30_000;
/** A lease is made longer, or its secret read again, when this part of it is over. */
const EXTEND_AFTER = 2 / 3;
/** A store that makes a lease no longer than this part of the first one is about to end it. */
const LEAST_EXTENSION = 0.5;

const STORES: Readonly<Record<string, string>> = {
  file: "the file",
  exec: "the program",
  vault: "Vault",
  "aws-sm": "AWS Secrets Manager",
  "aws-ssm": "AWS Parameter Store",
  "gcp-sm": "Secret Manager",
  "azure-kv": "Key Vault",
  k8s: "Kubernetes",
};

/** What the gateway hears of secrets. */
export interface Listener {
  fault(sentence: string): void;
  info(sentence: string): void;
  /** The rows are others now. */
  changed(): void;
}

/** What is read at once: several references may name members of it. */
interface Document {
  readonly kind: string;
  readonly document: string;
  readonly refreshMs: number;
  readonly names: Set<string>;
  /** Milliseconds since 1970; absent before it was read. */
  readAt?: number;
  version?: string;
  lease?: Lease & { readonly wholeMs: number };
  /** When it is to be read again. Monotonic milliseconds. */
  dueAt: number;
  /** Before this time a refused call does not cause another read. Monotonic milliseconds. */
  renewableAt: number;
  pending?: Promise<void>;
  failures: number;
  /** Why it could not be read last time, by the name of the reference. */
  faults: ReadonlyMap<string, string>;
}

export function open(references: References): Book {
  return new Book(references);
}

export class Book implements ReferenceReader {
  readonly #references: References;
  readonly #documents = new Map<string, Document>();
  readonly #stores = new Map<string, Promise<Store>>();
  #options: StoreOptions = {};
  #env: Environment = {};
  #listener: Listener | undefined;
  #timer: Timer | undefined;

  constructor(references: References) {
    this.#references = references;
  }

  async read(uses: readonly Use[], written: WrittenConfig, { env, folder }: Surroundings) {
    this.#configure(this.#references.expandAll(written["secrets"] ?? {}), env, folder);
    const documents = new Set(uses.map(({ name }) => this.#documentOf(name)));
    await Promise.all([...documents].map((document) => this.#fetch(document, START_MS)));
    return new Map([...documents].flatMap(({ faults }) => [...faults]));
  }

  async renew(name: string): Promise<void> {
    const document = this.#documentOf(name);
    if (document.pending) return document.pending;
    const now = performance.now();
    if (now < document.renewableAt) return;
    document.renewableAt = now + RENEW_PAUSE_MS;
    await this.#fetch(document, RENEW_MS);
  }

  /** Keeps the secrets of the config fresh from now on. */
  watch(listener: Listener): void {
    this.#listener = listener;
    const names = new Set(this.#references.uses.map(({ name }) => name));
    for (const name of names) this.#documentOf(name);
    for (const [key, document] of this.#documents) {
      for (const name of document.names) if (!names.has(name)) document.names.delete(name);
      if (document.names.size === 0) this.#documents.delete(key);
    }
    this.#schedule();
    listener.changed();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#listener = undefined;
  }

  rows(): SecretRow[] {
    const monotonic = performance.now();
    const uses = new Map<string, string[]>();
    for (const { name, path } of this.#references.uses)
      uses.set(name, [...(uses.get(name) ?? []), path.join(".")]);
    return [...uses].map(([name, usedBy]) => {
      const { kind, version, readAt, dueAt, lease, faults, refreshMs } = this.#documentOf(name);
      const fault = faults.get(name);
      return {
        reference: name,
        store: kind,
        usedBy,
        ...(version !== undefined && { version }),
        ...(readAt !== undefined && { readAt }),
        nextAt: Date.now() + Math.max(0, (dueAt === 0 ? monotonic + refreshMs : dueAt) - monotonic),
        ...(lease && { leaseMs: lease.ms }),
        ...(fault !== undefined && { fault }),
      };
    });
  }

  /** Stores that are configured anew are opened anew. */
  #configure(options: StoreOptions, env: Environment, folder: string): void {
    const placed = withPaths(options, folder) as StoreOptions;
    if (env === this.#env && Bun.deepEquals(placed, this.#options)) return;
    [this.#options, this.#env] = [placed, env];
    this.#stores.clear();
  }

  #documentOf(name: string): Document {
    const { kind, document } = placeOf(name);
    const key = `${kind}:${document}`;
    let found = this.#documents.get(key);
    if (!found) {
      const { refresh: all, vault } = this.#options;
      const refresh = (kind === "vault" ? vault?.refresh : undefined) ?? all ?? "";
      const refreshMs = kind === "file" ? FILE_MS : (readDuration(refresh) ?? REFRESH_MS);
      const isRead = kind === "file" && this.#references.value(name) !== undefined;
      found = {
        ...{ kind, document, refreshMs, names: new Set(), dueAt: performance.now() + refreshMs },
        ...{ renewableAt: 0, failures: 0, faults: new Map(), ...(isRead && { readAt: Date.now() }) },
      };
      this.#documents.set(key, found);
    }
    found.names.add(name);
    return found;
  }

  /** Reads a document, once for all who want it now. It does not throw. */
  #fetch(document: Document, ms: number): Promise<void> {
    return (document.pending ??= this.#fetchOnce(document, ms).finally(() => {
      document.pending = undefined;
      this.#schedule();
    }));
  }

  async #fetchOnce(document: Document, ms: number): Promise<void> {
    const wasFailing = document.failures > 0;
    try {
      const store = await this.#storeOf(document.kind);
      const { content, version, lease } = await store.read(document.document, AbortSignal.timeout(ms));
      document.version = version;
      document.lease = lease && { ...lease, wholeMs: lease.ms };
      document.readAt = Date.now();
      this.#take(document, content);
    } catch (cause) {
      const clause = cause instanceof Error ? cause.message : String(cause);
      const subject = STORES[document.kind];
      document.faults = new Map(
        [...document.names].map((name) => [
          name,
          `the secret \${${name}} cannot be read: ${subject} ${clause}`,
        ]),
      );
    }
    document.failures = document.faults.size > 0 ? document.failures + 1 : 0;
    document.dueAt = performance.now() + pauseOf(document);
    this.#references.isStale = [...this.#documents.values()].some(({ failures }) => failures > 0);
    if (wasFailing !== document.failures > 0) this.#tell(document);
    this.#listener?.changed();
  }

  /** Takes over the values of a document that was read. */
  #take(document: Document, content: unknown): void {
    const faults = new Map<string, string>();
    const changed: string[] = [];
    for (const name of document.names)
      try {
        if (this.#references.set(name, valueIn(content, placeOf(name).member))) changed.push(name);
      } catch (cause) {
        faults.set(name, `the secret \${${name}} ${(cause as Error).message}`);
      }
    document.faults = faults;
    if (changed.length > 0 && this.#listener) this.#references.changed(changed);
  }

  #tell({ faults, readAt, names }: Document): void {
    const [fault] = faults.values();
    if (fault === undefined)
      return this.#listener?.info(`the secret \${${[...names].join("}, ${")}} can be read again`);
    const isKept = readAt !== undefined ? "; the last value stays in use" : "";
    this.#listener?.fault(`secrets_stale: ${fault}${isKept}`);
  }

  #storeOf(kind: string): Promise<Store> {
    let store = this.#stores.get(kind);
    if (!store) this.#stores.set(kind, (store = openStore(kind, this.#options, this.#env)));
    return store;
  }

  /** Wakes up for the document that is due first. */
  #schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#listener || this.#documents.size === 0) return;
    const first = Math.min(...[...this.#documents.values()].map(({ dueAt }) => dueAt));
    this.#timer = setTimeout(
      () => this.#refresh(),
      Math.min(Math.max(10, first - performance.now()), 2 ** 30),
    );
    this.#timer.unref();
  }

  #refresh(): void {
    const now = performance.now();
    for (const document of this.#documents.values())
      if (document.dueAt <= now && !document.pending) {
        // The end of the work sets the next time.
        document.dueAt = now + document.refreshMs;
        void this.#refreshOne(document);
      }
    this.#schedule();
  }

  async #refreshOne(document: Document): Promise<void> {
    if (!(await this.#extend(document))) await this.#fetch(document, RENEW_MS);
  }

  /** @returns whether the lease of the document is longer now, so that it need not be read */
  async #extend(document: Document): Promise<boolean> {
    const { lease } = document;
    if (!lease?.extend || document.failures > 0) return false;
    try {
      const ms = await lease.extend(AbortSignal.timeout(RENEW_MS));
      if (ms < lease.wholeMs * LEAST_EXTENSION) return false;
      document.lease = { ...lease, ms };
      document.dueAt = performance.now() + ms * EXTEND_AFTER;
      this.#schedule();
      return true;
    } catch {
      return false;
    }
  }
}

/** How long to wait until the next read. Milliseconds. */
function pauseOf({ failures, lease, refreshMs }: Document): number {
  if (failures > 0) return Math.min(1_000 * 2 ** (failures - 1), MOST_PAUSE_MS);
  return lease ? lease.ms * EXTEND_AFTER : refreshMs;
}

const PATHS = new Set(["ca", "tokenFile", "keyFile"]);

/** Relative paths begin at the folder of the config file. */
function withPaths(value: unknown, folder: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).map(([name, inner]) => [
      name,
      PATHS.has(name) && typeof inner === "string" ? resolve(folder, inner) : withPaths(inner, folder),
    ]),
  );
}
