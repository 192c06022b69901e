/** A target of a Portkey config: a provider with a credential, and a model that replaces the client's. */
import { type SourceRequest, type SourceConnection, type ConnectionSettings, shortName } from "../draft.ts";
import { keySettings, keyVariable, ownRequest, type HostMatch, placeOf } from "../hosts.ts";
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
  connection: SourceConnection;
  /** The model that replaces the client's. */
  model?: string;
  /** The request of Portkey, and the leaves that say so. */
  asked?: SourceRequest;
  from?: string[];
}

export function readTarget(reading: Reading, node: SourceNode): ReadTarget | undefined {
  const found = placeIn(reading, node);
  if (found === undefined) return undefined;
  const { place, asked } = found;
  const { provider } = place;
  const connection = reading.connect(
    { provider, hint: hintOf(node), settings: settingsOf(reading, node, place) },
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
  const from = [memberOf(node, "custom_host"), memberOf(node, "provider"), chosen].flatMap(
    (one) => one?.where ?? [],
  );
  return { connection, ...(name !== undefined && { model: name }), ...(asked && { asked, from }) };
}

/** The provider of weir: by `provider`, by the name of a virtual key, or by the address. */
function placeIn(
  { vendors }: Reading,
  node: SourceNode,
): { place: HostMatch; asked?: SourceRequest } | undefined {
  const provider = memberOf(node, "provider");
  const virtual = memberOf(node, "virtual_key");
  const host = memberOf(node, "custom_host");
  const model = memberOf(node, "override_params")?.member("model")?.text ?? "";
  const given = provider?.text ?? virtual?.text ?? /^@[^/]+/.exec(model)?.[0] ?? "";
  const slug = given.replace(/^@/, "");
  const known = NAMES[slug] ?? (vendors.has(slug) ? slug : undefined);
  const isDated = memberOf(node, "azure_api_version") !== undefined;
  const guessed = known ?? guess(slug, vendors);
  const named = guessed === "azure" && isDated ? "azure-dated" : guessed;
  const isCloud = named !== undefined && vendors.get(named)?.authorize !== undefined;
  const asked = host?.text && !isCloud ? askedAt(host.text, named) : undefined;
  // OpenAI is what Portkey calls every host that speaks its format.
  const place = asked && placeOf(asked, vendors, named === "openai" ? undefined : named);
  const found = place ?? (named === undefined ? undefined : { provider: named, isOwn: false, settings: {} });
  if (!found) {
    const why = slug === "" ? "the target names no provider" : `weir has no provider ${slug}`;
    const isConfig = node.path.length === 0 || node.name === "config";
    // A config without a provider has settings alone.
    if (slug !== "" || !isConfig) node.dropped(why, "add it to providers with speaks and baseUrl");
    return undefined;
  }
  if (place && place.provider !== named) provider?.changed("the address says which host it is", "providers");
  if (known !== undefined) provider?.taken(`providers.${found.provider}`);
  for (const one of [provider, virtual])
    one?.changed(
      KEPT(found.provider, vendors),
      `providers.${found.provider}${one === virtual ? ".apiKey" : ""}`,
    );
  const request = asked ?? ownRequest(vendors.get(found.provider));
  return { place: found, ...(request && { asked: request }) };
}

/** The path that Portkey adds to `custom_host`. */
function askedAt(host: string, provider: string | undefined): SourceRequest {
  const url = host.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  if (provider === "anthropic") return { format: "messages", url: `${url}/messages` };
  if (provider === "gemini") return { format: "gemini", url: `${url}/v1beta/models/{model}:generateContent` };
  const version = provider === "ollama" && !url.endsWith("/v1") ? "/v1" : "";
  return { format: "chat-completions", url: `${url}${version}/chat/completions` };
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

function settingsOf(reading: Reading, node: SourceNode, place: HostMatch): ConnectionSettings {
  const { environment, vendors } = reading;
  const { provider } = place;
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
  const { secrets, ...named } = keySettings(
    vendors.get(provider) ?? { name: provider },
    isVault ? environment.variable(variable) : reading.apiKey(key, provider),
  );
  return {
    baseUrl: addressOf(reading, node, provider),
    ...place.settings,
    ...named,
    variables: {
      ...place.settings.variables,
      ...collect(VARIABLES, "variables", ({ text = "" }) => environment.text(text)),
    },
    secrets: { ...secrets, ...collect(SECRETS, "secrets", (found, name) => environment.secret(found, name)) },
    headers: collect(HEADERS, "headers", ({ text = "" }) => environment.text(text)),
  };
}

/** The address of a cloud's resource. That of another host is in its place. */
function addressOf(
  { environment, vendors }: Reading,
  node: SourceNode,
  provider: string,
): string | undefined {
  const host = memberOf(node, "custom_host");
  const resource = memberOf(node, "azure_resource_name") ?? memberOf(node, "resource_name");
  const to = `providers.${provider}.baseUrl`;
  host?.taken(to);
  if (host?.text && vendors.get(provider)?.authorize)
    return environment.text(host.text, "url").replace(/\/+$/, "");
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
