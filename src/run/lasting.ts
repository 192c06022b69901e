/** The parts of a gateway that a reload does not replace. */
import { AnswerNotes } from "../core/answer-notes.ts";
import type { Recorder } from "../core/column.ts";
import type { Principal } from "../core/principal.ts";
import type { Noted } from "../core/slot.ts";
import { type BoundAsk, boundOf } from "../gateway/bound.ts";
import { Backlog } from "../gateway/delivery/backlog.ts";
import { Clock } from "../gateway/delivery/clock.ts";
import { type Work, Works } from "../gateway/work.ts";
import { openSession, type SessionAsk } from "../gateway/sessions.ts";
import { ReasoningCache } from "../gateway/reasoning/cache.ts";
import { Health } from "../gateway/retry/health.ts";
import { createCells } from "../keeper/books/cells.ts";
import type { KeeperClient, KeeperClientOptions } from "../keeper/client.ts";
import { REPLICAS } from "../keeper/replica-messages.ts";
import { ReplicaViews } from "../keeper/replica-views.ts";
import type { GatewayAddress } from "../ledger/messages.ts";
import { WorkerLedger } from "../ledger/worker/ledger.ts";
import { WorkerMeter } from "../ledger/worker/meter.ts";
import { type AdminState, withPortOf } from "../operator/settings.ts";
import { InnerCalls } from "../server/inner-calls.ts";
import { createRequestId } from "../server/respond.ts";
import { ServiceLines } from "../service/lines.ts";
import { WorkerAnswers, type WorkerAnswersOptions } from "./asked/answers.ts";
import type { InnerCall, Served } from "../gateway/seams.ts";
import type { Gateway } from "../gateway/types.ts";
import { columnsWith } from "./columns.ts";
import { KEY_OPTIONS } from "../ledger/keys/options.ts";
import { GoneCallers } from "../gateway/gone.ts";
import { callerMaker } from "../ledger/keys/principal.ts";
import { declarationOf } from "./declaration.ts";
import { keyRevoked, shuttingDown } from "./end-errors.ts";
import { FirstRequest } from "./first-request.ts";
import { answerHome, keeperSettings, mayHavePolicy, namedHome } from "./home.ts";
import { isDecisive } from "./keeper-checks.ts";
import { GatewayKeys } from "./keys.ts";
import { openLog } from "./log-parts.ts";
import { PluginMeter } from "./plugin-metrics.ts";
import { Redactor } from "./redactor.ts";
import { WorkerParts } from "./worker-parts.ts";
import type { StartOptions } from "./running-weir.ts";
import { StoredModels } from "./stored-models.ts";
import { StateReporter } from "./worker-state.ts";

/** Events to which the gateway answers. */
interface Listeners {
  /** Keys of the store have changed: with or without keys the routes differ. */
  keysChanged(): void;
  /** Models of the store have changed. */
  modelsChanged(): void;
  /** The config that serves now. */
  served(): Served;
  /** The gateway of that config. */
  gateway(): Gateway;
  /** Answers a request as the routes of that config do. */
  fetch(request: Request): Response | Promise<Response>;
  /** Where the gateway listens; undefined before it does. */
  address(): GatewayAddress | undefined;
}

export class Lasting {
  readonly redactor = new Redactor();
  readonly logger;
  readonly clock = new Clock();
  readonly first = new FirstRequest();
  readonly home;
  readonly keeping;
  /** The keeper stores answers. */
  readonly storesAnswers: boolean;
  /** The start waits for the keeper, which may refuse it. */
  readonly isChecked: boolean;
  readonly keeper: KeeperClient;
  readonly cells;
  readonly keys;
  readonly stored;
  readonly ledger: WorkerLedger;
  readonly meter: WorkerMeter;
  readonly pluginMeter: PluginMeter;
  readonly health;
  readonly reasoning = new ReasoningCache();
  readonly backlog: Backlog;
  /** Headers of calls that features declare. */
  readonly headers;
  /** The secrets to which the config refers. */
  readonly references: StartOptions["references"];
  /** What parts of features do besides answers. */
  readonly works: Works;
  /** Calls that they make for callers. */
  readonly inner = new InnerCalls();
  /** Parts of features. */
  readonly parts;
  readonly state;
  #answers: WorkerAnswers | undefined;
  #replicas: ReplicaViews | undefined;
  readonly #services: StartOptions["services"];
  /** Ways to processes of features. */
  readonly #opened: { close(): void }[] = [];

  private constructor(
    options: StartOptions,
    keepers: typeof import("../keeper/index.ts"),
    listeners: Listeners,
  ) {
    const { config, worker, keeper: address, isRestart = false } = options;
    const { redactor, clock } = this;
    this.#services = options.services;
    const columns = columnsWith(options.columns ?? []);
    this.headers = options.headers ?? [];
    this.references = options.references;
    if (options.references) redactor.also(options.references);
    const logger = (this.logger = openLog(options, redactor.hide, columns));
    this.home = options.home ?? namedHome(config);
    this.storesAnswers = answerHome(this.home, config).kind !== "off";
    const keeping = (this.keeping = keeperSettings(this.home, config, options.adminCredential));
    this.isChecked = !isRestart && isDecisive(keeping, config);
    const reports: KeeperClientOptions = {
      onFault: (sentence) => logger.fault(sentence),
      onReport: (level, text) => (level === "fault" ? logger.fault(text) : logger.info(text, {})),
    };
    const keeper = address
      ? keepers.keepInProcess(address.socket, reports)
      : keepers.keepInThread(keeping, reports, this.isChecked ? undefined : this.first.passed);
    this.keeper = keeper;
    this.cells = createCells(address ? address.cells : keeping.books?.cells);
    const tools = { hide: redactor.hide, fault: (sentence: string) => logger.fault(sentence) };
    const isFirst = (worker ?? 1) === 1;
    this.keys = new GatewayKeys({
      cut: (id) => clock.end(keyRevoked(), ({ principal }) => principal?.key?.id === id),
      onChange: () => listeners.keysChanged(),
      options: [...KEY_OPTIONS, ...(options.keyOptions ?? [])],
      fault: (sentence) => isFirst && logger.fault(sentence),
    });
    const hasPolicy = mayHavePolicy(keeping);
    this.stored = new StoredModels({
      awaits: hasPolicy || isRestart,
      onChange: () => listeners.modelsChanged(),
      report: (sentence) => isFirst && logger.fault(sentence),
    });
    this.meter = new WorkerMeter(keeper.books);
    this.pluginMeter = new PluginMeter(this.meter, tools.fault);
    const recorders: Recorder[] = [];
    this.ledger = new WorkerLedger(declarationOf(config), {
      channel: keeper.books,
      cells: this.cells,
      columns,
      worker: worker ?? 0,
      awaitsPolicy: hasPolicy,
      recorders,
      onMessage: (message) => {
        // The first message of a connection.
        if (message.kind === "policy") this.meter.declareAgain();
        this.keys.receive(message);
        this.stored.receive(message);
        this.#answers?.receive(message);
      },
    });
    this.health = new Health({
      onAlert: (sentence) => logger.fault(sentence),
      onChange: (sentence) => logger.info(sentence, {}),
    });
    this.backlog = new Backlog(clock);
    const works = (this.works = new Works({
      ...{ clock, ledger: this.ledger, createId: createRequestId, gateway: () => listeners.gateway() },
      observe: (call) => logger.call(call),
      onFault: (fault) => logger.fault("the record of work failed", fault),
    }));
    const gone = new GoneCallers();
    gone.add((id) => /^(key_|config:)/.test(id) && this.keys.keyring.isGone(id));
    const stillMay = (principal: Principal | undefined) => {
      if (principal && gone.has(principal.id)) throw keyRevoked();
    };
    const sets = () => this.keys.declared.modelSets ?? {};
    const offers: Noted = {};
    const { keyring } = this.keys;
    const host = (name: string) => ({
      ...{ clock, ledger: this.ledger, meter: this.meter, ...tools },
      info: (sentence: string) => logger.info(sentence, {}),
      ...{ isFirst, served: () => listeners.served() },
      ...(options.references && { references: options.references }),
      work: <Value>(work: Work<Value>) => works.do(work),
      ...{ gone, principal: callerMaker(name, sets) },
      call: (request: Request, inner: InnerCall) => this.inner.run(request, inner, listeners.fetch),
      session: (ask: SessionAsk) =>
        openSession(ask, { id: createRequestId(), gateway: listeners.gateway(), stillMay }),
      bound: (ask: BoundAsk) => boundOf(ask, listeners.gateway()),
      callerOfKey: (id: string) => keyring.byId(id),
      isOpen: () => keyring.isOpen,
      answerNotes: new AnswerNotes(name),
      ...{ isAlone: address === undefined, offers },
      channel: <Up, Down>() => keeper.channel<Up, Down>(name),
      replica: <Row>(table: string) =>
        (this.#replicas ??= new ReplicaViews(keeper.channel(REPLICAS))).of<Row>(table),
      service: <Ask, Piece>(introduction: () => unknown = () => undefined) =>
        this.#lines<Ask, Piece>(name, introduction),
    });
    this.parts = new WorkerParts(
      options.workers ?? [],
      host,
      (metrics) => this.meter.declare(metrics),
      recorders,
    );
    const { ledger, meter, health } = this;
    this.state = new StateReporter({ ledger, meter, health, clock, gateway: () => listeners.address() });
  }

  /** The way to the process of a feature. */
  #lines<Ask, Piece>(name: string, introduction: () => unknown): ServiceLines<Ask, Piece> {
    const none = () => Promise.reject(new Error("this gateway starts no processes of features"));
    const services = this.#services;
    const start = services ? (wanted: string) => services.start(wanted) : none;
    const lines = new ServiceLines<Ask, Piece>(name, start, introduction);
    this.#opened.push(lines);
    return lines;
  }

  static async open(options: StartOptions, listeners: Listeners): Promise<Lasting> {
    return new Lasting(options, await import("../keeper/index.ts"), listeners);
  }

  /** The lasting members of a gateway. */
  get ofGateway() {
    const { ledger, health, clock, reasoning, backlog, keeper } = this;
    return {
      ...(this.storesAnswers && { answers: keeper.answers }),
      ...{ ledger, health, clock, reasoning, backlog },
    };
  }

  /** The keeper of this process ends for one in another process. @param path path of its socket, which need not be there yet */
  async passKeeper(path: string): Promise<void> {
    await (await import("../keeper/index.ts")).passToProcess(this.keeper, path);
  }

  /** The reverse of {@link passKeeper}. @param state where the admin API was */
  async takeKeeperBack(state: AdminState | undefined): Promise<void> {
    const { admin } = this.keeping;
    const settings = { ...this.keeping, ...(admin && state && { admin: withPortOf(admin, state) }) };
    await (await import("../keeper/index.ts")).takeBack(this.keeper, settings);
  }

  /** Answers the keeper's questions from now on. */
  answer(inspected: WorkerAnswersOptions["inspected"]): void {
    const { keys, state, ledger } = this;
    const reply: WorkerAnswersOptions["reply"] = (number, answer) => ledger.reply(number, answer);
    this.#answers = new WorkerAnswers({ keys, state, inspected, reply });
  }

  /** Stores what is left, and closes the keeper, the memory of the books and the log. */
  async close(): Promise<void> {
    this.meter.flush();
    await this.works.end(shuttingDown());
    for (const lines of this.#opened) lines.close();
    await this.#services?.stop();
    const isStored = await this.ledger.end();
    await this.keeper.close();
    // The file tells the next keeper that something may be spent that no store has.
    if (isStored) this.cells.close();
    this.state.stop();
    await this.logger.flush();
  }
}
