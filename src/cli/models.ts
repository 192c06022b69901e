/** `weir models [NAME]`: what is served, or who would serve a name and why. */
import { loadConfig } from "../config/load.ts";
import { GatewayError } from "../core/error.ts";
import { describePlan } from "../gateway/plan.ts";
import type { Registry } from "../gateway/registry.ts";
import type { Command, Context } from "./command.ts";
import { CONFIG_FLAGS, valueFlags } from "./command.ts";
import { table } from "./terminal.ts";

export const models: Command = {
  name: "models",
  summary: "list the models, or say who would serve one and why",
  usage: "[NAME]",
  flags: CONFIG_FLAGS,
  async run(context) {
    const { config, locate } = loadConfig({
      flags: valueFlags(context.flags),
      env: context.env,
      cwd: context.cwd,
    });
    const { assemble } = await import("../assemble.ts");
    const { registry } = await assemble(config, context.env, locate);
    const [name] = context.words;
    return name === undefined ? list(registry, context) : explain(registry, name, context);
  },
};

/** Where it is asked, in order, when there is more than one place. */
function printPlan(registry: Registry, name: string, print: Context["print"]): void {
  const format = [...registry.formats.values()].find(({ client }) => client)!;
  const plan = describePlan(registry.plan(name, format.id));
  if (plan.length === 1) return;
  const rows = plan.map(({ deployment, model, role, weight, priority, url }) => [
    `${deployment} ${model}`,
    role,
    String(weight),
    priority.replace(/\.0$/, ""),
    url || "in this process",
  ]);
  print("\nasked in this order; equals share by weight");
  print(table([["deployment and model", "as", "weight", "priority", "at"], ...rows], "  "));
}

function list(registry: Registry, { print }: Context): number {
  print(table(registry.providers.map((provider) => [provider.name, provider.patterns.join(" ")])));
  print("");
  print(table(registry.models().map((model) => [model.id, model.provider])));
  return 0;
}

function explain(registry: Registry, name: string, { print, printError }: Context): number {
  try {
    const rows = [...registry.formats.values()]
      .filter((format) => format.client)
      .map((format) => {
        const target = registry.resolve(name, format.id);
        return [
          format.id,
          `${target.provider.name}/${target.model}`,
          target.lane,
          target.url || "in this process",
          target.reason,
        ];
      });
    print(table([["client", "served by", "lane", "at", "because"], ...rows]));
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    printError(`weir: ${thrown.message}`);
    return 1;
  }
  printPlan(registry, name, print);
  const candidates = registry.explain(name);
  if (candidates.length > 1) {
    print("\ncandidates, in order of precedence");
    print(
      table(
        candidates.map(({ provider, model, source, reason }) => [`${provider}/${model}`, source, reason]),
        "  ",
      ),
    );
  }
  return 0;
}
