/** The seams of a call: where code that is no part of the core meets calls, and in which order. */
import type { KindId } from "../core/does.ts";
import type { AnswerNotes } from "../core/answer-notes.ts";
import type { Call } from "../core/call.ts";
import type { Channel } from "../core/channel.ts";
import type { Recorder } from "../core/column.ts";
import type { GatewayError } from "../core/error.ts";
import type { ClientCodec } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";
import type { Lines } from "../core/lines.ts";
import type { CostBound, Ledger } from "../core/ledger.ts";
import type { Meter, Metric } from "../core/metric.ts";
import type { Noted } from "../core/slot.ts";
import type { Hooks, Plugin } from "../core/plugin.ts";
import type { ToolScreen } from "../core/tool-screen.ts";
import type { Caller, Principal } from "../core/principal.ts";
import type { CredentialForm } from "./credentials.ts";
import type { Replica } from "../core/replica.ts";
import type { BoundAsk } from "./bound.ts";
import type { Clock } from "./delivery/clock.ts";
import type { GoneCallers } from "./gone.ts";
import type { Opened } from "./lanes/lane.ts";
import type { ModelCatalog } from "./models/catalog.ts";
import type { Registry } from "./routing/registry.ts";
import type { Session, SessionAsk } from "./sessions.ts";
import type { CallCodec, FindTrace, Foresee, Gateway, Incoming, Resolve, Sent } from "./types.ts";
import type { FindBrowser } from "./browsers.ts";
import type { Told } from "./told.ts";
import type { AroundRoute, OwnRoute } from "./visits.ts";
import type { Work } from "./work.ts";

export type { Issued, Resource } from "./credentials.ts";
export type { BrowserUser, FindBrowser } from "./browsers.ts";
export type { AroundRoute, OwnRoute, Visit, Visited } from "./visits.ts";
export type { Told } from "./told.ts";

/** The places around a call, from the client inwards. A place has one owner. */
export const PLACES = ["labels", "guard", "outline", "repeat", "tape", "capture", "cache", "loop"] as const;

export type AroundPlace = (typeof PLACES)[number];

/** The seams that a part of the gateway uses for one config. */
export interface Seams {
  /** Forms of credentials beside keys: who asks. */
  readonly credentials?: readonly CredentialForm[];
  /** A key of a person is used: throws a GatewayError if the person may not call. Without such a part no key of a person admits calls. */
  readonly owned?: (this: void, principal: Principal) => void;
  /** On whose behalf a caller asks. */
  readonly actsFor?: ActsFor;
  /** Finds the person who is signed in with a browser. */
  readonly browsers?: FindBrowser;
  /** Operations of its own, which check by themselves who asks. */
  readonly routes?: readonly OwnRoute[];
  /** Runs around the routes of all parts. */
  readonly aroundRoutes?: AroundRoute;
  /** Puts into requests what they name, before anything is around their calls. */
  readonly resolves?: Resolve;
  /** Runs around the opening of an answer. */
  readonly around?: {
    readonly at: AroundPlace;
    readonly run: Around;
    /** Whether it is on now: while it is off, a call does not pay for it. It may run all the same. Absent: it is always on. */
    readonly isOn?: () => boolean;
  };
  /** Looks at requests that are on their way inwards. It changes nothing, and where nothing else is around a call, it costs no promise. */
  readonly looks?: { readonly at: AroundPlace; readonly run: Look };
  /** Hooks as a plugin has them. They run in front of those of plugins, in the same sandbox. */
  readonly hooks?: Hooks;
  /** What some callers' programs read of answers. */
  readonly told?: Told;
  /** weir answers a request with an error, perhaps before anything was around it. @param status of the answer */
  readonly refused?: (arrival: Arrival, status: number) => void;
  /** The bytes of an attempt are with the transport, and the provider works on them. */
  readonly sent?: Sent;
  /** Tells in which trace a call is. */
  readonly traceContext?: FindTrace;
  /** Looks at tools that callers call by themselves. For those that models call it sets a `toolScreen`. */
  readonly screenTools?: ScreenTools;
  /** weir explains a call in place of sending it: what the part would do around it. */
  readonly foresee?: Foresee;
}

/**
 * Finds on whose behalf a caller asks. The same object for the same person spares the ledger work.
 * @returns the caller itself where its request names nobody @throws GatewayError for somebody whom it may not name
 */
export type ActsFor = (principal: Principal, request: Request) => Principal | Promise<Principal>;

/** @returns undefined: it does not look at tools of this caller */
export type ScreenTools = (principal: Principal | undefined) => Promise<ToolScreen | undefined>;

/** A config, and what is known about the models that it serves. */
export interface Served {
  readonly config: object;
  readonly catalog: Pick<ModelCatalog, "known" | "list">;
}

/** Secrets to which a config refers; the feature that reads them knows more of them. */
export interface SecretReferences {
  /** Values to mask. */
  readonly masked: readonly string[];
  /** Where the config names them: it names none, if this is empty. */
  readonly uses: readonly unknown[];
  /** Why providers that are `optional` are off, by their names. */
  readonly off: ReadonlyMap<string, string>;
  /** What the feature reads them with. */
  reader(): Promise<unknown>;
}

/** A call that a part makes for a caller, without a client. */
export interface InnerCall {
  /** Who pays; undefined while calls need no key. The part has checked that it may ask now: the scopes are checked once more. */
  readonly principal: Principal | undefined;
  /** The client's address when it asked the part for the call. */
  readonly address: string;
  /** The call occupies a place among the calls in flight, as a request of the client would. */
  readonly occupies?: true;
  /** Called before anything is around the call, which takes notes. */
  begins(call: Call): void;
}

/** The gateway as a part of a process that serves calls may use it. */
export interface WorkerHost {
  /** Watches deadlines, and ends running calls by {@link Clock.end}. */
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** Counts the metrics of the part. */
  readonly meter: Meter;
  /** Masks the credentials of the configured providers. */
  hide(this: void, text: string): string;
  /** Logs a sentence as a fault. */
  fault(this: void, sentence: string): void;
  /** Logs a sentence. */
  info(this: void, sentence: string): void;
  /** The secrets to which the config of this process refers. */
  readonly references?: SecretReferences;
  /** Of the processes of a gateway, one reports for all. */
  readonly isFirst: boolean;
  /** The config that serves now, with the models of the store. Call this when the gateway listens. */
  served(this: void): Served;
  /**
   * Does work that is no answer of a model: the key that pays is held to its budgets and rate limits before the work begins, and the
   * books and the log have a record of it.
   * @throws GatewayError if the work is refused or stopped, and what the work throws
   */
  work<Value>(this: void, work: Work<Value>): Promise<Value>;
  /**
   * Answers a request of the API of clients as the server does, with all that is around calls. The request's signal ends it.
   */
  call(this: void, request: Request, inner: InnerCall): Promise<Response>;
  /** Opens a session with a model. @throws GatewayError if no provider takes it, or the caller may not have it */
  session(this: void, ask: SessionAsk): Promise<Session>;
  /** What a request may cost before it is a call. Nothing is held or noted. */
  bound(this: void, ask: BoundAsk): Promise<CostBound | undefined>;
  /** The caller with a key. @param id of the key @returns undefined: it admits no calls, or is not known */
  callerOfKey(this: void, id: string): Principal | undefined;
  /** No call needs a credential at the moment. */
  isOpen(this: void): boolean;
  /** Which callers are gone for good. A part that knows some of them adds how it tells. */
  readonly gone: GoneCallers;
  /** Makes the caller that a form of credentials has found. @throws Error for a path or a scope that no key could have */
  principal(this: void, caller: Caller): Principal;
  /** Bytes of the part beside stored answers, for the requests that continue them. */
  readonly answerNotes: AnswerNotes;
  /** No other process of this gateway serves calls. */
  readonly isAlone: boolean;
  /** What parts of this process give each other, by slots of the core. All parts have the same object. */
  readonly offers: Noted;
  /** The way to the part of the same name in the keeper. */
  channel<Up, Down>(): Channel<Up, Down>;
  /** The rows of a table of the feature that its `replicas` names. Call this when the part starts. */
  replica<Row>(table: string): Replica<Row>;
  /**
   * The way to the process of the feature, which its manifest declares as `service`. Call this once.
   * @param introduction what the process learns of this worker when they connect, as JSON; default: nothing
   */
  service<Ask, Piece>(introduction?: () => unknown): Lines<Ask, Piece>;
}

/** A part of a process that serves calls, from its start to its end. */
export interface WorkerPart {
  /** Called with each config before it serves. @returns undefined: the part is off, and no call meets it */
  seams(config: object): Seams | undefined | Promise<Seams | undefined>;
  /** Called when a config begins to serve. */
  serves?(config: object): void;
  /** Called when a config begins to serve. @returns what runs at the end of each call and each {@link Work}; undefined: nothing */
  recorder?(config: object): Recorder | undefined;
  /** Lines of the start table of `weir serve`. */
  startLines?(config: object): readonly string[];
  /** The gateway stops. It waits, within the time that calls have, until the promise resolves. */
  stop?(): void | Promise<void>;
}

/** A part by its name; its code is imported when a gateway starts. */
export interface NamedPart<Host, Part> {
  readonly name: string;
  /** Metrics that the part counts while it is on. */
  readonly metrics?: readonly Metric[];
  load(): Promise<{ start(host: Host): Part }>;
}

/** A plugin that a part of weir brings for one config, in front of the others. */
export interface OwnPlugin {
  readonly plugin: Plugin;
  /** Called when names of models have another meaning than before. */
  modelsChanged?(): void;
}

/** Loads the code that makes the plugin. `configure`: undefined, if it is off for the config. */
export type LoadOwnPlugin = () => Promise<{
  configure(config: object): OwnPlugin | undefined | Promise<OwnPlugin | undefined>;
}>;

/** A request that came from a client. */
export interface Arrival {
  readonly call: Call;
  readonly http: Request;
  readonly client: ClientCodec;
  /** The client's address. */
  address(): string;
}

/** A changed request. */
export type Edited = Pick<Incoming, "bytes" | "body" | "spanOf">;

/**
 * @param next looks for the answer further inwards, perhaps for a changed request
 * @throws GatewayError what `next` throws, or an error of its own
 */
export type Around = (entry: Entry, next: (edited?: Edited) => Promise<Opened>) => Promise<Opened>;

/** @param entering makes the entry of the call: what does not ask for it pays nothing for it */
export type Look = (entering: () => Entry) => void;

/** Kinds of requests: those that clients send, and those that plugins ask. */
export type EntryOperation = "generate" | "count" | "compact" | "embeddings" | "stored" | "ask" | KindId;

/** A request as {@link Entry} gets it; `body` is read when somebody asks for it. */
export type Entered = Edited & { readonly call: Call; readonly format: { id: string; client: CallCodec } };

/** A validated request on its way inwards. A class, because a spread would parse its body. */
export class Entry implements Incoming {
  readonly call: Call;
  readonly format: Incoming["format"];
  readonly bytes: Uint8Array;
  readonly spanOf: Incoming["spanOf"];
  readonly operation: EntryOperation;
  /** The models and formats of the config that serves the call. */
  readonly registry: Registry;
  /** The request of the client; absent for what a plugin asks. */
  readonly arrival: Arrival | undefined;
  readonly #read: { readonly body: JsonObject };

  constructor(
    read: Entered,
    of: { operation: EntryOperation; registry: Registry; arrival?: Arrival | undefined },
  ) {
    const { call, format, bytes, spanOf } = read;
    this.call = call;
    this.format = format;
    this.bytes = bytes;
    this.spanOf = spanOf;
    this.operation = of.operation;
    this.registry = of.registry;
    this.arrival = of.arrival;
    this.#read = read;
  }

  /** Parsed at the first use. */
  get body(): JsonObject {
    return this.#read.body;
  }

  /** The same request with another content. */
  with(edited: Edited): Entry {
    const { call, format } = this;
    const entered: Entered = {
      call,
      format,
      bytes: edited.bytes,
      spanOf: (name) => edited.spanOf(name),
      get body() {
        return edited.body;
      },
    };
    return new Entry(entered, this);
  }
}

/** Finds the answer to a request. */
export type Open = (entry: Entry) => Promise<Opened>;

/** The seams of all parts as one. A member is absent if no part uses its seam. */
export interface Life {
  readonly credentials?: readonly CredentialForm[];
  readonly owned?: (this: void, principal: Principal) => void;
  readonly actsFor?: ActsFor;
  readonly browsers?: FindBrowser;
  readonly routes?: readonly OwnRoute[];
  readonly resolves?: Resolve;
  readonly around?: ((entry: Entry, open: Open) => Promise<Opened>) | undefined;
  /** Called where nothing is around a call; otherwise `around` has it at its place. */
  readonly looks?: Look;
  readonly told?: Told;
  readonly refused?: (arrival: Arrival, status: number) => void;
  readonly sent?: Sent;
  readonly traceContext?: FindTrace;
  readonly screenTools?: ScreenTools;
  readonly foresee?: Gateway["foresee"];
}
