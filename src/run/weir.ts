/** A gateway that runs: start, reload and stop. */
import { addressOf, isReachable } from "../config/address.ts";
import { certificateOf, isSameCertificate } from "../config/tls.ts";
import type { AdminState } from "../operator/settings.ts";
import { GatewayError } from "../core/error.ts";
import { endsWithin } from "../core/within.ts";
import { pluginInStack } from "../external-plugins/plugin-in-stack.ts";
import { onTransportAlert } from "../gateway/lanes/transport.ts";
import type { GatewayAddress } from "../ledger/messages.ts";
import { Listener } from "../server/listen.ts";
import { createRequestId, respondError } from "../server/respond.ts";
import { makeRoom } from "../server/unix-socket.ts";
import type { Assembled } from "./assemble.ts";
import { shuttingDown } from "./end-errors.ts";
import { answerHome, describeAnswers, describeBooks, mayHavePolicy } from "./home.ts";
import { checkKeeper, closing } from "./keeper-checks.ts";
import { Lasting } from "./lasting.ts";
import { logParts, logUnmatched } from "./log-parts.ts";
import type { OpenedBooks, RunningWeir, Settings, StartOptions } from "./running-weir.ts";
import { Serving, type Socket } from "./serving.ts";

/** Time after the grace period in which errors can still reach the clients. Milliseconds. */
const FAREWELL_MS = 700;
/** Then the remaining connections are closed and the process ends. Milliseconds. */
const CLOSE_MS = 50;
/** The start table waits this long for the store of the books. Milliseconds. */
const OPEN_MS = 5_000;
const OPENING = "the store is still being opened";

/**
 * Starts a gateway and resolves when it listens and the keeper has said where the admin API is.
 * @throws Error with one sentence if it cannot serve
 */
export function startWeir(options: StartOptions): Promise<RunningWeir> {
  return Weir.start(options);
}

class Weir implements RunningWeir {
  readonly #options: StartOptions;
  /** Parts that watch something, until the gateway stops. */
  readonly #watchers: (() => void)[] = [];
  readonly #socket: Socket;
  #lasting!: Lasting;
  /** Absent until the parts of the first config are built. */
  #serving: Serving | undefined;
  #listener: Listener | undefined;
  #address: GatewayAddress | undefined;
  #certificate: ReturnType<typeof certificateOf>;
  #admin: AdminState | undefined;
  #answerFault: string | undefined;
  #isDraining = false;
  /** Signals are handled, and other commands find this gateway. */
  #isAnnounced: boolean;

  private constructor(options: StartOptions) {
    this.#options = options;
    this.#isAnnounced = options.announces !== true;
    this.#certificate = certificateOf(options.config);
    const weir = this;
    this.#socket = {
      get listener() {
        return weir.#listener;
      },
      get isSecure() {
        return weir.#certificate !== undefined;
      },
      state: () => (weir.#isDraining ? "draining" : weir.#isAnnounced ? "ok" : "starting"),
    };
  }

  /**
   * The steps of a start, in an order that counts: where a fault of the keeper refuses the start, the keeper opens its files before
   * weir listens, so that no client is served and then cut off. Else it opens them while weir serves.
   */
  static async start(options: StartOptions): Promise<Weir> {
    const weir = new Weir(options);
    weir.#lasting = await Lasting.open(options, {
      keysChanged: () => weir.#serving?.renew(weir.#lasting, weir.#socket),
      modelsChanged: () => weir.#serving?.serveStored(weir.#lasting, false),
      served: () => ({ config: weir.#now.merged, catalog: weir.#now.parts.catalog }),
      gateway: () => weir.#now.gateway,
      fetch: (request) => weir.#now.app.fetch(request),
      address: () => weir.#address,
    });
    weir.#declareKeys();
    weir.#watch();
    weir.#listener = await weir.#open().catch(closing(weir.#lasting.keeper));
    weir.#report();
    weir.#lasting.answer(() => ({
      ...weir.#now.ofConfig,
      ...{ stored: weir.#lasting.stored, health: weir.#lasting.health },
    }));
    options.onListening?.(weir.stop);
    await weir.#startKeeper();
    return weir;
  }

  #declareKeys(): void {
    const { config } = this.#options;
    const { keys, keeping } = this.#lasting;
    keys.declare(config);
    if (mayHavePolicy(keeping)) keys.keyring.expectStored();
    if (isReachable(config)) keys.keyring.close();
  }

  #watch(): void {
    const { logger } = this.#lasting;
    this.#watchers.push(onTransportAlert((sentence) => logger.fault(sentence)));
  }

  /** Builds the parts of the config and listens. @throws Error with one sentence */
  async #open(): Promise<Listener> {
    const { config, locate } = this.#options;
    const { keeper, keeping, keys, isChecked } = this.#lasting;
    const built = this.#build(this.#options);
    if (this.#options.onBuilt) await built.then(this.#options.onBuilt);
    // Both at once: the keeper opens its files while plugins load.
    const [serving] = await Promise.all([
      built,
      isChecked && checkKeeper({ keeper, keeping, config, keys, locate }),
    ]);
    const { unix, mode } = config.listen;
    if (unix !== undefined) await makeRoom(unix);
    this.#serving = serving;
    serving.serveStored(this.#lasting, false);
    this.#lasting.parts.serve(config);
    if (isChecked) serving.renew(this.#lasting, this.#socket);
    const { first, logger } = this.#lasting;
    const listener = new Listener({
      ...(unix !== undefined && { unix: { path: unix, mode } }),
      host: config.host,
      port: config.port,
      shared: this.#options.worker !== undefined || this.#options.sharesPort === true,
      certificate: this.#certificate,
      fetch: first.watch((request) => this.#now.app.fetch(request)),
      onFault: (fault) => {
        logger.fault("the server failed outside a route", fault);
        return respondError(GatewayError.from(fault), this.#now.app.neutral, createRequestId());
      },
    });
    this.#address = addressOf(config, listener.port, this.#certificate !== undefined);
    return listener;
  }

  /** Starts the keeper if it does not run yet, and logs its faults: that of the stored answers, then that of the admin API. */
  async #startKeeper(): Promise<void> {
    const { keeper, keeping, storesAnswers, logger } = this.#lasting;
    const started = keeper.start();
    this.#answerFault = storesAnswers ? await started : undefined;
    if (this.#answerFault !== undefined) logger.fault(`answers are not stored: ${this.#answerFault}`);
    const admin = keeping.admin && (await keeper.adminOpened());
    if (admin && "fault" in admin) logger.fault(`${admin.fault}; weir tries again`);
    this.#admin = admin || undefined;
  }

  #build(settings: Settings): Promise<Serving> {
    const { ownPlugins, plugins } = this.#options;
    const added = { features: ownPlugins, command: plugins };
    return Serving.build(settings, { lasting: this.#lasting, socket: this.#socket, plugins: added });
  }

  /** Masks the credentials of the providers that serve now, and logs which parts serve. */
  #report(): void {
    const { logger, redactor } = this.#lasting;
    const { parts } = this.#now;
    redactor.use(parts.registry.providers);
    logParts(parts, logger, this.#isFirst);
    if (this.#isFirst) logUnmatched(() => ({ config: this.#now.merged, parts: this.#now.parts }), logger);
  }

  /** The parts that serve at the moment. Called only when the first ones are built. */
  get #now(): Serving {
    return this.#serving!;
  }

  /** One process of a gateway reports for all. */
  get #isFirst(): boolean {
    return (this.#options.worker ?? 1) === 1;
  }

  get host(): string {
    return this.#options.config.host;
  }

  get port(): number {
    return this.#listener!.port;
  }

  get url(): string {
    const { unix } = this.#options.config.listen;
    if (unix !== undefined) return `unix:${unix}`;
    const host = this.host.includes(":") ? `[${this.host}]` : this.host;
    return `${this.#certificate ? "https" : "http"}://${host}:${this.port}`;
  }

  get admin(): AdminState | undefined {
    return this.#admin;
  }

  get answers(): string | undefined {
    const { config } = this.#options;
    return describeAnswers(answerHome(this.#lasting.home, config), config, this.#answerFault);
  }

  get parts(): Assembled {
    return this.#now.parts;
  }

  get startLines(): readonly string[] {
    return this.#lasting.parts.startLines(this.#now.config);
  }

  get wasAsked(): boolean {
    return this.#lasting.first.hasCome;
  }

  async books(): Promise<OpenedBooks> {
    const { config, locate, isRestart } = this.#options;
    const { keeper, keys, home } = this.#lasting;
    const opened = keeper.storeOpened();
    const fault = (await endsWithin(opened, OPEN_MS)) ? await opened : OPENING;
    const { keyring } = keys;
    if (fault === undefined && keyring.pending) await endsWithin(keyring.pending, OPEN_MS);
    if (!isRestart) keys.assertNames(config, locate);
    const valid = keyring.pending ? undefined : keyring.countValid();
    const { isDoubted } = keyring;
    const forms = this.#now.life.credentials?.map(({ name }) => name) ?? [];
    const isOpen = keyring.isOpen && forms.length === 0;
    const place = describeBooks(home, config, fault);
    return { place, ...(fault !== undefined && { fault }), keys: valid, isOpen, isDoubted, forms };
  }

  async reload(settings: Settings): Promise<void> {
    const { keys, logger } = this.#lasting;
    keys.assertNames(settings.config, settings.locate);
    const next = await this.#build(settings);
    const known = new Set(this.#now.parts.broken.map(({ message }) => message));
    const fresh = next.parts.broken.find(({ message }) => !known.has(message));
    if (fresh) throw new Error(fresh.message);
    const wanted = certificateOf(settings.config);
    // A reload cannot switch TLS on or off.
    if (this.#certificate && wanted && !isSameCertificate(this.#certificate, wanted)) {
      this.#listener!.renew(wanted);
      this.#certificate = wanted;
      logger.info("new connections use the new certificate", {});
    }
    this.#serving = next;
    keys.declare(settings.config);
    next.serveStored(this.#lasting, true);
    this.#lasting.parts.serve(settings.config);
    this.#report();
  }

  leave(): void {
    this.#listener!.leave();
  }

  passKeeper(socket: string): Promise<void> {
    return this.#lasting.passKeeper(socket);
  }

  takeKeeperBack(): Promise<void> {
    return this.#lasting.takeKeeperBack(this.#admin);
  }

  readonly stop = async (graceMs = 0, delayMs = 0): Promise<void> => {
    const { clock, parts } = this.#lasting;
    const listener = this.#listener!;
    this.#isDraining = true;
    listener.leave();
    if (delayMs > 0) await Bun.sleep(delayMs);
    const parted = parts.stop();
    const finished = listener.stop(graceMs === 0);
    const ended = graceMs === 0 ? parted : Promise.all([finished, parted]);
    if (!(await endsWithin(ended, graceMs))) {
      clock.end(shuttingDown());
      if (!(await endsWithin(ended, FAREWELL_MS))) await endsWithin(listener.stop(true), CLOSE_MS);
    }
    for (const stop of this.#watchers) stop();
    await this.#lasting.close();
  };

  announce(): void {
    this.#isAnnounced = true;
  }

  fault(message: string, cause?: unknown): void {
    this.#lasting.logger.fault(message + pluginInStack(this.parts.plugins, cause), cause);
  }

  info(message: string, facts: Record<string, string> = {}): void {
    this.#lasting.logger.info(message, facts);
  }
}
