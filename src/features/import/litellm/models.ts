/** `model_list`: each entry is a deployment of a name that clients ask for. */
import { modelName } from "../draft.ts";
import { readAccessGroups } from "./access-groups.ts";
import type { Reading } from "../reader.ts";
import type { SourceNode } from "../source.ts";
import type { Member } from "./clouds.ts";
import { connectionOf } from "./connection.ts";
import { readRequestSettings } from "./request-settings.ts";
import { readPrice } from "./prices.ts";
import { splitModel, upstreamModel } from "./vendors.ts";

/** Credentials of `credential_list` by name. */
export type Credentials = ReadonlyMap<string, SourceNode>;

export interface ModelSettings {
  credentials: Credentials;
  /** Whether LiteLLM refuses calls beyond `rpm` and `tpm` of a deployment. */
  enforcesRates: boolean;
}

export function readModels(reading: Reading, list: SourceNode | undefined, settings: ModelSettings): void {
  const entries = list?.items ?? [];
  const shared = Map.groupBy(entries, (entry) => entry.member("model_name")?.text);
  for (const entry of entries) {
    const others = shared.get(entry.member("model_name")?.text)?.length ?? 1;
    readEntry(reading, entry, settings, others > 1);
  }
}

function readEntry(reading: Reading, entry: SourceNode, settings: ModelSettings, isShared: boolean): void {
  const name = entry.member("model_name");
  const params = entry.member("litellm_params");
  const model = params?.member("model");
  if (name?.text === undefined || params === undefined || model?.text === undefined) {
    entry.dropped("the entry has no model_name or no litellm_params.model");
    return;
  }
  if (model.text === "*" && name.text === "*") {
    const why = "weir serves the models of every provider whose key is in the environment";
    name.changed(why);
    model.changed(why);
    return;
  }
  const member = memberOf(params, settings.credentials);
  const split = splitModel(model.text, member("custom_llm_provider")?.text);
  const unserved = unservedMode(entry.member("model_info"), model.text);
  if (unserved !== undefined || split?.model === "") {
    entry.dropped(unserved ?? "the entry names no model", unserved && "ask the host apart from weir");
    return;
  }
  const found = split && connectionOf(reading, split, member, name.text);
  if (!split || !found) {
    if (reading.root.member("model_list")?.items.some((one) => one.member("model_name")?.text === "*"))
      reading.remarks.push(
        `${name.text} is left out, and the entry * answers for the name: remove one of them`,
      );
    entry.dropped(
      `weir has no provider for ${JSON.stringify(model.text)}`,
      "if the host speaks a format that weir knows, add it to providers with speaks and baseUrl",
    );
    return;
  }
  const { connection, asked } = found;
  const connected = reading.connect(connection, entry);
  const address = params.member("api_base") ?? params.member("base_url");
  const from = [model, address].flatMap((node) => node?.where ?? []);
  if (name.text.includes("*") || split.model.includes("*")) {
    const isServed = readWildcard(reading, name, model, { connection: connected, model: split.model });
    const sample = { name: name.text.replaceAll("*", "some-model"), model: "some-model", from };
    if (isServed) readAccessGroups(reading, entry, name.text);
    if (asked && isServed && split.model === "*")
      reading.draft.expected.push({ ...sample, connection: connected, asked });
    explainRest(entry, params);
    return;
  }
  const upstream = upstreamModel(connection.provider, split.model);
  const served = modelName(name.text);
  const { weight, isUnused } = weightOf(params, isShared, settings.enforcesRates);
  if (isUnused) {
    entry.dropped("its weight is 0, so it gets no calls");
    return;
  }
  const order = params.member("order");
  order?.taken("routes");
  const use = { connection: connected, model: upstream, weight, priority: order?.number ?? 0 };
  reading.draft.serve(served, use, entry);
  readAccessGroups(reading, entry, served);
  const kind = kindOf(entry.member("model_info"), model.text);
  const embeds = isEmbedding(entry.member("model_info"), model.text);
  const answers = !embeds && kind === undefined;
  if (answers) readRequestSettings(reading.draft, served, params, isShared);
  if (kind !== undefined)
    reading.draft.expected.push({ name: served, connection: connected, model: upstream, does: kind, from });
  if (asked && answers)
    reading.draft.expected.push({ name: served, connection: connected, model: upstream, asked, from });
  if (served === name.text) name.taken("aliases, routes");
  else name.changed(`a name of weir has no spaces: ${served}`, "aliases, routes");
  if (model.text.startsWith("text-completion-openai/"))
    model.changed("weir asks for chat completions instead of text completions", "aliases, routes");
  else if (split.isResponses) model.changed("weir asks in the format of the client", "aliases, routes");
  else model.taken("aliases, routes");
  const rate = rateOf(params, settings.enforcesRates);
  if (rate) reading.draft.rates.push({ connection: connected, model: upstream, rate });
  const to = `prices["${connection.provider}/${upstream}"]`;
  const price = readPrice(entry.member("model_info"), params, to, !answers);
  if (price) reading.draft.prices.push({ connection: connected, model: upstream, price });
  explainRest(entry, params);
}

function explainRest(entry: SourceNode, params: SourceNode): void {
  readInfo(entry.member("model_info"));
  for (const node of params.members) explainParameter(node);
}

/** `mode` of `model_info`, and the names of models that LiteLLM knows to do something else than to generate text. */
const UNSERVED_MODES: readonly (readonly [mode: RegExp, model: RegExp, what: string])[] = [
  [
    /^image_/,
    /(^|\/)(dall-e|gpt-image|chatgpt-image|imagen-|stable-diffusion|sdxl|flux[.-])/i,
    "makes no images",
  ],
  [/^video_/, /(^|\/)(sora-|veo-)/i, "makes no videos"],
  [/^(realtime|ocr|search|batch|vector_store)$/, /(^|\/)[\w.-]*-realtime(-|$)/i, "serves no such operation"],
];

/** Why weir does not serve a model of such a kind; undefined for all others. */
function unservedMode(info: SourceNode | undefined, model: string): string | undefined {
  const mode = info?.member("mode")?.text;
  const found = UNSERVED_MODES.find(([modes, models]) =>
    mode === undefined ? models.test(model) : modes.test(mode),
  );
  return found && `weir ${found[2]}`;
}

/** What weir has an own kind of models for, by `mode` of `model_info` or by the name of the model. */
const KINDS: readonly (readonly [kind: string, mode: string, model: RegExp])[] = [
  ["rerank", "rerank", /rerank/i],
  ["moderation", "moderation", /moderation/i],
  ["transcription", "audio_transcription", /(^|\/)(whisper|[\w.-]*-transcribe)/i],
  ["speech", "audio_speech", /(^|\/)(tts-|kokoro|[\w.-]*-tts(-|$))/i],
];

function kindOf(info: SourceNode | undefined, model: string): string | undefined {
  const mode = info?.member("mode")?.text;
  return KINDS.find(([, own, models]) => (mode === undefined ? models.test(model) : mode === own))?.[0];
}

function isEmbedding(info: SourceNode | undefined, model: string): boolean {
  const mode = info?.member("mode")?.text;
  return mode === undefined ? /embed|(^|\/)(voyage-|bge-|e5-)/i.test(model) : mode === "embedding";
}

/** Members of the entry itself precede those of the credential that it names. */
function memberOf(params: SourceNode, credentials: Credentials): Member {
  const name = params.member("litellm_credential_name");
  const credential = name && credentials.get(name.text ?? "");
  if (name && credential) name.taken("providers");
  else name?.dropped("no credential of this name is in credential_list", "set the credential in providers");
  return (member) => params.member(member) ?? credential?.member(member);
}

/**
 * A name such as `openai/*`: a pattern over the names that the provider serves.
 * @returns whether weir serves it
 */
function readWildcard(
  { draft }: Reading,
  name: SourceNode,
  model: SourceNode,
  {
    connection,
    model: upstream,
  }: { connection: Parameters<typeof draft.patterns.push>[0]["connection"]; model: string },
): boolean {
  const text = name.text ?? "";
  const isPrefix = text.endsWith("/*") && text.indexOf("*") === text.length - 1;
  draft.open.add(connection);
  const keepsName = text === upstream || (text === "*" && upstream === "*");
  if (!(isPrefix && upstream === "*") && !keepsName) {
    const why = "weir cannot put what a pattern stands for into another name";
    name.dropped(why, "list the models, each as an alias");
    model.dropped(why);
    return false;
  }
  draft.patterns.push({ connection, pattern: text });
  name.taken(`providers.${connection.provider}.models`);
  model.taken(`providers.${connection.provider}.models`);
  return true;
}

/** https://docs.litellm.ai/docs/routing: `weight`, else `rpm`, else `tpm` is the share of a deployment. */
function weightOf(
  params: SourceNode,
  isShared: boolean,
  enforcesRates: boolean,
): { weight?: number; isUnused?: boolean } {
  const weight = params.member("weight");
  const rpm = params.member("rpm");
  const tpm = params.member("tpm");
  const chosen = [weight, rpm, tpm].find((node) => node?.number !== undefined);
  if (weight?.number === 0) return { isUnused: true };
  weight?.taken("routes, providers");
  if (isShared && !enforcesRates)
    chosen?.changed("LiteLLM shares calls by it, and so does weir; it is no limit", "routes, providers");
  if (!enforcesRates)
    for (const node of [rpm, tpm])
      node?.dropped("LiteLLM uses it only to share calls", "to limit the calls, add an entry to rates");
  return isShared && chosen?.number ? { weight: chosen.number } : {};
}

function rateOf(params: SourceNode, enforcesRates: boolean): Record<string, number> | undefined {
  if (!enforcesRates) return undefined;
  const found = ["rpm", "tpm"].flatMap((name) => {
    const node = params.member(name);
    if (node?.number === undefined) return [];
    node.taken(`rates`);
    return [[name, Math.max(1, Math.round(node.number))] as const];
  });
  return found.length > 0 ? (Object.fromEntries(found) as Record<string, number>) : undefined;
}

/** Fields that LiteLLM adds to the requests of a deployment. */
const REQUEST_FIELD =
  /^(temperature|top_p|top_k|n|seed|stop|user|max_tokens|max_completion_tokens|presence_penalty|frequency_penalty|logit_bias|logprobs|response_format|tools?|tool_choice|stream|reasoning_effort|thinking|extra_body|metadata|input_type|dimensions|merge_reasoning_content_in_choices|cache_control_injection_points|additional_drop_params|allowed_openai_params|drop_params|service_tier|verbosity|web_search_options)$/;

const PARAMETERS: Readonly<Record<string, readonly [why: string, instead?: string]>> = {
  tags: ["weir does not choose deployments by tags", "give each tag a route of its own"],
  max_budget: ["the import does not read budgets of deployments", "budgets with on: {model: PROVIDER/MODEL}"],
  budget_duration: ["the import does not read budgets of deployments", "budgets"],
  mock_response: ["weir has the provider mock", "mock/chat"],
  use_in_pass_through: ["weir serves the operations of its formats only"],
  region_name: ["weir does not choose deployments by region"],
  ssl_verify: ["weir always verifies certificates", "tls.ca of the provider names further authorities"],
  configurable_clientside_auth_params: ["weir sends its own credentials only"],
  input_cost_per_second: ["weir has prices for tokens, searches and requests", "prices"],
};

function explainParameter(node: SourceNode): void {
  const [why, instead] = PARAMETERS[node.name] ?? [];
  if (why !== undefined) node.dropped(why, instead);
  else if (REQUEST_FIELD.test(node.name))
    node.dropped("weir sends what the client sends", "models.NAME.body can add fields");
}

/** LiteLLM's facts about a model besides its prices. */
function readInfo(info: SourceNode | undefined): void {
  info?.member("mode")?.ignored("weir sees in the request what a client wants of a model");
  info?.member("id")?.dropped("weir names deployments in its own way");
  info
    ?.member("base_model")
    ?.dropped(
      "weir finds prices by the name of the deployment",
      "if weir prices missing lists it, add its prices",
    );
  for (const name of ["max_tokens", "max_input_tokens", "max_output_tokens"])
    info?.member(name)?.dropped("weir takes the limits of models from its own snapshot");
  for (const node of info?.members ?? [])
    if (/^supports_|^litellm_provider$/.test(node.name))
      node.dropped("weir takes the abilities of models from its own snapshot");
}
