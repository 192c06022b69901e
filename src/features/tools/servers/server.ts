/** A configured server: its connections, and what it lists. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import { type Credential, NeedsUser } from "../auth/credential.ts";
import type { ServerConfig } from "../section.ts";
import type { Transport } from "../../../http/types.ts";
import { withModels } from "../sampling/client.ts";
import { type Answered, CODE, McpError } from "../wire/messages.ts";
import type { Era } from "../wire/revisions.ts";
import type { ClientFacts, Connection, ConnectionEvents } from "./connection.ts";
import { aborted } from "./aborted.ts";
import { openHttp } from "./open-http.ts";
import { allPages } from "./pages.ts";
import { completed, type Repair } from "./repairs.ts";
import type { Verdicts } from "./verdicts.ts";

/** What a server tells the process. */
export interface ServerEvents {
  /** A notification, and whose connection brought it. */
  heard(server: Server, owner: string, method: string, params: JsonObject): void;
  /** The server gave a list of its tools. */
  listed(server: Server, definitions: readonly JsonObject[]): void;
  /** A result was repaired. */
  repaired?(server: Server, kind: Repair): void;
  /** A connection was opened, or could not be. */
  met(server: Server, met: Connection | { readonly reason: string }): void;
}

/** Opens a connection to a server that is a program. @param key tells apart the connections of a server */
export type ConnectProgram = (
  server: Server,
  key: string,
  owner: Owner,
  events: ConnectionEvents,
) => Promise<Connection>;

export type ForWhom = Pick<Owner, "principal" | "brought">;

/** How servers are reached. */
export interface Ways {
  /** Opens connections to servers that are programs. */
  readonly program: ConnectProgram;
  /** What requests to a server carry. @param owner for whom they are */
  credential(server: Pick<Server, "name" | "config">, url: string, owner: ForWhom): Credential;
  /** Which era servers over HTTP were found to speak. */
  readonly verdicts?: Verdicts;
  /** Whether results are refused that need a repair. */
  readonly isStrict?: () => boolean;
  /** Why callers cannot connect accounts: a clause. */
  accountFault?(server: Pick<Server, "name" | "config">, url: string): Promise<string | undefined>;
  /** Default: one that keeps connections. */
  readonly transport?: Transport;
}

/** Longest time to open a connection. Milliseconds. */
const OPEN_MS = 30_000;
/** Owner of a connection that clients of all keys share. */
export const EVERYBODY = "*";
/** Its key. */
const MODERN_KEY = "modern";
/** How long weir keeps a list of tools whose server says nothing of changes. Milliseconds. */
const KEEP_MS = 60_000;

/** For whom a connection is opened. */
export interface Owner {
  /** Id of the principal. */
  readonly principal: string;
  readonly client: ClientFacts;
  /** Era of the client. */
  readonly era: Era;
  /** Credentials that a request brings, by the names of servers. */
  readonly brought?: Readonly<Record<string, string>>;
}

interface Pooled {
  /** Principal whose connection it is; {@link EVERYBODY} if all share it. */
  owner: string;
  readonly connecting: Promise<Connection>;
  running: number;
  usedAt: number;
  tools?: KeptTools;
  /** How long clients may keep the list of tools. Milliseconds. */
  ttlMs?: number;
}

/** A connection while a request uses it. */
export interface Held {
  readonly connection: Connection;
  /**
   * The tools of the server, all pages, as it lists them.
   * @param fresh not older than the server allows; else they may be some seconds old
   */
  tools(stop: AbortSignal, fresh?: boolean): Promise<readonly JsonObject[]>;
  /** How long clients may keep that list. Milliseconds. */
  ttlMs(): number;
  release(): void;
}

export class Server {
  readonly name: string;
  #config: ServerConfig;
  /** What the server said of itself last: name and version. */
  info: JsonObject | undefined;
  /** How models should use it, as it said last. */
  instructions: string | undefined;
  readonly #events: ServerEvents;
  readonly #ways: Ways;
  readonly #pool = new Map<string, Pooled>();
  /** The era that the server was found to speak, by that of the client. */
  readonly #eras = new Map<Era, Era>();
  #calls = 0;
  #isRetired = false;

  constructor(name: string, config: ServerConfig, events: ServerEvents, ways: Ways) {
    this.name = name;
    this.#config = config;
    this.#events = events;
    this.#ways = ways;
  }

  get config(): ServerConfig {
    return this.#config;
  }

  /** Takes another config, if the connections are the same with it. @returns whether it did */
  takes(config: ServerConfig): boolean {
    if (JSON.stringify(reachedBy(config)) !== JSON.stringify(reachedBy(this.#config))) return false;
    this.#config = config;
    return true;
  }

  /** The connection for an owner; opens it if there is none. @throws McpError 1002 */
  async hold(given: Owner, stop: AbortSignal): Promise<Held> {
    const owner = this.config.samples > 0 ? { ...given, client: withModels(given.client) } : given;
    const key = this.#keyOf(owner);
    let pooled = this.#pool.get(key);
    if (!pooled) {
      pooled = this.#open(key, owner);
      this.#pool.set(key, pooled);
    }
    pooled.running++;
    const release = () => this.#released(pooled);
    try {
      const connection = await aborted(pooled.connecting, stop);
      return {
        ...{ connection, release, ttlMs: () => pooled.ttlMs ?? 0 },
        tools: (until, fresh) => aborted(this.#tools(pooled, connection, fresh ?? false), until),
      };
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  /** Ends what no call has used for the idle time. */
  sweep(now: number): void {
    for (const pooled of this.#pool.values())
      if (pooled.running === 0 && now - pooled.usedAt > this.config.idleMs) this.#drop(pooled);
  }

  /** The config has another server of this name: what runs goes on, and its connections end after it. */
  retire(): void {
    this.#isRetired = true;
    for (const pooled of this.#pool.values()) if (pooled.running === 0) this.#drop(pooled);
  }

  async close(): Promise<void> {
    const all = [...this.#pool.values()];
    this.#pool.clear();
    await Promise.all(all.map(({ connecting }) => connecting.then((one) => one.close()).catch(() => {})));
  }

  /** A modern server over HTTP has no session: one connection serves all. */
  #keyOf({ principal, client, era, brought }: Owner): string {
    const { isolation, url, auth } = this.config;
    // Where callers have credentials of their own, each has a connection; one key may bring those of many.
    const own = brought?.[this.name];
    const whose = own === undefined ? principal : `${principal} ${digestOf(own)}`;
    const isOwn = Boolean(auth?.user ?? auth?.exchange ?? auth?.clientHeader);
    if (this.#eras.get(era) === "modern" && url !== undefined)
      return isOwn ? JSON.stringify([MODERN_KEY, whose]) : MODERN_KEY;
    if (isolation === "call") return String(++this.#calls);
    const sharing = isolation === "shared" ? "" : whose;
    return JSON.stringify([sharing, url === undefined ? "" : era, client.capabilities]);
  }

  #open(key: string, owner: Owner): Pooled {
    const events: ConnectionEvents = {
      notified: (method, params) => {
        if (method === "notifications/tools/list_changed") delete pooled.tools;
        this.#events.heard(this, pooled.owner, method, params);
      },
      ended: () => this.#forget(pooled),
    };
    const pooled: Pooled = {
      owner: this.config.isolation === "shared" ? EVERYBODY : owner.principal,
      ...{ running: 0, usedAt: performance.now() },
      connecting: this.#connect(key, owner, events).then(
        (connection) =>
          this.#found(
            key,
            pooled,
            owner,
            counted(connection, pooled, {
              released: () => this.#released(pooled),
              read: (method, answered) => this.#completed(method, answered),
            }),
          ),
        (thrown: unknown) => {
          this.#forget(pooled);
          void this.#reasonOf(thrown).then((reason) => this.#events.met(this, { reason }));
          throw thrown;
        },
      ),
    };
    return pooled;
  }

  /** A modern server over HTTP keeps no sessions: all share the connection that was opened first. */
  #found(key: string, pooled: Pooled, owner: Owner, connection: Connection): Connection {
    this.#eras.set(owner.era, connection.era);
    const { info, instructions } = connection.facts;
    if (Object.keys(info).length > 0) this.info = info;
    this.instructions = instructions;
    this.#events.met(this, connection);
    const shared = this.#keyOf(owner);
    const isModern = connection.era === "modern" && this.config.url !== undefined;
    if (isModern && this.#pool.get(key) === pooled && !this.#pool.has(shared)) {
      this.#pool.delete(key);
      this.#pool.set(shared, pooled);
      if (shared === MODERN_KEY) pooled.owner = EVERYBODY;
    }
    return connection;
  }

  #completed(method: string, answered: Answered): Answered {
    const isStrict = this.#ways.isStrict?.() === true;
    const repaired = (kind: Repair) => this.#events.repaired?.(this, kind);
    return completed(answered, { server: this.name, method, isStrict, repaired });
  }

  #forget(pooled: Pooled): void {
    for (const [key, one] of this.#pool) if (one === pooled) this.#pool.delete(key);
  }

  /** @throws McpError 1002 */
  async #connect(key: string, owner: Owner, events: ConnectionEvents): Promise<Connection> {
    const { url, era, isolation } = this.config;
    if (url === undefined) {
      return this.#ways.program(this, key, owner, events);
    }
    const stop = AbortSignal.timeout(OPEN_MS);
    const { transport, verdicts } = this.#ways;
    const credential = this.#ways.credential(this, url, owner);
    const isMixed = isolation === "shared";
    const target = { name: this.name, url, credential, isMixed, ...(transport && { transport }) };
    const asked = { target, era, preferred: owner.era, client: owner.client, events, stop };
    return openHttp({ ...asked, ...(verdicts && { verdicts }) }).catch((thrown: unknown) => {
      if (!stop.aborted) throw thrown;
      throw new McpError(
        CODE.unreachable,
        `server ${this.name} cannot be reached: it did not answer within ${OPEN_MS / 1000} s`,
      );
    });
  }

  /** Why there is no connection, for the operator. The link by which a caller connects its account is for the caller alone. */
  async #reasonOf(thrown: unknown): Promise<string> {
    if (!(thrown instanceof NeedsUser)) return thrown instanceof Error ? thrown.message : String(thrown);
    const fault = await this.#ways.accountFault?.(this, this.config.url ?? "");
    return fault ?? "the caller has to connect an account first";
  }

  #released(pooled: Pooled): void {
    pooled.running--;
    pooled.usedAt = performance.now();
    const isLast = this.#isRetired || this.config.isolation === "call";
    if (isLast && pooled.running === 0) this.#drop(pooled);
  }

  #drop(pooled: Pooled): void {
    this.#forget(pooled);
    void pooled.connecting.then((connection) => connection.close()).catch(() => {});
  }

  #tools(pooled: Pooled, connection: Connection, fresh: boolean): Promise<readonly JsonObject[]> {
    const now = performance.now();
    const { tools } = pooled;
    if (tools && now < (fresh ? tools.freshUntil : tools.until)) return tools.list;
    const stop = AbortSignal.timeout(this.config.timeoutMs);
    const kept: KeptTools = {
      list: allPages(this.name, connection, "tools/list", "tools", stop).then(({ entries, ttlMs }) => {
        this.#events.listed(this, entries);
        pooled.ttlMs = ttlMs;
        kept.freshUntil = tellsChanges(connection) ? kept.until : now + Math.min(ttlMs, KEEP_MS);
        return entries;
      }),
      ...{ until: now + KEEP_MS, freshUntil: now + KEEP_MS },
    };
    pooled.tools = kept;
    kept.list.catch(() => {
      if (pooled.tools === kept) delete pooled.tools;
    });
    return kept.list;
  }
}

interface Counting {
  released(): void;
  /** An answer of a modern server. @throws McpError 1005 */
  read(method: string, answered: Answered): Answered;
}

/** A connection is in use as long as a request runs, also after who began it has left: calls wait for their clients. */
function counted(connection: Connection, pooled: Pooled, { released, read }: Counting): Connection {
  const { era } = connection;
  return {
    era,
    get facts() {
      return connection.facts;
    },
    async request(outgoing) {
      pooled.running++;
      try {
        const answered = await connection.request(outgoing);
        return era === "modern" ? read(outgoing.method, answered) : answered;
      } finally {
        released();
      }
    },
    notify: (method, params) => connection.notify(method, params),
    ...(connection.listen && {
      listen: (wanted, stop, opened) => connection.listen!(wanted, stop, opened),
    }),
    close: () => connection.close(),
  };
}

/** What a connection depends on. */
function reachedBy({ url, command, env, auth, isolation, era, samples }: ServerConfig): unknown {
  return [url, command, env, auth, isolation, era, samples > 0];
}

interface KeptTools {
  readonly list: Promise<readonly JsonObject[]>;
  readonly until: number;
  freshUntil: number;
}

/** A legacy server with a session says when its tools change. */
function tellsChanges({ era, facts }: Connection): boolean {
  const { tools } = facts.capabilities;
  return era === "legacy" && isObject(tools) && tools["listChanged"] === true;
}

function digestOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64url");
}
