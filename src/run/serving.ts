/** The parts of a gateway that serve one config. A reload replaces them as a whole. */
import type { Config } from "../config/schema.ts";
import { isGuarded } from "../config/address.ts";
import { doneHooks, Settler } from "../gateway/delivery/settle.ts";
import { createAsker } from "../gateway/plugins/ask.ts";
import { sandboxHooks } from "../gateway/plugins/sandbox.ts";
import { compose, type LivePart } from "../gateway/life.ts";
import type { Life } from "../gateway/seams.ts";
import type { Gateway } from "../gateway/types.ts";
import { parseBlock } from "../ledger/keys/addresses.ts";
import { VERSION } from "../process/version.ts";
import { fetchNamed } from "./fetch-named.ts";
import { Admission } from "../server/admission.ts";
import { createApp } from "../server/app.ts";
import { assertForms, createAuthenticate } from "../server/authenticate.ts";
import { clientAddress } from "../server/client-address.ts";
import type { Listener } from "../server/listen.ts";
import { type AddedPlugins, type Assembled, assemble, assertLoaded } from "./assemble.ts";
import { declarationOf, pricesOf } from "./declaration.ts";
import { answerOptions } from "./home.ts";
import type { Lasting } from "./lasting.ts";
import { pluginColumns } from "./plugin-columns.ts";
import type { Settings } from "./running-weir.ts";

/** The socket of the gateway, as its routes see it. */
export interface Socket {
  /** Absent before the gateway listens. */
  readonly listener: Listener | undefined;
  readonly isSecure: boolean;
  state(): "draining" | "ok" | "starting";
}

export class Serving {
  readonly since = Date.now();
  /** The config with the models of the store. */
  merged: Config;
  app!: ReturnType<typeof createApp>;

  private constructor(
    readonly settings: Settings,
    readonly parts: Assembled,
    readonly gateway: Gateway,
    readonly admission: Admission,
    readonly life: Life,
  ) {
    this.merged = settings.config;
  }

  get config(): Config {
    return this.settings.config;
  }

  /** @throws Error with one sentence; then nothing has changed */
  static async build(
    settings: Settings,
    { lasting, socket, plugins }: { lasting: Lasting; socket: Socket; plugins: AddedPlugins },
  ): Promise<Serving> {
    const { config, env, locate } = settings;
    const parts = await assemble(config, env, locate, plugins);
    assertLoaded(parts.broken, config.plugins.strict);
    parts.registry.stored = lasting.stored;
    parts.registry.live.refresh();
    const live = await lasting.parts.of(config);
    const life = compose(live);
    assertForms(lasting.keys.keyring, life.credentials ?? []);
    const gateway = gatewayOf({ config, parts, lasting, live, life });
    const serving = new Serving(settings, parts, gateway, new Admission(config.limits), life);
    serving.renew(lasting, socket);
    lasting.pluginMeter.connect(parts.plugins);
    return serving;
  }

  /** Makes the routes anew: with or without keys they differ. */
  renew({ keys, keeper, headers, references, inner }: Lasting, socket: Socket): void {
    const { config, gateway, admission, life } = this;
    const { keyring } = keys;
    const keyed = !keyring.isOpen || life.credentials !== undefined;
    const proxies = config.trustedProxies.flatMap((text) => parseBlock(text) ?? []);
    this.app = createApp({
      gateway,
      headers,
      cors: config.cors,
      secure: socket.isSecure,
      limits: config.limits,
      authenticate: createAuthenticate(keyring, life.credentials, life),
      keyed,
      ...(isGuarded(config, !keyed) && { names: [...config.names, config.host] }),
      admission,
      life,
      inner: (request) => inner.of(request),
      address: (request) =>
        inner.of(request)?.address ??
        clientAddress(socket.listener?.addressOf(request) ?? "", request.headers, proxies),
      allowSilence: (request, allowed) => socket.listener?.allowSilence(request, allowed),
      upgrade: (request, protocol, opened) => socket.listener?.upgrade(request, protocol, opened) ?? false,
      disconnect: (request) => socket.listener?.disconnect(request),
      version: VERSION,
      state: () => socket.state(),
      degraded: () => [
        ...(keeper.isDegraded ? ["ledger"] : []),
        ...(keyring.isDoubted ? ["keys"] : []),
        ...(references?.isStale ? ["secrets"] : []),
      ],
    });
  }

  /** Later calls find the models of the store beside those of the config. @param wasReloaded the config is new */
  serveStored({ stored, ledger }: Lasting, wasReloaded: boolean): void {
    const { prices } = this.merged;
    this.merged = stored.apply({ ...this.ofConfig, locate: this.settings.locate });
    if (!wasReloaded && Bun.deepEquals(prices, this.merged.prices)) return;
    this.gateway.priceOf = pricesOf(this.merged);
    ledger.declare(declarationOf(this.merged));
  }

  /** The parts that the console may ask about. */
  get ofConfig() {
    const { settings, config, merged, since, parts, gateway } = this;
    return { settings, config, merged, since, parts, gateway };
  }
}

interface GatewayParts {
  config: Config;
  parts: Assembled;
  lasting: Lasting;
  /** The parts of features that are on. */
  live: readonly LivePart[];
  life: Life;
}

function gatewayOf({ config, parts, lasting, live, life }: GatewayParts): Gateway {
  const { logger, health, ledger, keys } = lasting;
  const own = live.map(({ name, seams: { hooks } }) => ({ name, ...(hooks && { hooks }) }));
  const hooks = [...own, ...parts.plugins.map(({ plugin }) => plugin)].flatMap((plugin) =>
    plugin.hooks ? [sandboxHooks(plugin, logger.fault)] : [],
  );
  const gateway: Gateway = {
    ...lasting.ofGateway,
    ...(life.sent && { sent: life.sent }),
    ...(life.traceContext && { traceContext: life.traceContext }),
    ...(life.foresee && { foresee: life.foresee }),
    ...{ registry: parts.registry, catalog: parts.catalog, priceOf: pricesOf(config) },
    hooks,
    settler: new Settler(
      [
        (call) => health.settled(call),
        // In front of those that write the record.
        ...pluginColumns(parts.plugins, (sentence) => logger.fault(sentence)),
        (call) => ledger.close(call),
        (call) => logger.call(call),
        ...doneHooks(hooks),
      ],
      (fault) => logger.fault("a plugin's done hook failed", fault),
    ),
    fetchNamed,
    asker: createAsker(() => gateway, life),
    retries: config.retries,
    timeouts: config.timeouts,
    strict: config.strict,
    answerOptions: answerOptions(config, () => life.credentials !== undefined || keys.keyring.hasSeveral),
  };
  return gateway;
}
