/** Starts a gateway: the assembled parts behind a socket. */
import { assemble } from "./assemble.ts";
import type { Assembled } from "./assemble.ts";
import type { Path } from "./config/error.ts";
import type { Config } from "./config/schema.ts";
import { GatewayError } from "./core/error.ts";
import { describeThrown } from "./core/thrown.ts";
import { Clock } from "./gateway/clock.ts";
import { containHooks } from "./gateway/contain.ts";
import type { Gateway } from "./gateway/exchange.ts";
import { Health } from "./gateway/health/index.ts";
import { createKeyring } from "./gateway/keys.ts";
import { secretFilter } from "./gateway/redact.ts";
import { ReasoningCache } from "./gateway/reasoning-cache.ts";
import { doneHooks, Settler } from "./gateway/settle.ts";
import { Admission } from "./server/admission.ts";
import { createApp } from "./server/app.ts";
import { createAuthenticate } from "./server/authenticate.ts";
import type { Listener } from "./server/listen.ts";
import { listen } from "./server/listen.ts";
import { createLogger } from "./server/log.ts";
import { createRequestId, respondError } from "./server/respond.ts";
import { VERSION } from "./version.ts";

export interface StartOptions {
  config: Config;
  env: Record<string, string | undefined>;
  /** Where a path of the config stands, for messages. */
  locate?(path: Path): string;
  /** Where the log goes; standard output by default. */
  write?(text: string): void;
  /** `auto` in the config means readable when this says so. */
  terminal?: boolean;
}

export interface RunningWeir extends Assembled {
  url: string;
  host: string;
  port: number;
  /** Refuses new connections and lets running answers finish; then cuts what is left after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
  /** Records a fault that belongs to no call. */
  fault(message: string, cause?: unknown): void;
}

export async function startWeir(options: StartOptions): Promise<RunningWeir> {
  const { config, env } = options;
  const write = options.write ?? ((text: string) => void process.stdout.write(text));
  const format = config.log.format === "auto" ? (options.terminal ? "pretty" : "json") : config.log.format;
  let hide = (text: string) => text;
  const logger = createLogger({ format, level: config.log.level, hide: (text) => hide(text), write });
  const assembled = await assemble(config, env, options.locate);
  hide = secretFilter(assembled.registry.providers);
  for (const { message } of assembled.broken) logger.fault(`plugin not loaded: ${message}`);
  for (const { plugin, source, sha256 } of assembled.plugins)
    if (sha256) logger.info(`plugin ${plugin.name} is loaded`, { source, sha256 });
  const hooks = assembled.plugins.flatMap(({ plugin }) =>
    plugin.hooks ? [containHooks(plugin, logger.fault)] : [],
  );
  const health = new Health({
    onAlert: (sentence) => logger.fault(sentence),
    onChange: (sentence) => logger.info(sentence, {}),
  });
  const gateway: Gateway = {
    registry: assembled.registry,
    hooks,
    settler: new Settler(
      [(call) => health.settled(call), (call) => logger.call(call), ...doneHooks(hooks)],
      (fault) => logger.fault("a plugin's done hook failed", fault),
    ),
    health,
    attempts: config.retries.attempts,
    clock: new Clock(),
    timeouts: config.timeouts,
    reasoning: new ReasoningCache(),
    strict: config.strict,
  };
  let draining = false;
  let server: Listener | undefined;
  const app = createApp({
    gateway,
    limits: config.limits,
    authenticate: createAuthenticate(createKeyring(config.keys)),
    admission: new Admission(config.limits),
    address: (request) => server?.requestIP(request)?.address ?? "",
    release: (request) => server?.timeout(request, 60),
    version: VERSION,
    ready: () => !draining,
  });
  server = listen({
    host: config.host,
    port: config.port,
    fetch: app.fetch,
    onFault(fault) {
      logger.fault("the server failed outside of any route", fault);
      return respondError(GatewayError.from(fault), app.dialectOf(""), createRequestId());
    },
  });
  const port = server.port!;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return {
    ...assembled,
    host: config.host,
    port,
    url: `http://${host}:${port}`,
    fault: (message, cause) => logger.fault(message + culprit(assembled.plugins, cause), cause),
    async stop(graceMs = 0) {
      draining = true;
      const finished = server.stop(graceMs === 0);
      const late = graceMs > 0 ? setTimeout(() => void server.stop(true), graceMs) : undefined;
      await finished;
      clearTimeout(late);
      logger.flush();
    },
  };
}

/** Who did it, when the stack leads through a dropped file: ` (plugin NAME, FILE)`. */
function culprit(plugins: Assembled["plugins"], cause: unknown): string {
  const stack = describeThrown(cause);
  const found = plugins.find(({ source }) => source !== "built-in" && stack.includes(source));
  return found ? ` (plugin ${found.plugin.name}, ${found.source})` : "";
}
