/** `weir probe HOST`: finds out with a few calls what a host can do, and prints it as a block for weir.yaml. */
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { baseUrlFault, normalizeBaseUrl } from "../../config/address.ts";
import { readConfig } from "../../config/load.ts";
import { didYouMean } from "../../core/suggest.ts";
import type { Traits } from "../../core/provider.ts";
import { urlsOf } from "../../gateway/routing/endpoint.ts";
import { traitsFor } from "../../gateway/routing/spoken-formats.ts";
import type { Registry } from "../../gateway/routing/registry.ts";
import { createTransport } from "../../http/index.ts";
import { configOptions, type Context, UsageError, valueFlags } from "../../cli/command.ts";
import { confirmed } from "../../cli/confirm.ts";
import { assemble } from "../../run/assemble.ts";
import { writeBlock } from "./block.ts";
import { boundOf, describePlan } from "./describe-plan.ts";
import { providerNameOf } from "./host-name.ts";
import type { ProbedHost } from "./probed-host.ts";
import { type Plan, planOf } from "./plan.ts";
import { probeHost } from "./run.ts";
import { settingsOf } from "./settings.ts";

/** The format whose hosts differ so much that they are worth a probe. */
const FORMAT = "chat-completions";

/** The host and model to probe. */
interface Subject {
  place: ProbedHost;
  /** Name in the block. */
  name: string;
  /** Facts that weir has about the model already. Absent for a host that is named by its URL. */
  traitsOf?(model: string): Traits;
  /** The address of a known provider, if it is not the one of the plugin. */
  baseUrl?: string;
}

/** @returns the exit code */
export async function run(context: Context): Promise<number> {
  const { flags, words, cwd, printError, print } = context;
  const { "--model": model, "--out": out } = valueFlags(flags);
  if (out !== undefined && existsSync(resolve(cwd, out)))
    throw new Error(`${out} already exists; weir asked nothing.`);
  const subject = await subjectOf(words[0]!, context);
  const plan = planOf();
  const cost = boundOf(subject.name, model, plan, context);
  for (const line of describePlan(subject.place.baseUrl, model, plan, cost, flags["--dry-run"] === true))
    printError(line);
  if (flags["--dry-run"]) return 0;
  if (!(await confirmed("Send these calls?", flags))) return 1;
  const { block, json } = await ask(subject, model, plan, context);
  if (out !== undefined) {
    writeFileSync(resolve(cwd, out), `${block}\n`, { flag: "wx" });
    printError(`weir wrote ${out}.`);
  }
  if (flags["--json"]) print(JSON.stringify(json, null, 2));
  else if (out === undefined) print(block);
  return 0;
}

/** @throws UsageError for a host that is neither a URL nor a known provider */
async function subjectOf(word: string, context: Context): Promise<Subject> {
  const { flags, env, ownPlugins } = context;
  const { config, locate } = await readConfig({ ...configOptions(context), flags: configFlags(flags) });
  const { registry } = await assemble(config, env, locate, { features: ownPlugins });
  const names = [...registry.providers, ...registry.off.map(({ provider }) => provider)].map(
    ({ name }) => name,
  );
  if (!word.includes("://")) return knownProvider(word, names, registry, flags);
  const fault = baseUrlFault(word);
  if (fault !== undefined) throw new UsageError(`HOST ${fault}.`);
  const baseUrl = normalizeBaseUrl(word);
  const variable = flags["--api-key-env"];
  const key = typeof variable === "string" ? env[variable]?.trim() : undefined;
  if (typeof variable === "string" && !key) throw new UsageError(`--api-key-env: ${variable} is not set.`);
  const credentials: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
  const chatUrl = () => `${baseUrl}/chat/completions`;
  const place = { baseUrl, chatUrl, headers: {}, credentials };
  return { place, name: providerNameOf(baseUrl, names) };
}

function knownProvider(
  name: string,
  names: readonly string[],
  registry: Registry,
  flags: Context["flags"],
): Subject {
  if (flags["--api-key-env"] !== undefined)
    throw new UsageError(
      "--api-key-env is for a HOST; a provider has its key in the environment or the config.",
    );
  const provider = registry.providers.find((one) => one.name === name);
  const off = registry.off.find((one) => one.provider.name === name);
  if (off) throw new Error(`the provider ${name} is off: ${off.reason}.`);
  if (!provider)
    throw new UsageError(
      `no provider is named ${name}${didYouMean(name, names)}. A host needs its base URL, such as https://api.acme.example/v1.`,
    );
  if (provider.speaks?.[FORMAT] === undefined)
    throw new Error(`the provider ${name} does not speak chat-completions, which is all that a probe asks.`);
  const deployment = provider.deployments[0]!;
  const { baseUrl, credentials, authorizer, tls } = deployment;
  const chatUrl = (model: string) => urlsOf(provider, deployment, FORMAT, model).url;
  const headers = provider.headers ?? {};
  const traitsOf = (model: string) => traitsFor(provider, model) ?? provider.traits ?? {};
  const isUsual = provider.baseUrl === baseUrl || typeof provider.baseUrl === "function";
  return {
    ...{ traitsOf, name, place: { baseUrl, chatUrl, headers, credentials, authorizer, tls } },
    ...(!isUsual && { baseUrl }),
  };
}

/** The flags of the config alone. */
function configFlags(flags: Context["flags"]): Record<string, string | undefined> {
  const { "--config": config, "--plugins": plugins } = valueFlags(flags);
  return { "--config": config, "--plugins": plugins };
}

async function ask(
  subject: Subject,
  wanted: string | undefined,
  plan: Plan,
  { env, flags, printError }: Context,
) {
  const { place, name, traitsOf } = subject;
  const { model, findings, calls } = await probeHost({
    place,
    model: wanted,
    // A kept connection would keep the command from ending.
    transport: createTransport(env, { idleMs: 1 }),
    mostCalls: plan.calls,
    report: (feature, { verdict, evidence }) =>
      printError(`${feature.padEnd(22)}${verdict.padEnd(9)}${evidence}`),
  });
  printError(`${calls} calls.`);
  const settings = settingsOf(findings, traitsOf?.(model));
  const variable = flags["--api-key-env"];
  const host = {
    baseUrl: place.baseUrl,
    ...(typeof variable === "string" && { apiKeyEnv: variable }),
    listsModels: findings.models?.verdict === "yes",
  };
  const block = writeBlock(findings, settings, {
    provider: name,
    model,
    ...(!traitsOf && { host }),
    ...(subject.baseUrl !== undefined && { baseUrl: subject.baseUrl }),
    date: new Date().toISOString().slice(0, 10),
  });
  return { block, json: { provider: name, baseUrl: place.baseUrl, model, calls, findings, settings, block } };
}
