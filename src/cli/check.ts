/** `weir check`: config, plugins, providers, and what of it can be reached. */
import { loadConfig } from "../config/load.ts";
import type { ActiveProvider, Deployment } from "../core/provider.ts";
import type { Command } from "./command.ts";
import { CONFIG_FLAGS, JSON_FLAG, valueFlags } from "./command.ts";
import { routeRows } from "./routes.ts";
import { missingFormats } from "./spoken-formats.ts";
import { paint, table } from "./terminal.ts";

/** How long one provider may take to answer. Milliseconds. */
const PATIENCE_MS = 3000;

type Verdict = "reachable" | "unauthorised" | "unreachable" | "in this process" | "not asked";

export const check: Command = {
  name: "check",
  summary: "check config, plugins and providers, and what is reachable",
  words: [],
  flags: [...CONFIG_FLAGS, JSON_FLAG, { name: "--offline", help: "ask no provider" }],
  async run({ flags, env, cwd, print, printError }) {
    const loaded = loadConfig({ flags: valueFlags(flags), env, cwd });
    const { assemble } = await import("../assemble.ts");
    const { registry, broken, plugins } = await assemble(loaded.config, env, loaded.locate);
    const offline = flags["--offline"] === true;
    const probed = await Promise.all(
      registry.providers.flatMap((provider) =>
        provider.deployments.map(async (place) => ({
          provider,
          place,
          verdict: await probe(provider, place, offline),
          missing: offline ? [] : await missingFormats(provider, place),
        })),
      ),
    );
    const faults = [...broken.map(({ message }) => message), ...probed.flatMap(faultOf)];
    const { config, file } = loaded;
    const report: Report = {
      ok: faults.length === 0,
      config: file,
      address: `${config.host}:${config.port}`,
      keys: config.keys.map(({ name }) => name),
      plugins: plugins.map(({ plugin, source }) => ({ name: plugin.name, source })),
      providers: probed.map(({ provider, place, verdict, missing }) => ({
        name: place.name,
        verdict,
        missing,
        baseUrl: place.baseUrl,
        source: provider.source,
      })),
      routes: routeRows(registry),
      off: registry.off.map(({ provider, reason }) => ({ name: provider.name, reason })),
      faults,
    };
    print(flags["--json"] ? JSON.stringify(report, null, 2) : describe(report));
    for (const fault of faults) printError(`weir: ${fault}`);
    return report.ok ? 0 : 1;
  },
};

/** What was found out; the shape of `weir check --json`. */
interface Report {
  ok: boolean;
  /** Absent without a config file. */
  config?: string;
  address: string;
  /** Names of the gateway keys. */
  keys: string[];
  plugins: { name: string; source: string }[];
  /** `missing`: formats the provider declares and the host does not speak; calls go there in another one. */
  providers: { name: string; verdict: Verdict; missing: string[]; baseUrl: string; source: string }[];
  routes: [name: string, models: string][];
  off: { name: string; reason: string }[];
  faults: string[];
}

function describe(report: Report): string {
  const dropped = report.plugins.filter(({ source }) => source !== "built-in");
  const providers = report.providers.map(({ name, verdict, missing, baseUrl, source }) => [
    name,
    paint(
      isFault(verdict) ? "red" : "green",
      [verdict, ...missing.map((format) => `no ${format}`)].join(", "),
    ),
    baseUrl,
    source === "built-in" ? "" : source,
  ]);
  const sections: [title: string, rows: readonly (readonly string[])[]][] = [
    ["routes", report.routes],
    ["off", report.off.map(({ name, reason }) => [name, reason])],
  ];
  return [
    `config     ${report.config ?? "no file; defaults and environment"}`,
    `address    ${report.address}`,
    `keys       ${report.keys.join(", ") || "none, so loopback only"}`,
    `plugins    ${report.plugins.length - dropped.length} built in, ${dropped.length} dropped`,
    ...dropped.map(({ name, source }) => `           ${name}  ${source}`),
    "providers",
    table(providers, "  "),
    ...sections.flatMap(([title, rows]) => (rows.length > 0 ? [title, table(rows, "  ")] : [])),
  ].join("\n");
}

function isFault(verdict: Verdict): boolean {
  return verdict === "unreachable" || verdict === "unauthorised";
}

interface Probed {
  provider: ActiveProvider;
  place: Deployment;
  verdict: Verdict;
  missing: string[];
}

function faultOf({ place, verdict }: Probed): string[] {
  if (verdict === "unreachable") return [`${place.name} cannot be reached at ${place.baseUrl}.`];
  if (verdict === "unauthorised") return [`${place.name} refuses its API key.`];
  return [];
}

/** Any answer but a refusal of the key will do: not every host lists its models. */
async function probe(provider: ActiveProvider, place: Deployment, offline: boolean): Promise<Verdict> {
  if (!provider.speaks) return "in this process";
  if (offline) return "not asked";
  const path = provider.speaks["messages"] === "/v1/messages" ? "/v1/models" : "/models";
  try {
    const response = await fetch(place.baseUrl + path, {
      headers: { ...provider.headers, ...place.credentials },
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await response.body?.cancel();
    return response.status === 401 || response.status === 403 ? "unauthorised" : "reachable";
  } catch {
    return "unreachable";
  }
}
