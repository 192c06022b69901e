/** The admin API over books in memory, without a gateway. */
import type { AnswerTo } from "../../src/operator/worker-answers.ts";
import type { AdminBooks, GatewayAccess } from "../../src/admin/books.ts";
import { AdminError } from "../../src/operator/errors.ts";
import { KEY_OPTIONS } from "../../src/ledger/keys/options.ts";
import { listOperations } from "../../src/admin/operations/index.ts";
import { COLUMNS, FEATURES } from "./features.ts";
import { keeperPartsOf, operationsOf, tablesOf } from "../../src/feature/feature.ts";
import { Directory } from "../../src/keeper/reports/directory.ts";
import type { Report } from "../../src/keeper/reports/reports.ts";
import { IN_MEMORY } from "../../src/keeper/settings.ts";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import { OWN_TABLES } from "../../src/keeper/store/own-tables.ts";
import type { Sql } from "../../src/keeper/store/sql.ts";
import type { SqlStore } from "../../src/keeper/store/sql-store.ts";
import { AdminServer } from "../../src/admin/server.ts";
import { Pulse } from "../../src/keeper/reports/pulse.ts";
import type { RunningCalls } from "../../src/keeper/books/questions.ts";
import type { Question } from "../../src/ledger/messages.ts";
import { digestOf, makeKeyText } from "../../src/ledger/keys/form.ts";
import type { PriceRule } from "../../src/ledger/charge.ts";
import type { Budget, KeyEntry, KeyKind, RateLimit, StoredModel } from "../../src/ledger/policy.ts";
import type { CallRecord } from "../../src/ledger/record.ts";
import type { AuditEntry } from "../../src/keeper/reports/reports.ts";
import { emptySums } from "../../src/keeper/reports/usage.ts";
import type { Actor } from "../../src/keeper/store/store.ts";

/** The operations of features in the admin API. */
export const OPERATIONS = await operationsOf(FEATURES);

/** A store in which the tables of features are empty, and stay so. */
const NO_ROWS: Sql = {
  dialect: "sqlite",
  all: async () => [],
  run: async () => 0,
  insert: async () => {},
  transaction: () => Promise.reject(new Error("there is no store")),
  close: async () => {},
};

/** What the parts of features in the keeper offer, without a state folder. */
const OFFERS = {};
await keeperPartsOf(FEATURES, {
  report: () => {},
  change: async () => {},
  read: (work) => work(NO_ROWS),
  write: (work) => work(NO_ROWS),
  note: async () => {},
  settled: async () => true,
  left: async () => {},
  envelope: () => undefined,
  rewrap: async () => ({ rewrapped: 0, current: 0, unreadable: 0 }),
  keyName: (id) => id,
  count: () => {},
  warn: () => {},
  observe: () => {},
  offers: OFFERS,
});

const NO_SUMS = emptySums();

/** Books that keep everything in plain maps, and write an audit entry for each change. */
export class FakeBooks implements AdminBooks {
  readonly offers = OFFERS;
  readonly keys = new Map<string, KeyEntry>();
  readonly budgets = new Map<string, Budget>();
  readonly limits = new Map<string, RateLimit>();
  readonly stored = new Map<string, StoredModel>();
  readonly log: AuditEntry[] = [];
  readonly records: CallRecord[] = [];
  /** What {@link usage} was asked for last. */
  asked: unknown;
  closed = false;
  storesCallKeys = true;

  /** What workers answer, by the question. */
  readonly answers: Partial<Record<Question["what"], unknown>> = {
    models: {
      ...{ models: [{ id: "m", provider: "p" }], aliases: {}, routes: [] },
      formats: [
        { id: "messages", path: "/v1/messages" },
        { id: "gemini", path: "/v1beta/models/{model}:generateContent" },
      ],
    },
    lend: true,
    "stored-models": [],
    "check-model": {},
    providers: { providers: [], breakers: [] },
  };
  readonly questions: Question[] = [];
  running: RunningCalls = { total: 0, calls: [] };
  readonly #watchers = new Set<(calls: readonly CallRecord[]) => void>();

  readonly models = {
    save: async (model: StoredModel, _isNew: boolean, actor: Actor) => {
      this.#note(actor, "model", model.id, this.stored.get(model.id), model);
      this.stored.set(model.id, model);
    },
    delete: async (id: string, actor: Actor) => {
      this.#note(actor, "model", id, this.stored.get(id), undefined);
      return this.stored.delete(id);
    },
  };

  readonly gateway: GatewayAccess = {
    address: { url: "http://127.0.0.1:9" },
    reach: async () => this.gateway.address,
    pulse: new Pulse(0),
    workers: [],
    watch: (receive) => {
      this.#watchers.add(receive);
      return () => this.#watchers.delete(receive);
    },
    running: async () => this.running,
    runningNow: () => this.running,
    ask: async (question) => this.#answer(question),
    askAll: async (question) => [this.#answer(question)],
  };

  #answer<Asked extends Question>(question: Asked): AnswerTo<Asked> {
    this.questions.push(question);
    const answer = this.answers[question.what];
    if (answer === undefined)
      throw new AdminError(503, "gateway_failed", "The gateway cannot answer: no worker.");
    return answer as AnswerTo<Asked>;
  }

  /** Calls end. */
  end(...calls: readonly CallRecord[]): void {
    for (const receive of this.#watchers) receive(calls);
  }

  opened = () => Promise.resolve();
  report = () => {};

  policy() {
    return {
      version: this.log.length,
      keys: [...this.keys.values()],
      budgets: [...this.budgets.values()],
      rates: [...this.limits.values()],
      models: [...this.stored.values()],
      closed: this.closed,
    };
  }

  keyFacts = async () =>
    new Map([...this.keys.keys()].map((id) => [id, { createdAt: 1, createdBy: "test" }]));

  async saveKey(key: KeyEntry, actor: Actor) {
    this.#note(actor, "key", key.id, this.keys.get(key.id), key);
    this.keys.set(key.id, key);
    this.closed ||= key.kind === "call";
  }

  async saveBudget(budget: Budget, actor: Actor) {
    this.#note(actor, "budget", budget.id, this.budgets.get(budget.id), budget);
    this.budgets.set(budget.id, budget);
  }

  async deleteBudget(id: string, actor: Actor) {
    this.#note(actor, "budget", id, this.budgets.get(id), undefined);
    return this.budgets.delete(id);
  }

  async saveRate(rate: RateLimit, actor: Actor) {
    this.#note(actor, "rate", rate.id, this.limits.get(rate.id), rate);
    this.limits.set(rate.id, rate);
  }

  async deleteRate(id: string, actor: Actor) {
    this.#note(actor, "rate", id, this.limits.get(id), undefined);
    return this.limits.delete(id);
  }

  accounts = async () =>
    [...this.budgets.values()].map(({ id }) => ({
      account: `b:${id}@0`,
      budget: id,
      startsAt: 0,
      endsAt: 4e12,
      spent: 10,
      assumed: 2,
      overrun: 1,
      granted: 7,
      own: 7,
      held: 3,
      alerted: 0,
    }));
  rates = async () => [];

  async usage(query: unknown) {
    this.asked = query;
    return { rows: [{ group: { key: "=SUM(A1)" }, ...NO_SUMS, calls: 3, cost: 5 }], total: NO_SUMS };
  }

  #store: Promise<SqlStore> | undefined;
  /** Reports of features read an empty store with their tables. */
  async read<Value>(report: Report<Value>): Promise<Value> {
    const { sql } = await (this.#store ??= emptyStore());
    return report(sql, new Directory(sql));
  }

  async write<Value>(work: (sql: Sql) => Promise<Value>): Promise<Value> {
    const { sql } = await (this.#store ??= emptyStore());
    return sql.transaction(work);
  }

  calls = async () => ({ calls: this.records, bounded: false });
  summary = async () => ({
    ...{ calls: 0, failed: 0, rejected: 0, cost: 0, uncertain: 0, unpriced: 0 },
    ...{ to: 0, sliceMs: 1_000, slices: [] },
  });
  call = async (id: string) => this.records.find((record) => record.id === id);
  readonly rulesByRef = new Map<string, PriceRule>();
  rules = async (refs: readonly string[]) =>
    new Map([...this.rulesByRef].filter(([ref]) => refs.includes(ref)));
  deployments = async () => ({ sliceMs: 60_000, deployments: [] });
  names = async () => ({
    ...{ paths: ["/eng"], tags: [], models: ["m"], asked: ["m"], providers: ["p"] },
    ...{ deployments: ["p"], formats: ["f"], clients: [] },
  });
  prices = async () => ({ prices: [] });
  missingPrices = async () => [];
  whatIf = async () => ({ calls: 0, now: 0, then: 0, rows: [] });
  invoices = async () => [];

  async assumptions() {
    return { entries: [] };
  }

  async reconcile(invoice: { provider: string; month: string; amount: number }, actor: Actor) {
    this.#note(actor, "invoice", invoice.provider, undefined, invoice);
    return { ...invoice, invoiced: invoice.amount, booked: 0, difference: invoice.amount, causes: [] };
  }

  audit = async () => ({ holds: true, checks: [{ name: "sums", holds: true, detail: "0 = 0" }] });
  async note(actor: Actor, action: string, subject: string, facts?: unknown) {
    this.#note(actor, action, subject, undefined, facts);
  }

  auditLog = async () => ({ entries: this.log });
  store = async () => ({ kind: "memory" as const, place: "memory", bytes: 0, calls: 0, waiting: 0 });

  async backup(path: string, actor: Actor) {
    this.#note(actor, "backup", path, undefined, undefined);
    return { bytes: 1 };
  }

  check = async () => ({ holds: true, checks: [] });

  async prune(what: { key?: string }, actor: Actor) {
    this.#note(actor, "prune", what.key ?? "", undefined, undefined);
    return { rows: 0, tables: {} };
  }

  async release(actor: Actor) {
    this.#note(actor, "release", "", undefined, undefined);
  }

  async openKeys(actor: Actor) {
    this.#note(actor, "open", "access", undefined, undefined);
    this.closed = false;
  }

  condition = () => ({ waiting: 0, priceAgeDays: 1 });
  health = () => ({ version: "0", degraded: [] });
  metrics = () => "# no metrics\n";

  #note({ actor, address }: Actor, subject: string, id: string, before: unknown, after: unknown) {
    this.log.push({
      id: String(this.log.length),
      at: 0,
      actor,
      ...(address !== undefined && { address }),
      action: "save",
      subject: `${subject} ${id}`,
      before,
      after,
    });
  }
}

export const RUN_CREDENTIAL = "the-credential-of-this-run-0123456789";
export const ADMIN_HOST = "127.0.0.1:9348";

export interface FakeAdmin {
  books: FakeBooks;
  server: AdminServer;
  /** What weir logged. */
  faults: string[];
  /** Moves the clock. Milliseconds. */
  wait(ms: number): void;
  /** Adds a key. @returns its text */
  addKey(kind: KeyKind, path?: string, more?: Partial<KeyEntry>): string;
  /** Sends a request; with the credential of the run file unless `key` says otherwise. */
  send(method: string, path: string, options?: SendOptions): Promise<Sent>;
}

export interface SendOptions {
  /** `null`: no credential. */
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
  address?: string;
}

export interface Sent {
  status: number;
  text: string;
  headers: Headers;
  // The shape is what the test expects.
  body: ReturnType<typeof JSON.parse>;
}

async function emptyStore(): Promise<SqlStore> {
  const store = sqliteStore(IN_MEMORY, undefined, [...OWN_TABLES, ...(await tablesOf(FEATURES))]);
  await store.open();
  return store;
}

/** @param host the address that the listener is on */
export function fakeAdmin(host = "127.0.0.1", columns = COLUMNS, keyOptions = KEY_OPTIONS): FakeAdmin {
  const books = new FakeBooks();
  const faults: string[] = [];
  let now = 1_800_000_000_000;
  const server = new AdminServer({
    books,
    operations: listOperations("0", columns, keyOptions, OPERATIONS),
    own: () => ({ host, port: 9348, names: host === "127.0.0.1" ? [] : ["weir.example"] }),
    runDigest: digestOf(RUN_CREDENTIAL),
    report: (message, cause) => faults.push(`${message}: ${String(cause)}`),
    now: () => now,
  });
  return {
    books,
    server,
    faults,
    wait: (ms) => void (now += ms),
    addKey(kind, path = "/", more = {}) {
      const text = makeKeyText(kind);
      const id = `key_${kind}${books.keys.size}`;
      const digests = [{ sha256: digestOf(text) }];
      books.keys.set(id, { id, name: id, kind, path, tags: [], digests, scopes: {}, ...more });
      return text;
    },
    async send(method, path, { key = RUN_CREDENTIAL, body, headers = {}, address = "127.0.0.1" } = {}) {
      const request = new Request(`http://${ADMIN_HOST}${path}`, {
        method,
        headers: {
          host: ADMIN_HOST,
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const response = await server.handle(request, address);
      const text = await textOf(response);
      const isJson = response.headers.get("content-type")?.startsWith("application/json");
      return {
        status: response.status,
        text,
        headers: response.headers,
        body: isJson ? JSON.parse(text) : undefined,
      };
    },
  };
}

/** The body; of a stream of events the first one. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response.text();
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value as Uint8Array);
}
