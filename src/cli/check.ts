/** `weir check`: checks config and plugins, and probes the providers. */
import { loadConfig, readConfig } from "../config/load.ts";
import type { CheckHow, PluginFinding } from "../core/plugin.ts";
import type { ActiveProvider, Deployment } from "../core/provider.ts";
import type { LoadedPlugin } from "../gateway/routing/registry.ts";
import { wantedButOff } from "../run/wanted-but-off.ts";
import type { Served } from "../gateway/seams.ts";
import { type Command, CONFIG_FLAGS, configOptions, JSON_FLAG, type LoadCheck } from "./command.ts";
import { routeRows } from "./routes.ts";
import { type Finding, reach, type Reachability } from "./reach.ts";
import { paint, table } from "./terminal.ts";

export const check: Command = {
  name: "check",
  summary: "check config and plugins, and whether the providers are reachable",
  words: [],
  flags: [...CONFIG_FLAGS, JSON_FLAG, { name: "--offline", help: "send no request to any provider" }],
  async run(context) {
    const { flags, env, ownPlugins, checks, print, printError } = context;
    const offline = flags["--offline"] === true;
    const { config, file, locate } = await (offline ? loadConfig : readConfig)(configOptions(context));
    const { assemble } = await import("../run/assemble.ts");
    const { findingsOf } = await import("../run/plugin-checks.ts");
    const { unmatchedRules } = await import("../run/known-models.ts");
    const { registry, catalog, broken, plugins } = await assemble(config, env, locate, {
      features: ownPlugins,
    });
    const probed = await Promise.all(
      registry.providers.flatMap((provider) =>
        provider.deployments.map(async (place) => ({
          provider,
          place,
          ...(offline ? notAsked(provider) : await reach(provider, place, env)),
        })),
      ),
    );
    const found = await findingsOf(plugins, { isOffline: offline });
    const own = await findingsOfFeatures(checks, { config, catalog }, { isOffline: offline });
    const faults = [
      ...broken.map(({ message }) => message),
      ...[...found.faults, ...own.faults],
      ...probed.flatMap(faultOf),
    ];
    const report: Report = {
      ok: faults.length === 0,
      config: file,
      included: config.include,
      address: `${config.host}:${config.port}`,
      keys: config.keys.map(({ name }) => name),
      plugins: plugins.map(({ plugin, source }) => ({ name: plugin.name, source })),
      providers: probed.map(({ provider, place, verdict, missing, proxy }) => ({
        name: place.name,
        verdict,
        missing,
        proxy,
        baseUrl: place.baseUrl,
        source: provider.source,
      })),
      routes: routeRows(registry),
      modelSets: Object.entries(config.modelSets).map(([name, list]) => [`@${name}`, list.join(", ")]),
      off: registry.off.map(({ provider, reason }) => ({ name: provider.name, reason })),
      warnings: [
        ...wantedButOff(registry).map(
          ({ provider, reason }) => `the provider ${provider.name} is off: ${reason}.`,
        ),
        ...plugins.flatMap(noticesOf),
        ...found.warnings,
        ...own.warnings,
        ...(await unmatchedRules(config, registry, !offline)),
      ],
      faults,
    };
    print(flags["--json"] ? JSON.stringify(report, null, 2) : describe(report));
    for (const warning of report.warnings) printError(`weir: ${warning}`);
    for (const fault of faults) printError(`weir: ${fault}`);
    return report.ok ? 0 : 1;
  },
};

async function findingsOfFeatures(checks: readonly LoadCheck[], served: Served, how: CheckHow) {
  const found = await Promise.all(checks.map(async (load) => (await load()).check(served, how)));
  const those = (wanted: PluginFinding["severity"]) =>
    found.flat().flatMap(({ severity, message }) => (severity === wanted ? [message] : []));
  return { faults: those("fault"), warnings: those("warning") };
}

/** The shape of `weir check --json`. */
interface Report {
  ok: boolean;
  /** Absent without a config file. */
  config?: string;
  /** Names of the files that the config file includes. */
  included: readonly string[];
  address: string;
  /** Names of the gateway keys. */
  keys: string[];
  plugins: { name: string; source: string }[];
  /** `missing`: formats the provider declares but the host does not speak; weir translates those calls to another format. */
  providers: (Pick<Finding, "verdict" | "missing" | "proxy"> & {
    name: string;
    baseUrl: string;
    source: string;
  })[];
  routes: [name: string, models: string][];
  /** Named sets of models, with their patterns. */
  modelSets: [name: string, patterns: string][];
  off: { name: string; reason: string }[];
  /**
   * Providers of the config that are off, models of it that their provider turns off, rules that match no model, and what
   * plugins say. They do not change the exit code.
   */
  warnings: string[];
  faults: string[];
}

function describe(report: Report): string {
  const external = report.plugins.filter(({ source }) => source !== "built-in");
  const providers = report.providers.map(({ name, verdict, missing, proxy, baseUrl, source }) => [
    name,
    paint(
      isFault(verdict) ? "red" : "green",
      [verdict, ...missing.map((format) => `no ${format}`)].join(", "),
    ),
    [baseUrl, proxy && `through the proxy ${proxy}`].filter(Boolean).join(" "),
    source === "built-in" ? "" : source,
  ]);
  const sections: [title: string, rows: readonly (readonly string[])[]][] = [
    ["routes", report.routes],
    ["sets", report.modelSets],
    ["off", report.off.map(({ name, reason }) => [name, reason])],
  ];
  return [
    `config     ${[report.config ?? "no file; defaults and environment", ...report.included].join(", ")}`,
    `address    ${report.address}`,
    `keys       ${report.keys.join(", ") || "none in the config"}`,
    `plugins    ${report.plugins.length - external.length} built in, ${external.length} external`,
    ...external.map(({ name, source }) => `           ${name}  ${source}`),
    "providers",
    table(providers, "  "),
    ...sections.flatMap(([title, rows]) => (rows.length > 0 ? [title, table(rows, "  ")] : [])),
  ].join("\n");
}

function isFault(verdict: Reachability): boolean {
  return verdict === "unreachable" || verdict === "unauthorised" || verdict === "wrong address";
}

function notAsked(provider: ActiveProvider): Finding {
  return { verdict: provider.speaks ? "not asked" : "in this process", missing: [] };
}

/** What a plugin file writes as an earlier release read it. */
function noticesOf({ plugin, source, notices = [] }: LoadedPlugin): string[] {
  return notices.map(
    (notice) =>
      `the plugin ${plugin.name} (${source}): ${notice}. This release still reads it, the next one does not.`,
  );
}

/** `openai at https://… refused the connection; …`: why weir cannot serve calls with this deployment. */
function faultOf({ place, fault, proxy }: Finding & { place: Deployment }): string[] {
  if (fault === undefined) return [];
  const through = proxy === undefined ? "" : ` through the proxy ${proxy}`;
  return [`${place.name} at ${place.baseUrl}${through} ${fault}${fault.endsWith("?") ? "" : "."}`];
}
