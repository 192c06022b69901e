/** Declarations of a provider, as tables keyed by its types. */
import type { CredentialSource } from "../core/credential.ts";
import type { EmbedEndpoint } from "../core/embed.ts";
import type { Variable } from "../core/endpoint.ts";
import type { Does, ModelDoes } from "../core/does.ts";
import type { Framing } from "../core/frame.ts";
import { isObject } from "../core/json.ts";
import type { KindEndpoint } from "../core/kind.ts";
import type { Envelope, ErrorHint, ModelTraits, Provider, TokenCounting, Traits } from "../core/provider.ts";
import type { MemberRule, Table } from "./rules.ts";
import {
  must,
  required,
  isText,
  text,
  number,
  flag,
  callable,
  texts,
  textMap,
  oneOf,
  patterns,
  variable,
  variables,
  credentialSets,
  paths,
  baseUrl,
  auth,
  group,
  listOf,
  mapOf,
} from "./rules.ts";

const TRAITS: Table<Traits> = {
  maxTokensField: oneOf("max_tokens", "max_completion_tokens"),
  systemPlacement: oneOf("anywhere", "first-only"),
  forcedToolChoice: flag,
  jsonSchema: oneOf("native", "openapi", "json-object", "prompt"),
  reasoningReplay: oneOf("required", "optional", "forbidden"),
  reasoningEffort: flag,
  streamOptions: flag,
  hidesReasoning: flag,
  parallelToolCalls: flag,
  imageInToolMessage: flag,
  completionPrompt: text,
  transcripts: texts,
  thinkTags: flag,
  images: flag,
  files: flag,
  documentUrl: oneOf("document_url", "file_data"),
  maxStop: number,
  tools: flag,
  namedToolChoice: flag,
  jsonMode: flag,
  developerRole: flag,
  streaming: flag,
  jsonUsage: flag,
  outputLimit: flag,
  n: flag,
  logprobs: flag,
  toolIds: oneOf("mistral"),
  topK: flag,
  eofIsStop: flag,
  userField: oneOf("user", "safety_identifier"),
  promptCacheKey: flag,
  strictTools: flag,
  topLevelCacheControl: flag,
  blockBinding: flag,
  storesAnswers: flag,
  compacts: flag,
  rotatingIds: flag,
  customTools: flag,
  countTokens: flag,
  callIds: oneOf("always", "echo"),
  fileUrls: flag,
  textBesideMedia: flag,
  serviceTiers: flag,
  safety: oneOf("default", "off"),
};

const ENVELOPE: Table<Envelope> = {
  without: texts,
  defaults: callable,
  with: callable,
  withoutHeaders: texts,
  leavesOut: texts,
};

const COUNTING: Table<TokenCounting> = {
  path: required(text),
  modelFor: callable,
  request: required(callable),
  read: required(callable),
};

const MODEL_TRAITS: Table<ModelTraits> = {
  models: required(patterns),
  traits: required(group("its trait", TRAITS)),
};

const VARIABLE: Table<Variable> = {
  env: variables,
  find: callable,
  default: text,
  optional: flag,
  describe: required(text),
};

const CREDENTIAL_SOURCE: Table<CredentialSource> = { find: required(callable), hint: text };

export const FRAMING: Table<Framing> = { contentType: required(text), reader: required(callable) };

const HINT: Table<ErrorHint> = {
  when: required(must("a regular expression", (value) => value instanceof RegExp)),
  say: required(text),
  forOperator: flag,
};

const BASE64: ReadonlySet<unknown> = new Set([true, false, "only", "int8"]);

const EMBEDS: Table<EmbedEndpoint> = {
  path: required(text),
  models: patterns,
  maxInputs: must("a number, or an object of numbers", isLimit),
  tokenIds: flag,
  base64: must('true, false, "only" or "int8"', (value) => BASE64.has(value)),
  members: must("an object", isObject),
  inputTypes: textMap,
};

function isLimit(value: unknown): boolean {
  return (isObject(value) ? Object.values(value) : [value]).every(Number.isInteger);
}

/** A path alone stands for an endpoint. */
export const embeds: MemberRule = (value, name) => {
  const whole = isObject(value)
    ? Object.entries(value).map(([id, endpoint]) => [id, isText(endpoint) ? { path: endpoint } : endpoint])
    : undefined;
  return mapOf("dialects", EMBEDS)(whole ? Object.fromEntries(whole) : value, name);
};

const KIND_ENDPOINT: Table<KindEndpoint> = { path: required(text), models: patterns };

/** A function, or the endpoints by dialect. */
const kindServed: MemberRule = (value, name) => {
  if (typeof value === "function") return undefined;
  const whole = isObject(value)
    ? Object.entries(value).map(([id, endpoint]) => [id, isText(endpoint) ? { path: endpoint } : endpoint])
    : undefined;
  return mapOf("dialects", KIND_ENDPOINT)(whole ? Object.fromEntries(whole) : value, name);
};

const DOES: Table<Does> = {
  completion: (value, name) => (value === true ? undefined : kindServed(value, name)),
  rerank: kindServed,
  moderation: kindServed,
  decision: kindServed,
  realtime: kindServed,
  image: kindServed,
  cache: kindServed,
  speech: kindServed,
  transcription: kindServed,
};

const MODEL_DOES: Table<ModelDoes> = { models: required(patterns), does: required(texts) };

export const PROVIDER: Table<Provider> = {
  name: required(text),
  models: patterns,
  speaks: paths,
  embeds,
  does: group("its does", DOES),
  modelDoes: listOf("its modelDoes", "models", MODEL_DOES),
  prefers: text,
  variables: mapOf("variables", VARIABLE),
  baseUrl,
  host: group("its host's", { variable: required(variable), port: required(number), path: required(text) }),
  hostPerCustomer: flag,
  addressFault: callable,
  apiKey: variable,
  credentials: credentialSets(group("its source's", CREDENTIAL_SOURCE)),
  auth,
  authorize: callable,
  framing: mapOf("formats", FRAMING),
  hints: listOf("hint", "say", HINT),
  headers: textMap,
  traits: group("its trait", TRAITS),
  modelTraits: listOf("its modelTraits", "models", MODEL_TRAITS),
  counting: mapOf("formats", COUNTING),
  requestIdHeader: text,
  modelFault: callable,
  envelope: mapOf("formats", ENVELOPE),
  patch: callable,
  generate: callable,
  embed: callable,
  liveModels: flag,
  catalog: patterns,
};
