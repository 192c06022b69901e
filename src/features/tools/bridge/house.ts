/** The process of the tools: sessions, connections and calls that wait exist here, once for all workers. */
import type { ConnectAsk } from "../auth/connecting.ts";
import { type Credentials, guardedBy } from "../auth/credentials.ts";
import type { Ask, Introduction, Piece } from "../asks.ts";
import type { ToolsConfig } from "../section.ts";
import { Exchanges } from "../loop/exchanges.ts";
import { Approved } from "../pins/approved.ts";
import { type ConnectProgram, Server, type ServerEvents } from "../servers/server.ts";
import { Samples } from "../sampling/process.ts";
import type { Verdicts } from "../servers/verdicts.ts";
import { McpError } from "../wire/messages.ts";
import { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import { Forwarder } from "./forward.ts";
import { Inquiries } from "./inquiries.ts";
import { LegacyDoor } from "./legacy.ts";
import { Listeners } from "./listeners.ts";
import { ModernDoor } from "./modern.ts";
import { ParkedCalls } from "./parked.ts";
import { Pieces } from "./pieces.ts";
import { internal, refused } from "./refusals.ts";
import { Seal } from "./seal.ts";
import { UsableTools } from "./usable.ts";
import { type Use, View } from "./view.ts";
import { Watchers } from "./watchers.ts";

export interface HouseOptions {
  /** Logs an error that is no answer. */
  fault(sentence: string): void;
  /** Opens connections to servers that are programs. */
  readonly connect: ConnectProgram;
  readonly credentials: Credentials;
  readonly verdicts: Verdicts;
  /** What the programs of a server wrote to their standard errors. */
  logs(server: string): string;
  /** The config has no such server any more. */
  forget(server: string): void;
}

const SWEEP_MS = 5_000;

export class House {
  readonly #options: HouseOptions;
  readonly #servers = new Map<string, Server>();
  readonly #listeners = new Listeners();
  readonly #samples = new Samples();
  readonly #parked = new ParkedCalls();
  readonly #exchanges = new Exchanges();
  readonly #watchers = new Watchers();
  readonly #approved = new Approved();
  readonly #seal = new Seal();
  readonly #usable = new UsableTools(this.#approved);
  readonly #modern: ModernDoor;
  readonly #legacy: LegacyDoor;
  readonly #inquiries: Inquiries;
  #isLean = false;
  #isStrict = false;
  /** What is approved, as text. */
  #pins = "";
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(options: HouseOptions) {
    this.#options = options;
    const use: Use = (server, definitions, caller) => this.#usable.of(server, definitions, caller);
    const context: Context = {
      answers: new Answers(this.#seal, new Forwarder(this.#seal, this.#parked), () => this.#isLean),
      ...{ listeners: this.#listeners, samples: this.#samples },
      view: (caller, endpoint) => new View(this.#servers, caller, endpoint, use),
      errorOf: (thrown) => this.#errorOf(thrown),
    };
    this.#modern = new ModernDoor(context);
    this.#legacy = new LegacyDoor(context);
    this.#inquiries = new Inquiries(context);
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  introduced({ options, pins, seal, sealKeys = [] }: Introduction): void {
    this.#options.credentials.sealBy(sealKeys);
    if (seal !== undefined) this.#seal.share(seal);
    this.#isLean = options.lean === "search";
    this.#isStrict = options.strict === true;
    this.#options.credentials.configure({ hosts: [], ...options });
    const isApproved = pins !== undefined && JSON.stringify(pins) !== this.#pins;
    if (isApproved) {
      this.#pins = JSON.stringify(pins);
      this.#approved.update(pins);
      this.#usable.renew();
    }
    if (this.#configure(options.servers) || isApproved) this.#listeners.changed();
  }

  answer(ask: Ask, stop: AbortSignal): AsyncIterable<Piece> {
    const pieces = new Pieces();
    const left = () => pieces.leave();
    stop.addEventListener("abort", left, { once: true });
    this.#serve(ask, pieces, stop).catch((thrown: unknown) => {
      pieces.push(refused(undefined, this.#errorOf(thrown)));
      pieces.end();
    });
    return pieces.read(true);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#parked.close(new Error("weir stops"));
    this.#legacy.close();
    await Promise.all(Array.from(this.#servers.values(), (server) => server.close()));
  }

  #serve(ask: Ask, pieces: Pieces, stop: AbortSignal): Promise<void> {
    switch (ask.kind) {
      case "post":
        return (ask.isModern ? this.#modern : this.#legacy).post(ask, pieces, stop);
      case "stream":
        return this.#legacy.stream(ask, pieces, stop);
      case "end":
        return this.#legacy.end(ask, pieces);
      case "resolve":
        return this.#value(pieces, () => this.#inquiries.resolve(ask, stop));
      case "tools":
        return this.#value(pieces, () => this.#inquiries.tools(ask.caller, stop));
      case "call":
        return this.#value(pieces, () => this.#inquiries.call(ask, pieces, stop));
      case "sampled":
        return this.#value(pieces, async () => this.#samples.answered(ask));
      case "keep":
        this.#exchanges.keep(ask.owner, ask.calls, ask.text);
        return this.#value(pieces, () => Promise.resolve(true));
      case "find":
        return this.#value(pieces, async () => this.#exchanges.find(ask.owner, ask.calls));
      case "connect":
        return this.#value(pieces, () => this.#connect(ask.connect));
      case "watch":
        this.#watchers.watch(pieces, stop);
        return Promise.resolve();
      case "logs":
        return this.#value(pieces, () => Promise.resolve(this.#options.logs(ask.server)));
    }
  }

  #connect(ask: ConnectAsk): Promise<unknown> {
    const servers = Array.from(this.#servers.values(), (server) =>
      guardedBy(server, server.config.url ?? ""),
    );
    return this.#options.credentials.connect(ask, servers);
  }

  async #value(pieces: Pieces, work: () => Promise<unknown>): Promise<void> {
    try {
      pieces.push({ value: await work() });
    } catch (thrown) {
      pieces.push({ value: { fault: this.#errorOf(thrown).rpc } });
    }
    pieces.end();
  }

  #errorOf(thrown: unknown): McpError {
    if (thrown instanceof McpError) return thrown;
    this.#options.fault(
      `tools: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`,
    );
    return internal();
  }

  /** @returns whether a server was added, changed or taken away */
  #configure(servers: ToolsConfig["servers"]): boolean {
    const before = new Map(this.#servers);
    let isChanged = before.size !== Object.keys(servers).length;
    this.#servers.clear();
    for (const name in servers) {
      const config = servers[name]!;
      const known = before.get(name);
      const isSame = known !== undefined && JSON.stringify(known.config) === JSON.stringify(config);
      const isKept = isSame || known?.takes(config) === true;
      this.#servers.set(name, isKept ? known! : this.#create(name, config));
      isChanged ||= !isSame;
      if (isKept) before.delete(name);
    }
    for (const [name, server] of before) this.#leave(name, server, name in servers);
    if (isChanged) this.#usable.renew();
    return isChanged;
  }

  /** @param isReplaced the config has another server of this name */
  #leave(name: string, server: Server, isReplaced: boolean): void {
    this.#watchers.forget(name);
    if (isReplaced) return server.retire();
    void server.close();
    this.#options.forget(name);
  }

  #create(name: string, config: ToolsConfig["servers"][string]): Server {
    const events: ServerEvents = {
      heard: (server, owner, method, params) => this.#listeners.heard(server, owner, method, params),
      listed: (server, definitions) => this.#watchers.listed(server, definitions),
      repaired: (server, kind) => this.#watchers.repaired(server, kind),
      met: (server, met) => this.#watchers.met(server, met),
    };
    const { connect: program, credentials, verdicts } = this.#options;
    return new Server(name, config, events, {
      ...{ program, verdicts },
      isStrict: () => this.#isStrict,
      credential: (server, url, { principal, brought }) =>
        credentials.of(guardedBy(server, url), principal, brought?.[server.name]),
      accountFault: (server, url) => credentials.fault(guardedBy(server, url)),
    });
  }

  #sweep(): void {
    const now = performance.now();
    for (const server of this.#servers.values()) server.sweep(now);
    this.#legacy.sweep(now);
  }
}
