/** `Providers`: hosts with their models, and how requests to them are transformed. */
import { type Connection, type ConnectionSettings, shortName, type Use } from "../draft.ts";
import { hostName, isVendorAddress, vendorAt } from "../hosts.ts";
import type { Reading } from "../reader.ts";
import type { SourceNode } from "../source.ts";

/** The model behind `PROVIDER,MODEL`; `undefined` for a provider that the file does not have. */
export type Found = (text: string) => Use | undefined;

export function readProviders(reading: Reading, list: SourceNode): Found {
  const connections = new Map<string, Connection>();
  for (const entry of list.items) {
    const connection = readProvider(reading, entry);
    if (connection) connections.set(entry.member("name")?.text ?? "", connection);
  }
  return (text) => {
    const comma = text.indexOf(",");
    const connection = connections.get(text.slice(0, comma));
    return connection && comma > 0 ? { connection, model: text.slice(comma + 1) } : undefined;
  };
}

function readProvider(reading: Reading, entry: SourceNode): Connection | undefined {
  const { vendors, environment, draft } = reading;
  const name = entry.member("name");
  const url = entry.member("api_base_url") ?? entry.member("baseUrl");
  if (name?.text === undefined || url?.text === undefined) {
    entry.dropped("the provider has no name or no api_base_url");
    return undefined;
  }
  const transformers = transformersOf(entry)?.member("use")?.items.map(nameOf) ?? [];
  const found = vendorAt(url.text, vendors);
  const vendor = found?.provider;
  const isMessages = transformers.some((one) => one.toLowerCase() === "anthropic");
  const own = shortName(name.text, hostName(url.text)).replace(/^(?=\d)/, "host-");
  const provider = vendor?.name ?? own;
  const to = `providers.${provider}`;
  const isReference = environment.isReference(url.text);
  const base = baseOf(isReference ? environment.text(url.text, "url") : url.text);
  const isVendors = vendor !== undefined && isVendorAddress(base, vendor, found?.variables);
  const models = entry.member("models");
  const settings: ConnectionSettings = {
    ...(vendor === undefined && { speaks: isMessages ? "messages" : "chat-completions" }),
    ...(!isVendors && { baseUrl: base }),
    ...(found?.variables && { variables: found.variables }),
    apiKey: reading.apiKey(entry.member("api_key") ?? entry.member("apiKey"), provider),
    ...(vendor === undefined && { models: modelsOf(models) }),
  };
  const connection = reading.connect({ provider, hint: name.text, settings }, entry);
  draft.open.add(connection);
  if (vendor === undefined)
    for (const model of models?.items ?? [])
      if (settings.models?.includes(model.text ?? "")) model.taken(`${to}.models`);
      else model.dropped("a name of weir has no spaces", `clients can ask for ${provider}/MODEL`);
  else models?.changed(`weir serves every model of ${provider}, as ${provider}/MODEL`, to);
  if (provider === name.text) name.taken(to);
  else name.changed(`the host is the provider ${provider} of weir: clients ask for ${provider}/MODEL`, to);
  if (isReference)
    url.changed("the variable must hold the address without /chat/completions", `${to}.baseUrl`);
  else url.taken(isVendors ? to : `${to}.baseUrl`);
  readTransformers(transformersOf(entry));
  return connection;
}

function transformersOf(entry: SourceNode): SourceNode | undefined {
  return entry.member("transformer") ?? entry.member("transformers");
}

/** claude-code-router has the whole URL, weir what comes before the path of the format. */
function baseOf(url: string): string {
  return url
    .replace(/[?#].*$/s, "")
    .replace(/\/+$/, "")
    .replace(/\/(chat\/completions|responses)$/, "")
    .replace(/\/v1\/messages$/, "")
    .replace(/\/v1(beta)?\/models$/, "");
}

function modelsOf(list: SourceNode | undefined): string[] | undefined {
  const models = (list?.items ?? [])
    .flatMap(({ text }) => text ?? [])
    .filter((text) => /^[\w.:/@+-]{1,200}$/.test(text));
  return models.length > 0 ? models : undefined;
}

function nameOf(node: SourceNode): string {
  return node.text ?? node.items[0]?.text ?? "";
}

/** Transformers that only make a host understand what Claude Code sends, which weir does itself. */
const ADAPTING = new Set([
  "anthropic",
  "openai",
  "deepseek",
  "gemini",
  "openrouter",
  "groq",
  "reasoning",
  "cerebras",
  "customparams",
  "vertex-gemini",
  "cleancache",
  "forcereasoning",
  "extrathinktag",
]);

const SPECIFIC: Readonly<Record<string, readonly [why: string, instead?: string]>> = {
  maxtoken: ["weir sends the limit of the client", "a plugin with a `request` hook can lower it"],
  maxcompletiontokens: [
    "weir knows which models take max_completion_tokens",
    "maxTokensField of the provider",
  ],
  tooluse: ["weir sends the tools of the client as they are", "a plugin with a `request` hook"],
  enhancetool: ["weir passes tool arguments as the model wrote them; an unreadable tool call is retried"],
  sampling: ["weir sends the sampling fields that the host takes, and reports the others"],
};

function readTransformers(node: SourceNode | undefined): void {
  const lists = node?.members.map((member) => (member.name === "use" ? member : member.member("use"))) ?? [];
  for (const item of lists.flatMap((list) => list?.items ?? [])) {
    const name = nameOf(item).toLowerCase();
    const [why, instead] = SPECIFIC[name] ?? [];
    if (why !== undefined) item.dropped(why, instead);
    else if (ADAPTING.has(name) && item.text !== undefined)
      item.changed("weir translates for the host itself");
    else if (ADAPTING.has(name)) item.dropped("weir translates for the host itself, without these options");
    else item.dropped("weir does not know the transformer", "a plugin with `request` and `answer` hooks");
  }
}
