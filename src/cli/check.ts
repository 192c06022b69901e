/** `weir check`: config, plugins, providers, and what of it can be reached. */
import { loadConfig } from "../config/load.ts";
import type { ActiveProvider, Deployment } from "../core/provider.ts";
import type { Command } from "./command.ts";
import { CONFIG_FLAGS, valueFlags } from "./command.ts";
import { routeRows } from "./routes.ts";
import { paint, table } from "./terminal.ts";

/** How long one provider may take to answer. Milliseconds. */
const PATIENCE_MS = 3000;

type Verdict = "reachable" | "unauthorised" | "unreachable" | "in this process" | "not asked";

export const check: Command = {
  name: "check",
  summary: "check config, plugins and providers, and what is reachable",
  usage: "",
  flags: [...CONFIG_FLAGS, { name: "--offline", help: "ask no provider" }],
  async run({ flags, env, cwd, print, printError }) {
    const loaded = loadConfig({ flags: valueFlags(flags), env, cwd });
    const { assemble } = await import("../assemble.ts");
    const { registry, broken, plugins } = await assemble(loaded.config, env, loaded.locate);
    const offline = flags["--offline"] === true;
    const verdicts = await Promise.all(
      registry.providers.flatMap((provider) =>
        provider.deployments.map(async (place) => ({
          provider,
          place,
          verdict: await probe(provider, place, offline),
        })),
      ),
    );
    print(`config     ${loaded.file ?? "no file; defaults and environment"}`);
    print(`address    ${loaded.config.host}:${loaded.config.port}`);
    print(`keys       ${loaded.config.keys.map(({ name }) => name).join(", ") || "none, so loopback only"}`);
    const dropped = plugins.filter(({ source }) => source !== "built-in");
    print(`plugins    ${plugins.length - dropped.length} built in, ${dropped.length} dropped`);
    for (const { plugin, source } of dropped) print(`           ${plugin.name}  ${source}`);
    print("providers");
    print(table(verdicts.map(row), "  "));
    const routes = routeRows(registry);
    if (routes.length > 0) {
      print("routes");
      print(table(routes, "  "));
    }
    if (registry.off.length > 0) {
      print("off");
      print(
        table(
          registry.off.map(({ provider, reason }) => [provider.name, reason]),
          "  ",
        ),
      );
    }
    const faults = [...broken.map(({ message }) => message), ...verdicts.flatMap(faultOf)];
    for (const fault of faults) printError(`weir: ${fault}`);
    return faults.length === 0 ? 0 : 1;
  },
};

interface Probed {
  provider: ActiveProvider;
  place: Deployment;
  verdict: Verdict;
}

function row({ provider, place, verdict }: Probed): string[] {
  const colour = verdict === "unreachable" || verdict === "unauthorised" ? "red" : "green";
  const source = provider.source === "built-in" ? "" : provider.source;
  return [place.name, paint(colour, verdict), place.baseUrl, source];
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
