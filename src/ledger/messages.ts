/** The messages about books between a worker and the keeper. Plain JSON; they share the link with the stored answers. */
import type { Counted } from "../core/metric.ts";
import type { PriceRule } from "./charge.ts";
import type { Keep } from "./keep.ts";
import type { Margin } from "./margins.ts";
import type { Nano } from "./money.ts";
import type { Declared, Policy, StoredModel, Unreleased } from "./policy.ts";
import type { PriceSettings } from "./prices/settings.ts";
import type { RecordBatch } from "./record.ts";

/**
 * An account is what the keeper keeps for one window of a budget (amounts in nano-dollars) or for one unit of a rate limit
 * (requests, tokens, calls in flight). A worker is granted a share of it and admits calls from that share.
 */
export interface ShareState {
  account: string;
  /** The part of the grants that is neither reported as spent nor returned. Negative after an overrun. */
  amount: number;
}

/** From a worker to the keeper. */
export type BooksUp =
  /**
   * The first message of each connection. `life`: random, names this run of the worker. Before it the worker puts all spends that
   * it has collected into a batch; `seq` is the number of its newest batch, and `shares` are without what its batches have spent.
   * After it the worker sends all batches again that are not `stored`. `cells`: the file of its cells.
   */
  | {
      kind: "hello";
      /** See `RECORD_FORMAT`. */
      format: number;
      life: string;
      worker: number;
      seq: number;
      shares: readonly ShareState[];
      cells?: string;
    }
  /** Declarations of the config, after `hello` and after each reload. All workers send the same. */
  | { kind: "declare"; declared: Declared; prices: readonly PriceRule[]; settings: BookSettings }
  | { kind: "records"; batch: RecordBatch }
  /**
   * Asks for at least `need` of each account; the keeper grants all or none. `number` returns in the answer. `heldBefore`: a process
   * that has ended held it, so what is assumed for that comes first.
   */
  | {
      kind: "ask";
      number: number;
      needs: readonly { account: string; need: number }[];
      heldBefore?: boolean;
    }
  /**
   * Also the answer to a recall, then with 0 if nothing is left. The amount is negative after an overrun. `number`: that of the
   * recall; 0 if it answers none.
   */
  | { kind: "return"; account: string; amount: number; number?: number }
  /** Once a second: for metrics and the console. */
  | { kind: "state"; state: WorkerState }
  /** Metrics of features and plugins: what was counted since the last such message. */
  | { kind: "counted"; counted: readonly Counted[] }
  /** Asks for the figures of one key and of accounts that count its calls. `number` returns in the answer. */
  | ({ kind: "query"; number: number } & KeyQuery)
  /** The answer to a question. `error`: one sentence. */
  | ({ kind: "reply"; number: number } & ({ value: unknown } | { error: string }));

/** From the keeper to a worker. */
export type BooksDown =
  /** Complete at the beginning of a connection; later with the changed entries. */
  | { kind: "policy"; policy: Policy }
  | {
      kind: "changes";
      version: number;
      closed: boolean;
      unreleased?: Unreleased;
      upserts: Partial<Declared> & Pick<Policy, "models">;
      removed: readonly string[];
    }
  | { kind: "grant"; number: number; grants: readonly Grant[] }
  | { kind: "refusal"; number: number; refusals: readonly Refusal[] }
  /** Asks the worker to return what it does not hold of the account; it always answers with one `return` of this number. */
  | { kind: "recall"; account: string; number?: number }
  /** Batches up to `seq` are in the store; the worker may forget them. */
  | { kind: "stored"; seq: number }
  /** Something for the log, sent to one worker: a budget has reached a percentage, the store cannot be written. */
  | { kind: "report"; level: "fault" | "info"; text: string }
  /** The keeper ends for the next one of its store, which is about to start. */
  | { kind: "passes" }
  /** Whether the keeper can write to its store: after `hello`, and at each change. `fault`: one sentence. */
  | { kind: "store"; fault?: string }
  /** Amounts that the estimates of targets lack. */
  | { kind: "margins"; margins: readonly Margin[] }
  /** The answer to a query. `error`: one clause. */
  | ({ kind: "answer"; number: number } & ({ value: KeyFigures } | { error: string }))
  /** The worker shall send its state at once, and until `ms` have passed with the calls that run. */
  | { kind: "watch"; ms: number }
  /** Asks what only a worker knows. `number` returns in the reply. */
  | { kind: "question"; number: number; question: Question };

/** A question of the console to a worker, because the keeper knows neither the config nor providers. */
export type Question =
  | { what: "routing"; model: string }
  | { what: "models" }
  /** What is known of these models, and of those that the config names. */
  | { what: "model-facts"; models: readonly string[] }
  /** How stored models are, as {@link ModelState}s; also whether the worker has taken over the last change. */
  | { what: "stored-models" }
  /** Whether the config permits a model to be stored: a {@link ModelCheck}. */
  | { what: "check-model"; model: StoredModel }
  /** Which patterns match no model that weir knows. */
  | { what: "unmatched"; patterns: readonly string[] }
  | { what: "providers" }
  | { what: "config" }
  | { what: "config-source" }
  | { what: "reload" }
  /** Answered when the worker has taken over all that it was sent before. */
  | { what: "settled" }
  /** A text with this digest stands for the key until then, for a call of the console. Milliseconds since 1970. */
  | { what: "lend"; key: string; sha256: string; until: number };

/**
 * How a stored model is. `shadowed`: the config file defines the name, and the file precedes the store. `unserved`: no provider
 * serves one of its models. `refused`: the config would refuse it. `damaged`: its row in the store cannot be used.
 */
export interface ModelState {
  name: string;
  state: "serving" | "shadowed" | "unserved" | "refused" | "damaged";
  /** One sentence; absent while it serves. */
  why?: string;
}

/** The first reason why a model cannot be stored; neither member if it can. */
export interface ModelCheck {
  /** Where the config file defines the name: `weir.yaml:7 (aliases.fast)`. */
  declared?: string;
  /** The clause of the config's error, and the path in the request. */
  fault?: { clause: string; path: readonly (string | number)[] };
  /** Sentences about a model that can be stored. */
  warnings?: readonly string[];
}

export interface KeyQuery {
  what: "key";
  /** Id of the key; absent for a caller without one, whose calls have no sums of their own. */
  key?: string;
  accounts: readonly string[];
  /** Whose costs of the day, the week and the month are wanted; then nothing is wanted of the key. */
  path?: string;
}

/** Figures of one caller. */
export interface KeyFigures {
  /** Accounts that the keeper does not have are absent: nothing was used of them. */
  accounts: readonly AccountState[];
  /** Milliseconds since 1970: the beginning of the hour, a day ago, from which on the calls of the key are in `models`. */
  from: number;
  /** The dearest first. */
  models: readonly ModelUse[];
  /** Cost of the calls at the path and below since the beginning of the UTC day, week (Monday) and month. */
  spent?: { readonly day: Nano; readonly week: Nano; readonly month: Nano };
}

/** Amounts in the unit of the account. */
export interface AccountState {
  account: string;
  /** Amount that is used or assumed to be used. Absent for rate limits. */
  spent?: number;
  /** Amount that running calls hold. */
  held: number;
  /** Amount left of a rate limit. Absent for budgets, and where the keeper shares the limit with other nodes. */
  left?: number;
}

export interface ModelUse {
  /** The provider's name of the model; empty for calls that reached no provider. */
  model: string;
  calls: number;
  /** Tokens; input includes what was read from a cache or written to it. */
  input: number;
  output: number;
  cost: Nano;
}

/** The grant of a worker from an account. */
export interface Grant {
  account: string;
  amount: number;
  /** The limit, and what of it is neither used nor granted, for the headers of answers. */
  limit?: number;
  left?: number;
}

/** Why an account cannot grant what a call needs. Amounts in the unit of the account. */
export interface Refusal {
  account: string;
  limit: number;
  /** Amount that is neither used nor held by running calls. */
  left: number;
  /** Milliseconds since 1970: when the window of a budget ends, or when a rate limit has enough. Absent: never. */
  resetsAt?: number;
  /** The store cannot be reached, and the account needs it. */
  unavailable?: boolean;
}

/** The circuit breaker of a deployment: the worst of its models. */
export interface BreakerReport {
  deployment: string;
  state: "closed" | "open" | "half-open";
  /**
   * `failing`: calls failed; `limited`: the provider asked for a pause; `refused`: it refuses weir's credential, or the account has
   * no funds.
   */
  why?: "failing" | "limited" | "refused";
  /** The last failure, in one word: a status, `timeout`, `reset`. */
  what?: string;
}

/** The state of one worker at the moment. */
export interface WorkerState {
  inflight: readonly { deployment: string; calls: number }[];
  breakers: readonly BreakerReport[];
  /** Resident memory, bytes; delay of the event loop, seconds. */
  memory: number;
  loopLag: number;
  /** Where this worker listens for calls. */
  gateway?: GatewayAddress;
  /** While the keeper watches: calls that run, the longest first, at most {@link MOST_RUNNING}. */
  running?: { total: number; calls: readonly RunningCall[] };
}

/** The address of the gateway, for programs of the same machine. */
export interface GatewayAddress {
  /** `http://127.0.0.1:9347`; with `unix` the host is `localhost`. */
  url: string;
  /** Path of the socket, where the gateway listens on one. */
  unix?: string;
}

export const MOST_RUNNING = 200;

/** A call that has not ended. Times are milliseconds since 1970, durations milliseconds. */
export interface RunningCall {
  id: string;
  startedAt: number;
  /** Id of the gateway key. */
  key?: string;
  path?: string;
  format: string;
  /** The model as the client named it. */
  model: string;
  stream: boolean;
  /** Before the first attempt; before the first event of an answer; after it. */
  phase: "starting" | "waiting" | "answering";
  attempts: number;
  provider?: string;
  deployment?: string;
  /** The provider's name of the model. */
  target?: string;
  firstMs?: number;
  /** Tokens so far. */
  output: number;
  held: Nano;
}

/** The sections of the config that the keeper needs and that a reload may change. */
export interface BookSettings extends Keep {
  onLoss: "open" | "closed" | "hard-closed";
  metrics: { keys: boolean; maxSeries: number };
  /** Host names by which clients reach the admin listener; absent: those of the start. */
  adminNames?: readonly string[];
  /** The section `prices` of the config. */
  prices: PriceSettings;
}
