/** The config of a LiteLLM proxy. https://docs.litellm.ai/docs/proxy/config_settings */
import type { References } from "../environment.ts";
import { type Reading, SourceError } from "../reader.ts";
import { applyRules } from "../settings.ts";
import type { SourceDocument, SourceNode } from "../source.ts";
import { readAliases, readFallbacks } from "./fallbacks.ts";
import { readJwt } from "./jwt.ts";
import { readKeys } from "./keys.ts";
import { readModels } from "./models.ts";
import { COOLDOWN_RULES, readModelReliability, readRetries } from "./reliability.ts";
import { readSecretManager } from "./secret-manager.ts";
import { GENERAL_RULES, LITELLM_RULES, readCache, readProxyBudget, ROUTER_RULES } from "./settings.ts";

export const references: References = (text) => {
  const name = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1];
  return name === undefined ? undefined : `\${${name}}`;
};

/** Sections at the top of the file that weir has nothing like. */
const NO_COUNTERPART: Readonly<Record<string, readonly [why: string, instead?: string]>> = {
  guardrails: ["weir has no guardrails", "a plugin with `request` and `answer` hooks can check calls"],
  mcp_servers: ["weir serves no MCP tools"],
  prompts: ["weir keeps no prompts"],
  vector_store_registry: ["weir has no vector stores"],
  search_tools: ["weir runs no search tools"],
  callback_settings: ["weir sends records to no logging product", "traces"],
  files_settings: ["weir serves no files"],
  finetune_settings: ["weir serves no fine-tuning"],
  assistant_settings: ["weir serves no assistants"],
  default_vertex_config: ["weir has the settings at each provider", "providers.vertex.variables"],
};

/** Sections of which a LiteLLM config has at least one. */
const SECTIONS = ["model_list", "litellm_settings", "router_settings", "general_settings", "include"];

export function read(reading: Reading, keys?: SourceDocument): void {
  const { root } = reading;
  if (!SECTIONS.some((name) => root.members.some((node) => node.name === name)))
    throw new SourceError(
      `${reading.leaves.name}:1`,
      `this is no config of LiteLLM: it has none of ${SECTIONS.join(", ")}`,
    );
  const router = root.member("router_settings");
  const litellm = root.member("litellm_settings");
  const general = root.member("general_settings");
  readSecretManager(reading, general, root.member("environment_variables"));
  const sections = [router, litellm].filter((section) => section !== undefined);
  readModels(reading, root.member("model_list"), {
    credentials: credentialsOf(root),
    enforcesRates: enforcesRates(router),
  });
  readAliases(reading, router?.member("model_group_alias"));
  readRetries(reading, sections, readFallbacks(reading, sections));
  readModelReliability(reading, root.member("model_list"));
  applyRules(litellm, COOLDOWN_RULES, reading);
  applyRules(router, COOLDOWN_RULES, reading);
  applyRules(litellm, LITELLM_RULES, reading);
  // Most settings of the router are allowed in litellm_settings, too; those in router_settings hold.
  applyRules(litellm, ROUTER_RULES, reading);
  applyRules(router, ROUTER_RULES, reading);
  applyRules(general, GENERAL_RULES, reading);
  readJwt(reading, general);
  readProxyBudget(reading, litellm);
  readCache(reading, litellm);
  readMasterKey(reading, general?.member("master_key"));
  if (keys) readKeys(reading, keys);
  for (const file of root.member("include")?.items ?? [])
    if (reading.leaves.missing.includes(file.text ?? "")) file.dropped("the file cannot be read");
    else file.ignored("its members are imported, too");
  for (const [name, [why, instead]] of Object.entries(NO_COUNTERPART))
    root.member(name)?.dropped(why, instead);
  readVariables(reading, root.member("environment_variables"));
}

/** Whether LiteLLM refuses calls beyond `rpm` and `tpm` of a deployment, instead of only sharing calls by them. */
function enforcesRates(router: SourceNode | undefined): boolean {
  const strategy = router?.member("routing_strategy")?.text ?? "";
  const checks = router?.member("optional_pre_call_checks")?.items ?? [];
  return (
    strategy.startsWith("usage-based") || checks.some(({ value }) => value === "enforce_model_rate_limits")
  );
}

/** `credential_list`: values that several models share. */
function credentialsOf(root: SourceNode): ReadonlyMap<string, SourceNode> {
  const list = root.member("credential_list")?.items ?? [];
  return new Map(
    list.flatMap((entry) => {
      const name = entry.member("credential_name");
      const values = entry.member("credential_values");
      if (name?.text === undefined || values === undefined) return [];
      name.taken("providers");
      entry.member("credential_info")?.dropped("weir keeps no notes about credentials");
      return [[name.text, values] as const];
    }),
  );
}

/** The key of the operator, which clients may send, too. */
function readMasterKey(reading: Reading, node: SourceNode | undefined): void {
  if (node?.text === undefined) return;
  reading.draft.add("keys", { name: "master", ...reading.gatewayKey(node) }, node);
  node.changed("for calls only; the admin API has keys of its own: `weir admin key create NAME`", "keys");
}

/** `environment_variables`: values that LiteLLM sets for itself. */
function readVariables({ environment }: Reading, section: SourceNode | undefined): void {
  for (const node of section?.entries ?? []) {
    node.hide();
    if (environment.define(node))
      node.changed("weir sets no variables; --env writes them to a file for the start", "the environment");
    else node.dropped("nothing in weir.yaml refers to the variable");
  }
}
