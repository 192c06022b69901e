/** `weir models [NAME]`: lists the models, or shows which provider serves a name and why. */
import type { Assembled } from "../run/assemble.ts";
import { readConfig } from "../config/load.ts";
import { GatewayError } from "../core/error.ts";
import type { ModelFacts } from "../core/model-facts.ts";
import type { ListedModel } from "../core/model-listing.ts";
import type { Strategy } from "../core/settings.ts";
import { editsCalls } from "../gateway/plugins/edits-calls.ts";
import { describePlan, type PlannedTarget } from "../gateway/routing/plan.ts";
import type { Registry } from "../gateway/routing/registry.ts";
import { operationOf, taskOfOperation } from "../gateway/routing/tasks.ts";
import { type Command, CONFIG_FLAGS, configOptions, type Context, JSON_FLAG } from "./command.ts";
import { brief, factRows } from "./model-facts.ts";
import { missingFormats } from "./reach.ts";
import { table } from "./terminal.ts";
import { withStored } from "./with-stored.ts";

export const models: Command = {
  name: "models",
  summary: "list the models, or show which provider serves one and why",
  words: [{ name: "NAME", optional: true }],
  flags: [...CONFIG_FLAGS, JSON_FLAG],
  async run(context) {
    const { config, locate } = await readConfig(configOptions(context));
    const { assemble } = await import("../run/assemble.ts");
    const parts = await assemble(config, context.env, locate, { features: context.ownPlugins });
    await withStored(parts, { config, locate }, context);
    const { registry, catalog, plugins } = parts;
    const [name] = context.words;
    if (name === undefined) return list(registry, await catalog.list(), context);
    await registry.live.wait();
    await noteMissingFormats(registry, name, context.env);
    return explain(registry, await catalog.find(name), name, { ...context, plugins });
  },
};

/** Asks the hosts of a name which formats they speak. When a host does not answer, weir assumes the plugin's declaration. */
async function noteMissingFormats(registry: Registry, name: string, env: Context["env"]): Promise<void> {
  const providers = new Set(registry.explain(name).map(({ provider }) => provider));
  const hosts = registry.providers
    .filter((provider) => providers.has(provider.name))
    .flatMap((provider) => provider.deployments.map((place) => ({ provider, place })));
  await Promise.all(
    hosts.map(async ({ provider, place }) => {
      for (const format of await missingFormats(provider, place, env))
        registry.noteMissingFormat(place, format);
    }),
  );
}

const MODEL_HEAD = ["model", "provider", "does", "context window", "a million tokens", ""];

function list(registry: Registry, listed: readonly ListedModel[], { flags, print }: Context): number {
  const providers = registry.providers.map(({ name, patterns }) => ({ name, patterns }));
  const models = listed.map(({ id, provider, does, facts }) => ({
    id,
    provider,
    does,
    ...(facts && { facts }),
  }));
  if (flags["--json"]) {
    print(JSON.stringify({ providers, models }, null, 2));
    return 0;
  }
  print(table(providers.map(({ name, patterns }) => [name, patterns.join(" ")])));
  print("");
  const rows = models.map(({ id, provider, does, facts }) => [id, provider, does.join(" "), ...brief(facts)]);
  print(table([MODEL_HEAD, ...rows]));
  return 0;
}

/** Who serves a name: for each client format or other task, then all targets in routing order, then all candidates. */
interface Explained {
  name: string;
  does: readonly string[];
  /** `client`: the format of the client; what else the model does has the dialect of the provider, or is the task itself. */
  served: { client: string; provider: string; model: string; lane: string; url: string; reason: string }[];
  plan: PlannedTarget[];
  /** The order of targets of one priority; absent: weight. */
  routing?: Strategy;
  facts?: ModelFacts;
  candidates: ReturnType<Registry["explain"]>;
}

/** @throws GatewayError when no provider serves the name */
function lookUp(
  registry: Registry,
  name: string,
  model: ListedModel | undefined,
  plugins: Assembled["plugins"],
): Explained {
  const editing = plugins.filter(({ plugin }) => plugin.hooks && editsCalls(plugin.hooks));
  const hooks = editing.flatMap(({ plugin }) => plugin.hooks ?? []);
  const formats = [...registry.formats.values()].filter(({ client, kind }) => client && !kind);
  const does = model?.does ?? [];
  const others = does.flatMap((task) => (task === "chat" ? [] : operationOf(task)));
  const answers = others.length < does.length || does.length === 0;
  const served = [
    ...(answers ? formats.map((format) => servedTo(registry, name, format.id, editing)) : []),
    ...others.map((operation) => servedBeside(registry, name, operation)),
  ];
  const plan = answers
    ? describePlan(registry.plan(name, formats[0]!.id), hooks)
    : describePlan(registry.plan(name, "", others[0]), []);
  const routing = registry.strategyOf(name);
  const candidates = registry.explain(name);
  return { name, does, served, plan, ...(routing !== "weight" && { routing }), candidates };
}

type Row = Explained["served"][number];

function servedTo(registry: Registry, name: string, format: string, editing: Assembled["plugins"]): Row {
  const { provider, model, lane: spoken, url, reason: why } = registry.resolve(name, format);
  const isEdited = spoken === "native" && editing.length > 0;
  const lane = isEdited ? "translated" : spoken;
  const names = editing.map(({ plugin }) => plugin.name).join(", ");
  const reason = isEdited ? `${why}; translated for the hooks of ${names}` : why;
  return { client: format, provider: provider.name, model, lane, url, reason };
}

/** The row of what is no generated text: clients of the provider's own dialect have the native lane. */
function servedBeside(registry: Registry, name: string, operation: string): Row {
  const find = (dialect: string) => registry.plan(name, dialect, operation).choices[0]!.target;
  const { format } = find("");
  const { provider, model, lane, url, reason } = find(format);
  return { client: format || taskOfOperation(operation), provider: provider.name, model, lane, url, reason };
}

function explain(
  registry: Registry,
  model: ListedModel | undefined,
  name: string,
  { flags, print, printError, plugins }: Context & Pick<Assembled, "plugins">,
): number {
  try {
    const explained: Explained = {
      ...lookUp(registry, name, model, plugins),
      ...(model?.facts && { facts: model.facts }),
    };
    print(flags["--json"] ? JSON.stringify(explained, null, 2) : describe(explained));
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    printError(`weir: ${thrown.message}`);
    return 1;
  }
}

function describe({ does, served, plan, routing = "weight", facts, candidates }: Explained): string {
  const rows = served.map(({ client, provider, model, lane, url, reason }) => [
    client,
    `${provider}/${model}`,
    lane,
    placeOf(url),
    reason,
  ]);
  const parts = [table([["client", "served by", "lane", "at", "because"], ...rows])];
  const known = [...(does.length > 0 ? [["does", does.join(", ")]] : []), ...(facts ? factRows(facts) : [])];
  if (known.length > 0) parts.push("\nwhat is known of it", table(known, "  "));
  if (plan.length > 1)
    parts.push(
      routing === "weight"
        ? "\nrouting order (targets with equal priority share traffic by weight)"
        : `\nrouting order (among targets with equal priority by ${routing})`,
      planTable(plan),
    );
  if (candidates.length > 1) {
    const others = candidates.map(({ provider, model, source, reason }) => [
      `${provider}/${model}`,
      source,
      reason,
    ]);
    parts.push("\nmatching providers, in order of precedence", table(others, "  "));
  }
  return parts.join("\n");
}

function planTable(plan: readonly PlannedTarget[]): string {
  const rows = plan.map(({ deployment, model, role, weight, priority, url }) => [
    `${deployment} ${model}`,
    role,
    String(weight),
    priority.replace(/\.0$/, ""),
    placeOf(url),
  ]);
  return table([["deployment and model", "as", "weight", "priority", "at"], ...rows], "  ");
}

function placeOf(url: string): string {
  return url || "in this process";
}
