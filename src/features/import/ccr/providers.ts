/** `Providers`: hosts with their models, and how requests to them are transformed. */
import {
  type SourceRequest,
  type SourceConnection,
  type ConnectionSettings,
  shortName,
  type Use,
} from "../draft.ts";
import { hostName, keySettings, placeOf } from "../hosts.ts";
import type { Reading } from "../reader.ts";
import type { SourceNode } from "../source.ts";

/** The model behind `PROVIDER,MODEL`; `undefined` for a provider that the file does not have. */
export type FindModel = (text: string) => Use | undefined;

export function readProviders(reading: Reading, list: SourceNode): FindModel {
  const connections = new Map<string, SourceConnection>();
  for (const entry of list.items) {
    const connection = readProvider(reading, entry);
    if (connection) connections.set(entry.member("name")?.text ?? "", connection);
  }
  return (text) => {
    // claude-code-router takes PROVIDER,MODEL, and PROVIDER/MODEL since its version 3.
    const end = text.includes(",") ? text.indexOf(",") : text.indexOf("/");
    const connection = connections.get(text.slice(0, Math.max(0, end)).trim());
    return connection && { connection, model: text.slice(end + 1).trim() };
  };
}

function readProvider(reading: Reading, entry: SourceNode): SourceConnection | undefined {
  const { vendors, environment, draft } = reading;
  const name = entry.member("name");
  const found = askedOf(reading, entry);
  if (name?.text === undefined || found === undefined) {
    entry.dropped("the provider has no name or no api_base_url");
    return undefined;
  }
  if (entry.member("enabled")?.value === false) {
    entry.dropped("the provider is off");
    return undefined;
  }
  const { asked, url } = found;
  const place = placeOf(asked, vendors);
  const isReference = environment.isReference(url.text!);
  const own = shortName(name.text, hostName(asked.url)).replace(/^(?=\d)/, "host-");
  const provider = place.isOwn ? own : place.provider;
  const to = `providers.${provider}`;
  const models = entry.member("models");
  const listed = modelsOf(models);
  const key = entry.member("api_key") ?? entry.member("apiKey") ?? entry.member("apikey");
  const apiKey = reading.apiKey(key, provider);
  const settings: ConnectionSettings = {
    ...place.settings,
    ...keySettings(vendors.get(provider) ?? { name: provider }, apiKey),
    ...(place.isOwn && { models: listed }),
  };
  const connection = reading.connect({ provider, hint: name.text, group: name.text, settings }, entry);
  draft.open.add(connection);
  for (const model of models?.items ?? [])
    if (!listed?.includes(model.text ?? "")) model.dropped("a name of weir has no spaces");
  if (place.isOwn) models?.taken(`${to}.models`);
  else models?.changed(`weir serves every model of ${provider}, as ${provider}/MODEL`, to);
  serveNames(reading, { connection, name, models: models?.items ?? [], asked, url });
  if (provider === name.text) name.taken(to);
  else name.changed(`the host is the provider ${provider} of weir`, to);
  const inFile = place.settings.baseUrl === undefined ? to : `${to}.baseUrl`;
  if (isReference) url.changed("the variable must hold the address without /chat/completions", inFile);
  else url.taken(inFile);
  readTransformers(transformersOf(entry));
  return connection;
}

/** The names of claude-code-router for a model: `PROVIDER,MODEL`, and `PROVIDER/MODEL`. */
function serveNames(
  { draft }: Reading,
  served: {
    connection: SourceConnection;
    name: SourceNode;
    models: readonly SourceNode[];
    asked: SourceRequest;
    url: SourceNode;
  },
): void {
  const { connection, name, models, asked, url } = served;
  const isName = NAME.test(name.text!);
  for (const node of models) {
    const model = node.text ?? "";
    if (!isName || !NAME.test(model)) continue;
    draft.serve(`${name.text},${model}`, { connection, model }, node);
    const from = [node.where, url.where];
    draft.expected.push({ name: `${name.text},${model}`, connection, model, asked, from });
  }
  if (isName) draft.patterns.push({ connection, pattern: `${name.text}/*` });
}

/** The request for a model, and the node with its address. Since version 3 a provider may have an address for each format. */
function askedOf(
  { environment }: Reading,
  entry: SourceNode,
): { asked: SourceRequest; url: SourceNode } | undefined {
  const able = (entry.member("capabilities")?.items ?? []).filter((one) => TYPES[typeOf(one) ?? ""]);
  const [chosen] = able;
  for (const other of able.slice(1))
    other.dropped("weir asks a host in one format", "speaks of the provider");
  const url =
    chosen?.member("baseUrl") ??
    entry.member("api_base_url") ??
    entry.member("baseUrl") ??
    entry.member("baseurl");
  if (url?.text === undefined || url.text === "") return undefined;
  for (const name of ["api_base_url", "baseUrl", "baseurl"]) {
    const unused = chosen && entry.member(name);
    if (unused?.text === url.text) unused?.ignored("the format has the same address");
    else unused?.changed("the address of the format holds", "providers");
  }
  for (const node of [chosen?.member("type"), entry.member("type")]) node?.taken("providers");
  const transformers = transformersOf(entry)?.member("use")?.items.map(nameOf) ?? [];
  const text = environment.isReference(url.text) ? environment.text(url.text, "url") : url.text;
  const plain = text.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  const adapted = transformers.flatMap((one) => ADAPTED[one.toLowerCase()] ?? [])[0];
  const format = TYPES[typeOf(chosen) ?? typeOf(entry) ?? ""] ?? adapted ?? formatAt(plain);
  return { asked: { format, url: `${plain.replace(ENDS[format]!, "")}${PATHS[format]}` }, url };
}

function typeOf(node: SourceNode | undefined): string | undefined {
  return (node?.member("type") ?? node?.member("protocol"))?.text?.toLowerCase();
}

/** Transformers of earlier versions that say the format of a host. */
const ADAPTED: Readonly<Record<string, string>> = { anthropic: "messages", gemini: "gemini" };

/** Types of version 3. */
const TYPES: Readonly<Record<string, string>> = {
  openai_chat: "chat-completions",
  openai_chat_completions: "chat-completions",
  openai: "responses",
  openai_responses: "responses",
  anthropic: "messages",
  anthropic_messages: "messages",
  gemini: "gemini",
  gemini_generate_content: "gemini",
};

function formatAt(url: string): string {
  const found = Object.entries(ENDS).find(([, end]) => end.test(url) && url.replace(end, "") !== url);
  return found?.[0] ?? "chat-completions";
}

/** End of the addresses of earlier versions, which have the whole URL. */
const ENDS: Readonly<Record<string, RegExp>> = {
  "chat-completions": /\/chat\/completions$/,
  responses: /\/responses$/,
  messages: /\/v1\/messages$|\/v1$/,
  gemini: /(\/v1beta)?\/models$|\/v1beta$/,
};
const PATHS: Readonly<Record<string, string>> = {
  "chat-completions": "/chat/completions",
  responses: "/responses",
  messages: "/v1/messages",
  gemini: "/v1beta/models/{model}:generateContent",
};

/** Names that an alias of weir may have. */
const NAME = /^[\w.:/@+-]{1,200}$/;

function transformersOf(entry: SourceNode): SourceNode | undefined {
  return entry.member("transformer") ?? entry.member("transformers");
}

function modelsOf(list: SourceNode | undefined): string[] | undefined {
  const models = (list?.items ?? []).flatMap(({ text }) => text ?? []).filter((text) => NAME.test(text));
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
