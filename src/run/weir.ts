/** Starts a gateway: assembles the parts and listens on a socket. */
import { type Assembled, assemble, assertLoaded } from "./assemble.ts";
import type { Config } from "../config/schema.ts";
import { certificateOf, isSameCertificate } from "../config/tls.ts";
import { GatewayError } from "../core/error.ts";
import { declarationOf, pricesOf } from "./declaration.ts";
import { Backlog } from "../gateway/delivery/backlog.ts";
import { COLUMNS } from "./columns.ts";
import { Clock } from "../gateway/delivery/clock.ts";
import { askModel } from "../gateway/plugins/ask.ts";
import { sandboxHooks } from "../gateway/plugins/sandbox.ts";
import type { GatewayAddress } from "../ledger/messages.ts";
import { WorkerLedger } from "../ledger/worker/ledger.ts";
import { callTapes } from "./call-tapes.ts";
import { compose } from "../gateway/life.ts";
import type { Life } from "../gateway/seams.ts";
import type { CallTape, TapeTools } from "../gateway/tape.ts";
import type { AnswerOptions, Gateway } from "../gateway/types.ts";
import { createCells } from "../keeper/books/cells.ts";
import type { KeeperClientOptions } from "../keeper/client.ts";
import { checkKeeper, closing, isDecisive } from "./keeper-checks.ts";
import { clientAddress } from "../server/client-address.ts";
import { addressOf, isGuarded, isReachable } from "../config/address.ts";
import { keyRevoked, shuttingDown } from "./end-errors.ts";
import { watchEndingModels } from "./ending-models.ts";
import { endsWithin } from "./ends-within.ts";
import { FirstRequest } from "./first-request.ts";
import { GatewayKeys } from "./keys.ts";
import { parseBlock } from "../ledger/keys/addresses.ts";
import { Health } from "../gateway/retry/health.ts";
import { secretFilter } from "../gateway/delivery/redact.ts";
import { ReasoningCache } from "../gateway/reasoning/cache.ts";
import { doneHooks, Settler } from "../gateway/delivery/settle.ts";
import { onTransportAlert } from "../gateway/lanes/transport.ts";
import { Admission } from "../server/admission.ts";
import { createApp } from "../server/app.ts";
import { createAuthenticate } from "../server/authenticate.ts";
import { Listener } from "../server/listen.ts";
import type { WriteLog } from "../server/log-buffer.ts";
import { createRequestId, respondError } from "../server/respond.ts";
import {
  answerHome,
  answerOptions,
  describeBooks,
  describeAnswers,
  keeperSettings,
  mayHavePolicy,
  namedHome,
  type StateHome,
} from "./home.ts";
import { Repeats } from "./repeats.ts";
import type { RunningWeir, Settings } from "./running-weir.ts";
import { pluginInStack } from "../external-plugins/plugin-in-stack.ts";
import { StoredModels } from "./stored-models.ts";
import { logParts, logUnmatched, openLog } from "./log-parts.ts";
import { makeRoom } from "../server/unix-socket.ts";
import { VERSION } from "../process/version.ts";
import { WorkerAnswers } from "./asked/answers.ts";
import { StateReporter } from "./worker-state.ts";

export interface StartOptions extends Settings {
  /** Where the log is written; default: standard output. */
  write?: WriteLog;
  /** Standard output is a terminal: the log format `auto` then means `pretty`. */
  terminal?: boolean;
  /** The number of this process if several share the port. */
  worker?: number;
  /** The keeper's process; without it the keeper is a thread of this process. */
  keeper?: KeeperAddress;
  /** The gateway already runs in other processes: it must not end because answers cannot be stored. */
  isRestart?: boolean;
  /** Random credential of this run, with which the admin API starts. */
  adminCredential?: string;
  /** Makes what records or answers the calls. */
  tape?(tools: TapeTools): CallTape;
  /** Where the gateway keeps its databases. Default: the named state folder, else in memory. */
  home?: StateHome;
  /** `/health` says `starting` until {@link RunningWeir.announce} is called. */
  announces?: boolean;
  /** Called when the gateway listens, before this promise resolves. @param stop as that of {@link RunningWeir} */
  onListening?(this: void, stop: RunningWeir["stop"]): void;
  /** Plugins of the command that starts the gateway, after the built-in ones. */
  plugins?: Parameters<typeof assemble>[3];
}

/** How a worker reaches the keeper's process. */
export interface KeeperAddress {
  /** Path of its socket. */
  socket: string;
  /** Folder of the cells, if there is one. */
  cells?: string;
}

/** Time after the grace period in which errors can still reach the clients. Milliseconds. */
const FAREWELL_MS = 700;
/** Then the remaining connections are closed and the process ends. Milliseconds. */
const CLOSE_MS = 50;

export async function startWeir(options: StartOptions): Promise<RunningWeir> {
  const { config, worker, keeper: address } = options;
  let hide = (text: string) => text;
  const logger = openLog(options, (text) => hide(text));
  const clock = new Clock();
  const home = options.home ?? namedHome(config);
  const storesAnswers = answerHome(home, config).kind !== "off";
  const keeping = keeperSettings(home, config, options.adminCredential);
  const first = new FirstRequest();
  const { keepInProcess, keepInThread } = await import("../keeper/index.ts");
  const reports: KeeperClientOptions = {
    onFault: (sentence) => logger.fault(sentence),
    onReport: (level, text) => (level === "fault" ? logger.fault(text) : logger.info(text, {})),
  };
  const isChecked = !options.isRestart && isDecisive(keeping, config);
  const keeper = address
    ? keepInProcess(address.socket, reports)
    : keepInThread(keeping, reports, isChecked ? undefined : first.passed);
  const cells = createCells(address ? address.cells : keeping.books?.cells);
  const tools = { hide: (text: string) => hide(text), fault: (sentence: string) => logger.fault(sentence) };
  const tapesFor = callTapes(config, { ...tools, channel: keeper.books }, options.tape);
  let isBuilt = false;
  let current!: Awaited<ReturnType<typeof build>>;
  const keys = new GatewayKeys({
    cut: (id) => clock.endAll(keyRevoked(), id),
    onChange: () => isBuilt && renew(),
  });
  /** With or without keys the routes differ. */
  const renew = () => {
    const { gateway, config, admission, life } = current;
    current = { ...current, app: appOf(gateway, config, admission, life) };
  };
  /** Later calls find the models of the store beside those of the config. */
  const serveStored = (wasReloaded = false) => {
    const { gateway, merged: before } = current;
    current.merged = stored.apply({ ...current, locate: current.settings.locate });
    if (!wasReloaded && Bun.deepEquals(before.prices, current.merged.prices)) return;
    gateway.priceOf = pricesOf(current.merged);
    ledger.declare(declarationOf(current.merged));
  };
  const stored = new StoredModels({
    awaits: mayHavePolicy(keeping) || options.isRestart === true,
    onChange: () => isBuilt && serveStored(),
    report: (sentence) => isFirst && logger.fault(sentence),
  });
  keys.declare(config);
  if (mayHavePolicy(keeping)) keys.keyring.expectStored();
  if (isReachable(config)) keys.keyring.close();
  let answers: WorkerAnswers | undefined;
  const ledger = new WorkerLedger(declarationOf(config), {
    channel: keeper.books,
    cells,
    columns: COLUMNS,
    worker: worker ?? 0,
    awaitsPolicy: mayHavePolicy(keeping),
    onMessage(message) {
      keys.receive(message);
      stored.receive(message);
      answers?.receive(message);
    },
  });
  /** State that survives a reload. */
  const lasting = {
    ...(storesAnswers && { answers: keeper.answers }),
    ledger,
    health: new Health({
      onAlert: (sentence) => logger.fault(sentence),
      onChange: (sentence) => logger.info(sentence, {}),
    }),
    clock,
    reasoning: new ReasoningCache(),
    backlog: new Backlog(clock),
  };
  const repeats = new Repeats({ ...lasting, ...(address && { repeats: keeper.repeats }) });
  const state = new StateReporter({ ledger, health: lasting.health, clock, gateway: () => reachable });
  const stopAlerts = onTransportAlert((sentence) => logger.fault(sentence));
  /** One process of a gateway reports for all. */
  const isFirst = (worker ?? 1) === 1;
  const stopWatch = !isFirst
    ? undefined
    : watchEndingModels({
        current: () => ({ config: current.merged, catalog: current.parts.catalog }),
        report: (sentence) => logger.info(sentence, {}),
      });
  let draining = false;
  /** Signals are handled, and other commands find this gateway. */
  let isAnnounced = options.announces !== true;
  let listener: Listener | undefined;
  let reachable: GatewayAddress | undefined;
  let certificate = certificateOf(config);
  const appOf = (gateway: Gateway, config: Config, admission: Admission, life: Life) => {
    const proxies = config.trustedProxies.flatMap((text) => parseBlock(text) ?? []);
    return createApp({
      gateway,
      cors: config.cors,
      secure: certificate !== undefined,
      limits: config.limits,
      authenticate: createAuthenticate(keys.keyring),
      keyed: !keys.keyring.isOpen,
      ...(isGuarded(config, keys.keyring.isOpen) && { names: [...config.names, config.host] }),
      admission,
      life,
      address: (request) => clientAddress(listener?.addressOf(request) ?? "", request.headers, proxies),
      allowSilence: (request, allowed) => listener?.allowSilence(request, allowed),
      disconnect: (request) => listener?.disconnect(request),
      version: VERSION,
      state: () => (draining ? "draining" : isAnnounced ? "ok" : "starting"),
      degraded: () => [...(keeper.isDegraded ? ["ledger"] : []), ...(keys.keyring.isDoubted ? ["keys"] : [])],
    });
  };

  const build = async (settings: Settings) => {
    const { config, env, locate } = settings;
    const parts = await assemble(config, env, locate, options.plugins);
    assertLoaded(parts.broken, config.plugins.strict);
    parts.registry.stored = stored;
    parts.registry.live.refresh();
    const hooks = parts.plugins.flatMap(({ plugin }) =>
      plugin.hooks ? [sandboxHooks(plugin, logger.fault)] : [],
    );
    await repeats.prepare(config);
    const life = compose([...repeats.of(config), ...(await tapesFor(config.capture))]);
    const gateway: Gateway = {
      ...lasting,
      ...{ registry: parts.registry, catalog: parts.catalog, priceOf: pricesOf(config) },
      hooks,
      settler: new Settler(
        [
          (call) => lasting.health.settled(call),
          (call) => ledger.close(call),
          (call) => logger.call(call),
          ...doneHooks(hooks),
        ],
        (fault) => logger.fault("a plugin's done hook failed", fault),
      ),
      asker: { ask: (request, parent, stop) => askModel(request, parent, stop, gateway, life) },
      retries: config.retries,
      timeouts: config.timeouts,
      strict: config.strict,
      answerOptions: answerOptions(config, () => keys.keyring.hasSeveral),
    };
    const admission = new Admission(config.limits);
    const app = appOf(gateway, config, admission, life);
    return { settings, since: Date.now(), parts, gateway, config, merged: config, admission, life, app };
  };

  const tell = (parts: Assembled) => {
    hide = secretFilter(parts.registry.providers);
    logParts(parts, logger, isFirst);
    if (isFirst) logUnmatched(() => ({ config: current.merged, parts: current.parts }), logger);
  };

  const { unix } = config.listen;
  const prepare = async () => {
    // Both at once: the keeper opens its files while plugins load.
    const [built] = await Promise.all([
      build(options),
      isChecked && checkKeeper({ keeper, keeping, config, keys, locate: options.locate }),
    ]);
    if (unix !== undefined) await makeRoom(unix);
    current = built;
    isBuilt = true;
    serveStored();
    if (isChecked) renew();
    return new Listener({
      ...(unix !== undefined && { unix: { path: unix, mode: config.listen.mode } }),
      host: config.host,
      port: config.port,
      shared: worker !== undefined,
      certificate,
      fetch: first.watch((request) => current.app.fetch(request)),
      onFault(fault) {
        logger.fault("the server failed outside a route", fault);
        return respondError(GatewayError.from(fault), current.app.neutral, createRequestId());
      },
    });
  };
  listener = await prepare().catch(closing(keeper));
  tell(current.parts);
  reachable = addressOf(config, listener.port, certificate !== undefined);
  answers = new WorkerAnswers({
    ...{ keys, state },
    inspected: () => ({ ...current, stored, health: lasting.health }),
    reply: (number, answer) => ledger.reply(number, answer),
  });
  const stop = async (graceMs = 0) => {
    draining = true;
    repeats.close();
    const finished = listener!.stop(graceMs === 0);
    const inTime = graceMs === 0 || (await endsWithin(finished, graceMs));
    if (!inTime) {
      lasting.clock.endAll(shuttingDown());
      if (!(await endsWithin(finished, FAREWELL_MS))) await endsWithin(listener!.stop(true), CLOSE_MS);
    }
    const isStored = await ledger.end();
    await keeper.close();
    // The file tells the next keeper that something may be spent that no store has.
    if (isStored) cells.close();
    state.stop();
    stopAlerts();
    stopWatch?.();
    await logger.flush();
  };
  options.onListening?.(stop);
  const started = keeper.start();
  const answerFault = storesAnswers ? await started : undefined;
  if (answerFault !== undefined) logger.fault(`answers are not stored: ${answerFault}`);
  const admin = keeping.admin && (await keeper.adminOpened());
  if (admin && "fault" in admin) logger.fault(`${admin.fault}; weir tries again`);
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return {
    host: config.host,
    port: listener.port,
    url: unix !== undefined ? `unix:${unix}` : `${certificate ? "https" : "http"}://${host}:${listener.port}`,
    ...(admin && { admin }),
    async books() {
      const opened = keeper.storeOpened();
      const fault = (await endsWithin(opened, OPEN_MS)) ? await opened : OPENING;
      const { keyring } = keys;
      if (fault === undefined && keyring.pending) await endsWithin(keyring.pending, OPEN_MS);
      if (!options.isRestart) keys.assertNames(config, options.locate);
      const valid = keyring.pending ? undefined : keyring.countValid();
      const { isOpen, isDoubted } = keyring;
      return { place: describeBooks(home, config, fault), keys: valid, isOpen, isDoubted };
    },
    answers: describeAnswers(answerHome(home, config), config, answerFault),
    get parts() {
      return current.parts;
    },
    get wasAsked() {
      return first.hasCome;
    },
    fault: (message, cause) => logger.fault(message + pluginInStack(current.parts.plugins, cause), cause),
    info: (message, facts = {}) => logger.info(message, facts),
    async reload(settings) {
      keys.assertNames(settings.config, settings.locate);
      const next = await build(settings);
      const known = new Set(current.parts.broken.map(({ message }) => message));
      const fresh = next.parts.broken.find(({ message }) => !known.has(message));
      if (fresh) throw new Error(fresh.message);
      const wanted = certificateOf(settings.config);
      // A reload cannot switch TLS on or off.
      if (certificate && wanted && !isSameCertificate(certificate, wanted)) {
        listener.renew(wanted);
        certificate = wanted;
        logger.info("new connections use the new certificate", {});
      }
      current = next;
      keys.declare(settings.config);
      serveStored(true);
      tell(next.parts);
    },
    stop,
    announce: () => void (isAnnounced = true),
  };
}

/** The start table waits this long for the store of the books. Milliseconds. */
const OPEN_MS = 5_000;
const OPENING = "the store is still being opened";
