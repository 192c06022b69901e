/** `weir serve`: starts the gateway and keeps it running until a signal ends it. */
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Deployment } from "../core/provider.ts";
import { exitProcess, guardProcess } from "../exit.ts";
import type { RunningWeir } from "../start.ts";
import type { Command } from "./command.ts";
import { CONFIG_FLAGS, valueFlags } from "./command.ts";
import { routeRows } from "./routes.ts";
import { table } from "./terminal.ts";

/** How long running answers may take to finish after the first signal. Milliseconds. */
const GRACE_MS = 30_000;

export const serve: Command = {
  name: "serve",
  summary: "start the gateway",
  usage: "",
  flags: [
    { name: "--host", value: "HOST", help: "address to listen on (default 127.0.0.1)" },
    { name: "--port", value: "PORT", help: "port to listen on (default 9347; 0 takes a free one)" },
    ...CONFIG_FLAGS,
    { name: "--log-format", value: "FORMAT", help: "auto, json or pretty" },
    { name: "--log-level", value: "LEVEL", help: "info, warn, error or silent" },
  ],
  async run({ flags, env, cwd, printError }) {
    const { config, locate } = loadConfig({ flags: valueFlags(flags), env, cwd });
    const { startWeir } = await import("../start.ts");
    let weir: RunningWeir | undefined;
    guardProcess((message, attempt) => weir?.fault(message, attempt));
    weir = await startWeir({ config, env, locate, terminal: process.stdout.isTTY });
    printError(startTable(weir, config));
    surviveFaults(weir);
    return stopOnSignal(weir);
  },
};

/** What a stranger needs to see: address, providers, keys, and a command that works. */
function startTable(weir: RunningWeir, config: Config): string {
  const keys = config.keys.length;
  const routes = routeRows(weir.registry);
  const providers = weir.registry.providers.map((provider) => [
    provider.name,
    provider.patterns.join(" "),
    provider.deployments.map(placeOf).join(", "),
  ]);
  const widths = [0, 1].map((column) =>
    Math.max(...providers.map((row) => Math.min(48, row[column]!.length))),
  );
  const rows = providers.map(
    ([name, patterns, origin]) =>
      `    ${name!.padEnd(widths[0]!)}  ${patterns!.padEnd(widths[1]!)}  ${origin}`,
  );
  const auth = keys > 0 ? ` -H "authorization: Bearer $WEIR_API_KEY"` : "";
  const example = weir.registry.models()[0]?.id ?? "mock/chat";
  return [
    `weir is listening on ${weir.url}`,
    "  providers",
    ...rows,
    ...(routes.length > 0 ? ["  routes", table(routes, "    ")] : []),
    ...weir.broken.map(({ message }) => `    not loaded: ${message}`),
    ...(weir.registry.off.length > 0
      ? [
          `    off: ${weir.registry.off.map(({ provider }) => provider.name).join(", ")} (weir check says why)`,
        ]
      : []),
    keys > 0 ? `  keys: ${keys}` : "  keys: none, so this machine only; set WEIR_API_KEYS to serve others",
    "  try",
    `    curl -N ${weir.url}/v1/chat/completions -H "content-type: application/json"${auth} \\`,
    `      -d '{"model":"${example}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
  ].join("\n");
}

/** Where a deployment is, with its own name where there are several. */
function placeOf({ name, baseUrl }: Deployment): string {
  const origin = baseUrl ? new URL(baseUrl).origin : "in this process";
  return name.includes("/") ? `${name.slice(name.indexOf("/") + 1)} ${origin}` : origin;
}

/** One rejection nobody awaits must not end every stream (runtime finding 10). */
function surviveFaults(weir: RunningWeir): void {
  process.on("unhandledRejection", (fault) => weir.fault("unhandled rejection", fault));
  process.on("uncaughtException", (fault) => weir.fault("uncaught exception", fault));
}

/** The first signal drains, the second is immediate. */
function stopOnSignal(weir: RunningWeir): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let stopping = false;
  const stop = () => {
    if (stopping) exitProcess(1);
    stopping = true;
    void weir.stop(GRACE_MS).then(() => {
      resolve(0);
      exitProcess(0);
    });
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  return promise;
}
