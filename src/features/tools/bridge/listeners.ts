/** Who hears of changes: modern clients that listen, and legacy ones with an open stream. */
import type { JsonObject } from "../../../core/json.ts";
import type { Connection } from "../servers/connection.ts";
import { EVERYBODY, type Held, type Server } from "../servers/server.ts";
import { type Exchange, ownerOf } from "./exchange.ts";
import { type HeardTasks, toldOf } from "./tasks.ts";
import type { View } from "./view.ts";

/** Member of the filter (`notifications` of `subscriptions/listen`), by notification. */
const WANTED: Readonly<Record<string, string>> = {
  "notifications/tools/list_changed": "toolsListChanged",
  "notifications/prompts/list_changed": "promptsListChanged",
  "notifications/resources/list_changed": "resourcesListChanged",
};

export interface Listener {
  readonly caller: string;
  /** What it sees now. @throws McpError when it sees nothing any more */
  view(): View;
  /** As `subscriptions/listen` has it. */
  readonly wanted: JsonObject;
  /** Of which it hears each change. */
  readonly tasks?: HeardTasks;
  tell(method: string, params: JsonObject): void;
}

/** Longest wait for the servers, before weir tells a client that it listens. Milliseconds. */
const OPEN_MS = 2_000;

/** Time in which equal changes are told once. Milliseconds. */
const GATHER_MS = 30;

export class Listeners {
  /** With the servers at which it listens, and what ends that. */
  readonly #all = new Map<Listener, Hearing>();
  readonly #waiting = new WeakMap<Listener, Set<string>>();

  /**
   * Listens until `stop` aborts, also at the servers that tell only who listens.
   * @returns when those listen, or have had time for it
   */
  async add(listener: Listener, exchange: Exchange, stop: AbortSignal): Promise<void> {
    const hearing: Hearing = { exchange, at: new Map() };
    this.#all.set(listener, hearing);
    const left = () => {
      this.#all.delete(listener);
      for (const one of hearing.at.values()) one.abort(stop.reason);
    };
    stop.addEventListener("abort", left, { once: true });
    await Promise.race([this.#follow(listener, hearing), Bun.sleep(OPEN_MS)]);
  }

  /** Listens at the servers that there are now, and no more at others. */
  async #follow(listener: Listener, { exchange, at }: Hearing): Promise<void> {
    const servers = serversOf(listener);
    for (const [server, one] of at)
      if (!servers.includes(server)) {
        at.delete(server);
        one.abort(new Error("the server has changed"));
      }
    const opened = servers.flatMap((server) => {
      if (at.has(server)) return [];
      const closing = new AbortController();
      at.set(server, closing);
      return [hear(server, listener, exchange, closing.signal)];
    });
    await Promise.all(opened);
  }

  /** A server has told a change on a connection of a principal. Several connections tell the same, and a server may tell a lot. */
  heard(server: Server, owner: string, method: string, params: JsonObject): void {
    for (const [listener, { at }] of this.#all) {
      if (!at.has(server) || !isFor(listener, owner)) continue;
      if (method === "notifications/tasks") tellTask(listener, server, params);
      else if (wants(listener, method, params)) this.#soon(listener, server, method, params);
    }
  }

  #soon(listener: Listener, { name }: Server, method: string, params: JsonObject): void {
    const waiting = this.#waiting.get(listener) ?? new Set<string>();
    this.#waiting.set(listener, waiting);
    const key = JSON.stringify([name, method, params["uri"]]);
    if (waiting.has(key)) return;
    waiting.add(key);
    setTimeout(() => {
      waiting.delete(key);
      if (this.#all.has(listener)) listener.tell(method, params);
    }, GATHER_MS).unref();
  }

  /** The servers of everybody may have changed. */
  changed(): void {
    for (const [listener, hearing] of this.#all) {
      void this.#follow(listener, hearing);
      for (const method in WANTED) if (wants(listener, method, {})) listener.tell(method, {});
    }
  }

  get size(): number {
    return this.#all.size;
  }
}

function tellTask({ tasks, tell }: Listener, { name }: Server, params: JsonObject): void {
  const told = tasks && toldOf(tasks, name, params);
  if (told) tell("notifications/tasks", told);
}

interface Hearing {
  readonly exchange: Exchange;
  readonly at: Map<Server, AbortController>;
}

function serversOf(listener: Listener): readonly Server[] {
  try {
    return listener.view().servers;
  } catch {
    // Its only server is no more.
    return [];
  }
}

/** What a connection of one principal tells is not for others. */
function isFor({ caller }: Listener, owner: string): boolean {
  return owner === caller || owner === EVERYBODY;
}

function wants({ wanted }: Listener, method: string, { uri }: JsonObject): boolean {
  const member = WANTED[method];
  if (member !== undefined) return wanted[member] === true;
  const uris = wanted["resourceSubscriptions"];
  return method === "notifications/resources/updated" && Array.isArray(uris) && uris.includes(uri as string);
}

/** @returns when the server listens */
async function hear(
  server: Server,
  { wanted, tasks }: Listener,
  exchange: Exchange,
  stop: AbortSignal,
): Promise<void> {
  let held: Held;
  try {
    held = await server.hold(ownerOf(exchange), stop);
  } catch {
    // A server that cannot be reached has no changes to tell.
    return;
  }
  if (stop.aborted) return held.release();
  stop.addEventListener("abort", () => held.release(), { once: true });
  const { connection } = held;
  const taskParts = Array.from(tasks?.get(server.name)?.keys() ?? [], (id) => ({ taskIds: [id] }));
  if (connection.era === "legacy") await subscribe(held, wanted, exchange, stop).catch(() => {});
  else await Promise.all([...partsOf(wanted), ...taskParts].map((part) => share(connection, part, stop)));
}

/** What one stream of a modern server is asked for, so that two listeners share streams and hear of nothing twice. */
function partsOf(wanted: JsonObject): JsonObject[] {
  const uris = wanted["resourceSubscriptions"];
  const lists = Object.fromEntries(Object.values(WANTED).map((member) => [member, true]));
  const isAny = Object.values(WANTED).some((member) => wanted[member] === true);
  const single = Array.isArray(uris) ? uris.map((uri) => ({ resourceSubscriptions: [uri] })) : [];
  return [...(isAny ? [lists] : []), ...single];
}

/** Wait before a stream of a server that has ended is opened again. Milliseconds. */
const AGAIN_MS = 1_000;

interface SharedStream {
  count: number;
  readonly closing: AbortController;
  readonly opened: Promise<void>;
}

const shared = new WeakMap<Connection, Map<string, SharedStream>>();

/** Keeps one stream of a connection open as long as a client wants it. @returns when it is open */
function share(connection: Connection, part: JsonObject, stop: AbortSignal): Promise<void> {
  const streams = shared.get(connection) ?? new Map<string, SharedStream>();
  shared.set(connection, streams);
  const key = JSON.stringify(part);
  let stream = streams.get(key);
  if (!stream) {
    const { promise: opened, resolve } = Promise.withResolvers<void>();
    streams.set(key, (stream = { count: 0, closing: new AbortController(), opened }));
    void keepOpen(connection, part, stream.closing.signal, resolve);
  }
  stream.count++;
  const leave = () => {
    if (--stream.count > 0) return;
    streams.delete(key);
    stream.closing.abort(new Error("no client listens"));
  };
  stop.addEventListener("abort", leave, { once: true });
  return stream.opened;
}

async function keepOpen(
  connection: Connection,
  part: JsonObject,
  stop: AbortSignal,
  opened: () => void,
): Promise<void> {
  while (!stop.aborted) {
    const isOver = await connection.listen?.(part, stop, opened).then(
      () => "taskIds" in part,
      () => false,
    );
    // A task comes to an end, or is none.
    if (isOver) return opened();
    if (!stop.aborted) await Bun.sleep(AGAIN_MS);
  }
}

/** Legacy servers tell of resources to which their client has subscribed. */
async function subscribe(
  { connection }: Held,
  wanted: JsonObject,
  exchange: Exchange,
  stop: AbortSignal,
): Promise<void> {
  const uris = wanted["resourceSubscriptions"];
  if (!Array.isArray(uris)) return;
  for (const uri of uris)
    await connection.request({
      ...{ method: "resources/subscribe", params: { uri }, client: exchange.client, stop },
      notify: () => {},
      ask: (method, params) => exchange.ask(method, params),
    });
}
