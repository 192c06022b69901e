/** The programs of all servers: how many there may be, when they may start again, and what they wrote. */
import { limitText, printable, recordedName } from "../../../../core/printable.ts";
import type { ServiceHost } from "../../../../service/seams.ts";
import { CODE, McpError } from "../../wire/messages.ts";
import type { Era } from "../../wire/revisions.ts";
import type { Connection, ConnectionEvents } from "../connection.ts";
import { unreachable } from "../http.ts";
import { type Grace, GRACE, RunningChild } from "./child.ts";
import { Crashes } from "./crashes.ts";
import { Folders } from "./folders.ts";
import { Kept, printOf, type Wanted } from "./kept.ts";
import { StdioConnection } from "./stdio.ts";

export interface ChildrenLimits {
  /** Programs at once. */
  readonly total: number;
  /** Programs at once of one principal. */
  readonly each: number;
  /** See {@link Opening.probeMs}: a program that is started for the first time may have to be downloaded. Milliseconds. */
  readonly probeMs: number;
  readonly startMs: number;
  readonly grace: Grace;
}

const LIMITS: ChildrenLimits = { total: 32, each: 8, probeMs: 10_000, startMs: 120_000, grace: GRACE };
/** A start that is due later is refused at once. Milliseconds. */
const LONGEST_WAIT_MS = 2000;
/** How long a start waits for the end of another program. Milliseconds. */
const ROOM_MS = 8000;
/** When to ask again where all programs are in use. Seconds. */
const RETRY_S = 5;

export class Children {
  readonly #host: Pick<ServiceHost, "spawn" | "folder" | "fault" | "info">;
  readonly #limits: ChildrenLimits;
  readonly #folders: Folders;
  readonly #crashes = new Crashes();
  readonly #kept = new Set<Kept>();
  /** See {@link printOf}, by server. */
  readonly #prints = new Map<string, string>();
  /** By server and preferred era, what its program spoke last. */
  readonly #eras = new Map<string, Era>();
  /** By server, what its last program that ended wrote to its standard error. */
  readonly #lastErrors = new Map<string, string>();
  #isClosed = false;

  constructor(
    host: Pick<ServiceHost, "spawn" | "folder" | "fault" | "info">,
    limits: Partial<ChildrenLimits> = {},
  ) {
    this.#host = host;
    this.#limits = { ...LIMITS, ...limits };
    this.#folders = new Folders(host);
  }

  /**
   * Starts a program and connects to it. Closing the connection ends it, and so does another start for which there is no place.
   * @throws McpError 1001 if there are too many programs, 1002 if it cannot be reached
   */
  async connect(wanted: Wanted, events: ConnectionEvents): Promise<Connection> {
    const { server, principal, preferred } = wanted;
    if (this.#isClosed) throw unreachable(server, "weir stops");
    this.#noteConfig(wanted);
    const kept = new Kept(wanted, events);
    this.#kept.add(kept);
    try {
      await this.#wait(server, principal);
      await this.#room(kept);
      const connection = await this.#open(kept);
      if (kept.ending) throw unreachable(server, connection.over ?? "weir stops");
      this.#eras.set(`${server} ${preferred}`, connection.era);
      connection.lastUse = performance.now();
      return (kept.connection = connection);
    } catch (cause) {
      void this.#end(kept, "it could not be used");
      throw cause;
    }
  }

  /** What the programs of a server wrote last to their standard errors. */
  logs(server: string): string {
    const here = [...this.#kept].flatMap(({ wanted, starting }) =>
      wanted.server === server && starting ? [logOf(wanted.principal, starting)] : [],
    );
    return [this.#lastErrors.get(server) ?? "", ...here].join("");
  }

  /** The server is no more: its programs end, and their requests fail. */
  forget(server: string): void {
    for (const kept of this.#kept)
      if (kept.wanted.server === server) void this.#end(kept, "the server was taken out of the config");
    this.#forget(server);
    this.#prints.delete(server);
    this.#lastErrors.delete(server);
  }

  /** Ends all. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#kept, (kept) => this.#end(kept, "weir stops")));
    await this.#folders.close();
  }

  /** A server whose config has changed is another one, which has not crashed yet. */
  #noteConfig(wanted: Wanted): void {
    const { server } = wanted;
    const print = printOf(wanted);
    if (this.#prints.get(server) !== print) this.#forget(server);
    this.#prints.set(server, print);
  }

  #forget(server: string): void {
    this.#crashes.forget(server);
    for (const era of ["modern", "legacy"]) this.#eras.delete(`${server} ${era}`);
  }

  /** Waits until a program that crashed may start again. @throws McpError 1002 if that takes long */
  async #wait(server: string, principal: string): Promise<void> {
    const standing = this.#crashes.of(server, principal, performance.now());
    if (!standing) return;
    const { waitMs, isDown, why } = standing;
    if (waitMs <= LONGEST_WAIT_MS && !isDown) return Bun.sleep(waitMs);
    const seconds = Math.ceil(waitMs / 1000);
    const message = isDown
      ? `server ${server} is down: it ended again and again, and weir starts it again in ${seconds} s: ${why}`
      : `server ${server} cannot be reached: weir starts it again in ${seconds} s: ${why}`;
    throw new McpError(CODE.unreachable, message, { data: { server, retryAfter: seconds } });
  }

  /** Makes room for a program by ending those that were idle for longest. @throws McpError 1001 if all are in use */
  async #room(kept: Kept): Promise<void> {
    const { principal, server } = kept.wanted;
    for (const end = performance.now() + ROOM_MS; performance.now() < end;) {
      if (kept.ending) throw unreachable(server, "weir stops");
      const rivals = this.#rivals(principal);
      if (!rivals) return void (kept.hasPlace = true);
      const [spare] = rivals.filter((each) => each.isSpare).sort((a, b) => b.idle - a.idle);
      const endings = rivals.flatMap(({ ending }) => ending ?? []);
      if (spare) await this.#end(spare, "another program needed its place");
      else if (endings.length > 0) await Promise.race(endings);
      // One that was just handed out shows soon whether it is used.
      else if (rivals.some(({ connection }) => connection?.running === 0)) await Bun.sleep(20);
      else break;
    }
    const message = `too many programs run: server ${server} cannot be started now`;
    throw new McpError(CODE.limit, message, {
      ...{ status: 429, data: { code: "too_many_programs", server, retryAfter: RETRY_S } },
    });
  }

  /** The programs of which one must end before another one starts. @returns undefined if there is room */
  #rivals(principal: string): Kept[] | undefined {
    const all = [...this.#kept].filter(({ hasPlace }) => hasPlace);
    const own = all.filter(({ wanted }) => wanted.principal === principal);
    if (own.length >= this.#limits.each) return own;
    return all.length >= this.#limits.total ? all : undefined;
  }

  /** @throws McpError 1002 */
  async #open(kept: Kept): Promise<StdioConnection> {
    const { server, config, preferred } = kept.wanted;
    const known = config.era === "auto" ? this.#eras.get(`${server} ${preferred}`) : config.era;
    try {
      return await this.#openOnce(kept, known ?? "auto").catch((cause: unknown) => {
        if (known !== undefined || preferred === "legacy" || !hasEnded(cause)) throw cause;
        // Some programs end when they hear a request before the handshake.
        return this.#openOnce(kept, "legacy");
      });
    } catch (cause) {
      // What it spoke before need not be what it speaks now.
      this.#eras.delete(`${server} ${preferred}`);
      throw this.#failed(kept, cause);
    }
  }

  async #openOnce(kept: Kept, era: "auto" | Era): Promise<StdioConnection> {
    const { server, client, preferred, isMixed = false } = kept.wanted;
    if (kept.ending) throw unreachable(server, "weir stops");
    const { probeMs, startMs, grace } = this.#limits;
    const program = { ...this.#programOf(kept, (kept.folder ??= this.#makeFolder(server))), server };
    const connection: StdioConnection = (kept.starting = new StdioConnection(
      { server, isMixed },
      (events) => new RunningChild(this.#host, program, events, grace),
      {
        notified: (method, params) => kept.events.notified(method, params),
        // While it starts, the start fails.
        ended: (why) => kept.connection && this.#crashed(kept, why),
        closed: () => kept.connection && !kept.ending && this.#closed(kept),
      },
    ));
    try {
      await connection.open({ era, preferred, client, probeMs, startMs });
      return connection;
    } catch (cause) {
      void connection.close();
      throw cause;
    }
  }

  #programOf({ wanted: { server, principal, config, isPassing } }: Kept, folder: string) {
    const lasting = () => (isPassing ? folder : this.#folders.lasting(server, principal));
    const env = Object.entries(config.env).map(([name, value]) => [
      name,
      value.includes("{folder}") ? value.replaceAll("{folder}", lasting) : value,
    ]);
    return { command: config.command, env: Object.fromEntries(env) as Record<string, string>, folder };
  }

  /** @throws McpError 1002 */
  #makeFolder(server: string): string {
    try {
      return this.#folders.make();
    } catch (cause) {
      this.#host.fault(`no folder could be made for a program of the server ${server}: ${String(cause)}`);
      throw unreachable(server, "weir could make no folder for it");
    }
  }

  /** A start has failed. */
  #failed(kept: Kept, cause: unknown): McpError {
    const { server } = kept.wanted;
    const error = cause instanceof McpError ? cause : unreachable(server, "weir failed to start it");
    if (error !== cause) this.#host.fault(`the server ${server} could not be started: ${String(cause)}`);
    const why = error.message.slice(error.message.indexOf(": ") + 2);
    if (!kept.ending) this.#count(kept, why);
    return hasEnded(error) ? unreachable(server, why) : error;
  }

  /** It has ended by itself after its start. */
  #crashed(kept: Kept, why: string): void {
    this.#count(kept, why);
    void this.#end(kept, why);
  }

  /** Who got it has ended it. */
  #closed(kept: Kept): void {
    kept.isQuiet = true;
    void this.#end(kept, "weir stopped it");
  }

  #count({ wanted: { server, principal }, starting }: Kept, why: string): void {
    const { isDown, waitMs } = this.#crashes.add(server, principal, why, performance.now());
    const { fault, info } = this.#host;
    const last = lastLines(starting?.errors);
    if (isDown) fault(`the server ${server} is down for ${Math.ceil(waitMs / 1000)} s: ${why}${last}`);
    else info(`a program of the server ${server} failed: ${why}${last}`);
  }

  /** @returns when its process has ended */
  #end(kept: Kept, why: string): Promise<void> {
    return (kept.ending ??= this.#endNow(kept, why));
  }

  async #endNow(kept: Kept, why: string): Promise<void> {
    const { server, principal } = kept.wanted;
    // What is called below may look at `ending`.
    await undefined;
    const { starting, connection } = kept;
    const closed = starting?.close(why);
    if (connection && !kept.isQuiet) kept.events.ended(why);
    await closed;
    if (starting?.errors) this.#lastErrors.set(server, logOf(principal, starting));
    this.#kept.delete(kept);
    if (kept.folder !== undefined) await this.#folders.remove(kept.folder);
  }
}

function hasEnded(cause: unknown): boolean {
  return cause instanceof McpError && cause.code === CODE.cut;
}

function logOf(principal: string, { over, errors }: StdioConnection): string {
  const title = over === undefined ? `runs for ${principal}` : `ran for ${principal}: ${over}`;
  return `--- a program that ${title}\n${errors}${errors === "" || errors.endsWith("\n") ? "" : "\n"}`;
}

/** The last lines that a program wrote, for a log. */
function lastLines(errors = ""): string {
  const lines = errors.trimEnd().split("\n").slice(-3).join(" | ");
  return lines === "" ? "" : `; it wrote: ${limitText(recordedName(printable(lines)), 500)}`;
}
