/** A target of a Portkey config: a provider with a credential, and a model that replaces the client's. */
import { type Connection, type ConnectionSettings, shortName } from "../draft.ts";
import { hostName, isVendorAddress, keyVariable, vendorAt } from "../hosts.ts";
import type { Reading } from "../reader.ts";
import type { SourceNode } from "../source.ts";

/** Providers of Portkey whose name in weir is another one. https://portkey.ai/docs/integrations/llms */
export const NAMES: Readonly<Record<string, string>> = {
  "azure-openai": "azure",
  "azure-ai": "foundry-models",
  google: "gemini",
  "vertex-ai": "vertex",
  "together-ai": "together",
  "fireworks-ai": "fireworks",
  "mistral-ai": "mistral",
  "perplexity-ai": "perplexity",
  "x-ai": "xai",
  "z-ai": "zhipu",
  dashscope: "qwen",
  "novita-ai": "novita",
};

/** Both spellings of Portkey: `api_key` and `apiKey`. */
export function memberOf(node: SourceNode, name: string): SourceNode | undefined {
  return (
    node.member(name) ?? node.member(name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()))
  );
}

export interface ReadTarget {
  connection: Connection;
  /** The model that replaces the client's. */
  model?: string;
}

export function readTarget(reading: Reading, node: SourceNode): ReadTarget | undefined {
  const provider = providerOf(reading, node);
  if (provider === undefined) return undefined;
  const connection = reading.connect(
    { provider, hint: hintOf(node), settings: settingsOf(reading, node, provider) },
    node,
  );
  const override = memberOf(node, "override_params");
  const model = override?.member("model");
  const deployment = memberOf(node, "azure_deployment_id") ?? memberOf(node, "deployment_id");
  const chosen = provider.startsWith("azure") ? (deployment ?? model) : model;
  chosen?.taken("aliases, routes");
  if (chosen !== model) model?.changed("the name of the deployment is what Azure takes");
  override?.dropped("weir sends what the client sends", "a plugin with a `request` hook can change fields");
  const name = chosen?.text?.replace(/^@[^/]+\//, "");
  return { connection, ...(name !== undefined && { model: name }) };
}

/** The provider of weir: by `provider`, by the name of a virtual key, or by the address. */
function providerOf({ vendors }: Reading, node: SourceNode): string | undefined {
  const provider = memberOf(node, "provider");
  const virtual = memberOf(node, "virtual_key");
  const host = memberOf(node, "custom_host");
  const model = memberOf(node, "override_params")?.member("model")?.text ?? "";
  const given = provider?.text ?? virtual?.text ?? /^@[^/]+/.exec(model)?.[0] ?? "";
  const slug = given.replace(/^@/, "");
  const known = NAMES[slug] ?? (vendors.has(slug) ? slug : undefined);
  const isDated = memberOf(node, "azure_api_version") !== undefined;
  const guessed = known ?? guess(slug, vendors);
  if (guessed !== undefined) {
    const found = guessed === "azure" && isDated ? "azure-dated" : guessed;
    const isOther =
      host?.text !== undefined && found === "openai" && vendorAt(host.text, vendors)?.name !== "openai";
    if (isOther) provider?.changed("the address says which host it is", "providers");
    if (known !== undefined && provider) provider.taken(`providers.${found}`);
    else for (const named of [provider, virtual]) named?.changed(KEPT(found, vendors), `providers.${found}`);
    virtual?.changed(KEPT(found, vendors), `providers.${found}.apiKey`);
    return isOther ? (vendorAt(host.text ?? "", vendors)?.name ?? hostName(host.text ?? "")) : found;
  }
  if (host?.text === undefined) {
    node.dropped(
      slug === "" ? "the target names no provider" : `weir has no provider ${slug}`,
      "add it to providers with speaks and baseUrl",
    );
    return undefined;
  }
  provider?.changed("the address says which host it is", "providers");
  return hostName(host.text);
}

const KEPT = (provider: string, vendors: Reading["vendors"]) =>
  `the credential is in Portkey's vault: set ${keyVariable(vendors.get(provider) ?? { name: provider })}`;

/** The provider in a name that the operator has chosen, such as `openai-prod-258f4d`. */
function guess(slug: string, vendors: Reading["vendors"]): string | undefined {
  const names = [...Object.keys(NAMES), ...vendors.keys()].toSorted((a, b) => b.length - a.length);
  const found = names.find(
    (name) => slug === name || slug.startsWith(`${name}-`) || slug.startsWith(`${name}_`),
  );
  return found === undefined ? undefined : (NAMES[found] ?? found);
}

/** Members that are values of weir, by provider: where each goes. */
const VARIABLES: readonly (readonly [member: string, variable: string])[] = [
  ["aws_region", "region"],
  ["vertex_project_id", "project"],
  ["vertex_region", "location"],
  ["azure_api_version", "apiVersion"],
];
const SECRETS: readonly (readonly [member: string, name: string])[] = [
  ["aws_access_key_id", "AWS_ACCESS_KEY_ID"],
  ["aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"],
  ["aws_session_token", "AWS_SESSION_TOKEN"],
];
const HEADERS: readonly (readonly [member: string, header: string])[] = [
  ["openai_organization", "OpenAI-Organization"],
  ["openai_project", "OpenAI-Project"],
];

function settingsOf(reading: Reading, node: SourceNode, provider: string): ConnectionSettings {
  const { environment, vendors } = reading;
  const to = `providers.${provider}`;
  const collect = (rows: typeof VARIABLES, group: string, read: (node: SourceNode, name: string) => string) =>
    Object.fromEntries(
      rows.flatMap(([name, into]) => {
        const found = memberOf(node, name);
        if (found?.text === undefined) return [];
        found.taken(`${to}.${group}.${into}`);
        return [[into, read(found, into)]];
      }),
    );
  memberOf(node, "vertex_service_account_json")?.dropped(
    "weir reads the key of a service account from a file",
    "save it, and set variables.keyFile to its path",
  );
  const key = memberOf(node, "api_key");
  const isVault =
    key === undefined && (memberOf(node, "virtual_key") ?? memberOf(node, "provider")?.text?.startsWith("@"));
  const variable = keyVariable(vendors.get(provider) ?? { name: provider });
  return {
    ...(!vendors.has(provider) && { speaks: "chat-completions" }),
    baseUrl: addressOf(reading, node, provider),
    apiKey: isVault ? environment.variable(variable) : reading.apiKey(key, provider),
    variables: collect(VARIABLES, "variables", ({ text = "" }) => environment.text(text)),
    secrets: collect(SECRETS, "secrets", (found, name) => environment.secret(found, name)),
    headers: collect(HEADERS, "headers", ({ text = "" }) => environment.text(text)),
  };
}

function addressOf(
  { environment, vendors }: Reading,
  node: SourceNode,
  provider: string,
): string | undefined {
  const host = memberOf(node, "custom_host");
  const resource = memberOf(node, "azure_resource_name") ?? memberOf(node, "resource_name");
  const to = `providers.${provider}.baseUrl`;
  if (host?.text) {
    const vendor = vendors.get(provider);
    host.taken(to);
    if (vendor && isVendorAddress(host.text, vendor)) return undefined;
    const plain = environment.text(host.text, "url").replace(/\/+$/, "");
    return provider === "ollama" ? `${plain.replace(/\/v1$/, "")}/v1` : plain;
  }
  if (!resource?.text) return undefined;
  resource.taken(to);
  const path = provider === "azure-dated" ? "/openai" : "/openai/v1";
  return `https://${resource.text}.openai.azure.com${path}`;
}

function hintOf(node: SourceNode): string {
  const named = node.member("name") ?? memberOf(node, "virtual_key") ?? memberOf(node, "azure_resource_name");
  const region = memberOf(node, "aws_region") ?? memberOf(node, "vertex_region");
  return shortName(named?.text ?? region?.text ?? `target-${Number(node.path.at(-1) ?? 0) + 1}`, "target");
}
