/** A client in front of a gateway that runs for it alone. */
import { type LoadedConfig, readConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { GatewayError } from "../../core/error.ts";
import type { Plugin } from "../../core/plugin.ts";
import type { Registry } from "../../gateway/routing/registry.ts";
import { digestOf, makeKeyText } from "../../ledger/keys/form.ts";
import type { RunningWeir } from "../../run/running-weir.ts";
import { knownClient, pointClient } from "../../cli/clients/index.ts";
import { wantedButOff } from "../../run/wanted-but-off.ts";
import { configOptions, type Context } from "../../cli/command.ts";
import { describeClient, describeModel, describeSilence } from "./lines.ts";
import { withoutOwnAddress } from "./upstreams.ts";
import { runClient } from "../../cli/run-client.ts";
import { serveVariant } from "../../cli/serve.ts";

/** Name of the client's key in usage and logs, and of the plugin. */
const KEY_NAME = "weir-exec";
/** The client has ended: only what it left behind may still read an answer. Milliseconds. */
const GRACE_MS = 1_000;
/** No folder. */
const NONE = "";
/** Maximum time for a server on this machine to answer. Milliseconds. */
const LISTENING_MS = 5_000;
const MOCK_MODEL = "mock/chat";
/** Which format the client speaks does not matter: each model is served to clients of every format. */
const FORMAT = "chat-completions";

/** Where servers on this machine usually listen: a model of theirs needs no config. */
const LOCAL_SERVERS: Readonly<Record<string, string>> = {
  ollama: "http://127.0.0.1:11434/v1",
  lmstudio: "http://127.0.0.1:1234/v1",
  llamacpp: "http://127.0.0.1:8080/v1",
  vllm: "http://127.0.0.1:8000/v1",
  sglang: "http://127.0.0.1:30000/v1",
};

/** @returns the exit code of the client @throws Error with one sentence */
export async function runWithOwn(context: Context): Promise<number> {
  const { rest = [], flags, printError } = context;
  const model = typeof flags["--model"] === "string" ? flags["--model"] : undefined;
  const { env, ignored } = withoutOwnAddress(context.env, Number(flags["--port"] ?? 0));
  if (ignored.length > 0)
    printError(
      `weir: ${ignored.join(" and ")} are not used for a provider: the address is one of weir itself`,
    );
  const own = { ...context, env, flags: { ...flags, "--host": "127.0.0.1" } };
  const loaded = await readConfig(configOptions(own));
  const key = makeKeyText("call");
  const limits = { key, flags, hasPlugins: loaded.file !== undefined || isChosen(loaded, "plugins.dir") };
  const limit = (config: Config) => withLocalServer(forOneClient(config, limits), model);
  if (model !== undefined) await assertServed(model, limit(loaded.config), own, loaded.locate);
  let running: RunningWeir | undefined;
  return serveVariant(own, {
    adjust: limit,
    plugins: [
      answersForOthers(
        () => running?.parts.registry,
        (registry) => model ?? (isBare(registry, loaded.config) ? MOCK_MODEL : undefined),
      ),
    ],
    describe(_, url, weir) {
      running = weir;
      const { registry } = weir.parts;
      const isMock = model === undefined && isBare(registry, loaded.config);
      const off = wantedButOff(registry).map(
        ({ provider, reason }) => `weir: provider ${provider.name} is off: ${reason}`,
      );
      return [describeOwn(rest, url, model), ...(isMock ? [MOCK_LINE] : off)].join("\n");
    },
    client(url) {
      const { exited, signal } = runClient(pointClient(rest, { url, key, model }, context.env), context);
      const told = exited.then((code) => {
        const client = describeClient(rest, knownClient(rest));
        const silence = running?.wasAsked ? undefined : describeSilence(client, code);
        if (silence !== undefined) printError(silence);
        return code;
      });
      return { exited: told, signal };
    },
  });
}

function isChosen({ sources }: LoadedConfig, option: string): boolean {
  return sources[option] !== undefined && sources[option].layer !== "default";
}

function describeOwn(command: readonly string[], url: string, model: string | undefined): string {
  const client = describeClient(command, knownClient(command));
  return `weir: ${client} asks a gateway on ${url}, which ends with it; ${describeModel(model)}`;
}

const MOCK_LINE =
  "weir: no provider has a key, so the mock answers; set a key such as OPENAI_API_KEY or ANTHROPIC_API_KEY, or name a model on this machine with --model ollama/NAME";

/** Whether nothing is configured, so that the mock answers. @param config without the key of the client */
function isBare({ isUnconfigured }: Registry, { keys }: Config): boolean {
  return isUnconfigured && keys.length === 0;
}

interface Limits {
  key: string;
  flags: Context["flags"];
  /** The plugin folder belongs to weir: a `plugins` folder in the user's project may be anything. */
  hasPlugins: boolean;
}

/** One process on loopback, which admits its client alone and writes no log: the terminal belongs to the client. */
function forOneClient(config: Config, { key, flags, hasPlugins }: Limits): Config {
  return {
    ...config,
    workers: 1,
    port: flags["--port"] === undefined ? 0 : config.port,
    listen: { mode: config.listen.mode },
    tls: {},
    keys: [...config.keys, { name: KEY_NAME, sha256: digestOf(key) }],
    graceMs: GRACE_MS,
    log: { ...config.log, ...(flags["--log-level"] === undefined && { level: "silent" }) },
    plugins: hasPlugins ? config.plugins : { ...config.plugins, dir: NONE },
  };
}

/** Switches a local server on for a model of it, at its usual address unless a variable or the config has another one. */
function withLocalServer(config: Config, model: string | undefined): Config {
  const [name = ""] = model?.split("/") ?? [];
  const baseUrl = Object.hasOwn(LOCAL_SERVERS, name) ? LOCAL_SERVERS[name] : undefined;
  if (baseUrl === undefined || config.providers[name]) return config;
  return { ...config, providers: { ...config.providers, [name]: { baseUrl } } };
}

/**
 * Clients ask for other models too, for titles and summaries.
 * @param substituteOf the model that answers for those that no provider serves
 */
function answersForOthers(
  current: () => Registry | undefined,
  substituteOf: (registry: Registry) => string | undefined,
): Plugin {
  return {
    name: KEY_NAME,
    hooks: {
      async intercept({ model: asked }) {
        const registry = current();
        const substitute = registry && substituteOf(registry);
        if (registry === undefined || substitute === undefined) return undefined;
        await registry.prepare(asked);
        return registry.isOff(asked) ? { model: substitute } : undefined;
      },
    },
  };
}

/** @throws Error with one sentence if no provider serves the model */
async function assertServed(
  model: string,
  config: Config,
  { env, ownPlugins }: Pick<Context, "env" | "ownPlugins">,
  locate: LoadedConfig["locate"],
): Promise<void> {
  const { assemble } = await import("../../run/assemble.ts");
  const { registry } = await assemble(config, env, locate, { features: ownPlugins });
  await registry.prepare(model);
  try {
    registry.resolve(model, FORMAT);
  } catch (fault) {
    throw fault instanceof GatewayError ? new Error(fault.message.replace(/\.$/, "")) : fault;
  }
  const [name = ""] = model.split("/");
  const place = registry.providers.find((provider) => provider.name === name)?.deployments[0]?.baseUrl;
  if (place !== undefined && place === LOCAL_SERVERS[name] && !(await isListening(place)))
    throw new Error(
      `no ${name} answers on ${new URL(place).origin}; start it, or set ${name.toUpperCase()}_BASE_URL to its address`,
    );
}

async function isListening(baseUrl: string): Promise<boolean> {
  return fetch(`${baseUrl}/models`, { signal: AbortSignal.timeout(LISTENING_MS) }).then(
    () => true,
    () => false,
  );
}
