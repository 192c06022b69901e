/**
 * Checks what an external plugin declares, member by member. weir refuses unknown members when it loads the file, and suggests
 * the name that was probably meant: an ignored member would be a guard that never runs or a limit that never applies.
 *
 * The tables are keyed by the types: when a type gains a member, the table does not compile until it has an entry for it.
 */
import type { CredentialSource } from "../core/credential.ts";
import type { EmbedClient } from "../core/embed-dialect.ts";
import type { EmbedEndpoint } from "../core/embed.ts";
import type { Variable } from "../core/endpoint.ts";
import type { DocumentedError } from "../core/error.ts";
import type {
  ClientCodec,
  ClientSchemas,
  CompactionCodec,
  CountOperation,
  SummaryCodec,
  DefaultEndpoint,
  Format,
  StreamObserver,
  UpstreamCodec,
  UsageRequest,
} from "../core/format.ts";
import type { ModelListing } from "../core/model-listing.ts";
import type { UrlAddress } from "../core/url-address.ts";
import type { StoredCodec } from "../core/stored-codec.ts";
import type { Framing } from "../core/frame.ts";
import { isObject } from "../core/json.ts";
import type { Hooks, Plugin } from "../core/plugin.ts";
import type { Envelope, ErrorHint, ModelTraits, Provider, TokenCounting, Traits } from "../core/provider.ts";
import type { Rule, Table } from "./rules.ts";
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
  memberFault,
  mapOf,
} from "./rules.ts";

const HOOKS: Table<Hooks> = {
  admit: callable,
  intercept: callable,
  request: callable,
  answer: callable,
  observe: callable,
  done: callable,
};

const TRAITS: Table<Traits> = {
  maxTokensField: oneOf("max_tokens", "max_completion_tokens"),
  systemPlacement: oneOf("anywhere", "first-only"),
  forcedToolChoice: flag,
  jsonSchema: oneOf("native", "openapi", "json-object", "prompt"),
  reasoningReplay: oneOf("required", "optional", "forbidden"),
  reasoningEffort: flag,
  streamOptions: flag,
  parallelToolCalls: flag,
  imageInToolMessage: flag,
  thinkTags: flag,
  images: flag,
  files: flag,
  documentUrl: oneOf("document_url", "file_data"),
  maxStop: number,
  toolIds: oneOf("mistral"),
  topK: flag,
  eofIsStop: flag,
  userField: oneOf("user", "safety_identifier"),
  promptCacheKey: flag,
  strictTools: flag,
  topLevelCacheControl: flag,
  blockBinding: flag,
  storesAnswers: flag,
  rotatingIds: flag,
  customTools: flag,
  countTokens: flag,
  callIds: oneOf("always", "echo"),
  fileUrls: flag,
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

const FRAMING: Table<Framing> = { contentType: required(text), reader: required(callable) };

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
const embeds: Rule = (value, name) => {
  const whole = isObject(value)
    ? Object.entries(value).map(([id, endpoint]) => [id, isText(endpoint) ? { path: endpoint } : endpoint])
    : undefined;
  return mapOf("dialects", EMBEDS)(whole ? Object.fromEntries(whole) : value, name);
};

const PROVIDER: Table<Provider> = {
  name: required(text),
  models: patterns,
  speaks: paths,
  embeds,
  prefers: text,
  variables: mapOf("variables", VARIABLE),
  baseUrl,
  host: group("its host's", { variable: required(variable), port: required(number), path: required(text) }),
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

const WATCH: Table<StreamObserver> = {
  marks: required(texts),
  terminator: text,
  choicesMember: text,
  frame: required(callable),
  answer: required(callable),
  judgedByOutline: flag,
};

const schema = must("a JSON schema", isObject);

const SCHEMAS: Table<ClientSchemas> = {
  answer: required(schema),
  event: required(schema),
  terminator: text,
  error: required(schema),
};

const ERROR: Table<DocumentedError> = {
  kind: required(text),
  code: text,
  when: required(text),
  status: number,
};

const COUNT: Table<CountOperation> = {
  path: required(text),
  implied: required(must("an object", isObject)),
  requestOf: callable,
  member: required(text),
  constant: must("an object", isObject),
  schemas: group("the count operation's", { request: required(schema), answer: required(schema) }),
};

const STORED: Table<StoredCodec> = {
  members: required(must("an object", isObject)),
  referenceMark: required(text),
  paths: required(must("an object", isObject)),
  ask: required(callable),
  expand: required(callable),
  detached: required(callable),
  inputItems: required(callable),
  split: required(callable),
  join: required(callable),
  withStored: required(callable),
  follow: required(callable),
  listItems: required(callable),
  deleted: required(callable),
  unknownAnswer: required(callable),
  unknownPrevious: required(callable),
};

const SUMMARY: Table<SummaryCodec> = {
  decodeRequest: required(callable),
  writeStream: required(callable),
  writeAnswer: required(callable),
};

const COMPACTION: Table<CompactionCodec> = {
  path: required(text),
  below: required(text),
  mark: required(text),
  asks: required(callable),
  trigger: group("the codec's", SUMMARY),
  route: group("the codec's", SUMMARY),
  schemas: group("the compaction's", { request: required(schema), answer: required(schema) }),
};

const EMBED: Table<EmbedClient> = {
  dialect: required(text),
  path: required(text),
  schemas: required(group("the embeddings'", { request: required(schema), answer: required(schema) })),
  checkRequest: required(callable),
  decodeRequest: required(callable),
  writeAnswer: required(callable),
};

const ADDRESS: Table<UrlAddress> = {
  bases: required(texts),
  stream: required(text),
  prefixes: required(texts),
  modelOf: required(callable),
  wantsEvents: required(callable),
  keyParameter: required(text),
};

const LISTING: Table<ModelListing> = {
  paths: required(texts),
  list: required(callable),
  one: required(callable),
  schemas: group("the list's", { list: required(schema), one: required(schema) }),
};

const CLIENT: Table<ClientCodec> = {
  path: required(text),
  address: group("the address'", ADDRESS),
  models: group("the list's", LISTING),
  stored: group("the stored answers'", STORED),
  compaction: group("the compaction's", COMPACTION),
  count: group("the count operation's", COUNT),
  embed: group("the embeddings'", EMBED),
  clientHeaders: texts,
  clientMembers: texts,
  bases: texts,
  keyHeaders: texts,
  sessionOf: callable,
  schema: required(must("an object", isObject)),
  schemas: group("the client codec's", SCHEMAS),
  errors: listOf<DocumentedError>("error", "code", ERROR),
  checkRequest: required(callable),
  judgedByOutline: flag,
  decodeRequest: required(callable),
  writeStream: required(callable),
  writeAnswer: required(callable),
  encodeError: required(callable),
  encodeStreamError: required(callable),
  errorEndsStream: flag,
  heartbeat: required(text),
};

const USAGE_REQUEST: Table<UsageRequest> = {
  member: required(text),
  ask: required(callable),
  isAnswer: required(callable),
};

const ENDPOINT: Table<DefaultEndpoint> = {
  path: required(text),
  embeds,
  alone: group("the endpoint's", { path: required(text), models: required(text), auth: required(text) }),
};

const UPSTREAM: Table<UpstreamCodec> = {
  requestInUrl: flag,
  encodeRequest: required(callable),
  readStream: required(callable),
  readAnswer: required(callable),
  withoutSealed: callable,
  sealedMark: text,
  withoutReasoning: callable,
  mustTranslate: callable,
  decodeError: required(callable),
  isErrorBody: callable,
  watch: required(group("the watch's", WATCH)),
  renamedMembers: callable,
  countPath: text,
  endpoint: group("the endpoint's", ENDPOINT),
  usageRequest: group("the usage request's", USAGE_REQUEST),
  requestHeaders: required(texts),
  answerHeaders: required(texts),
};

const FORMAT: Table<Format> = {
  id: required(text),
  client: group("the client codec's", CLIENT),
  upstream: group("the upstream codec's", UPSTREAM),
};

const PLUGIN: Table<Plugin> = {
  name: must("a text", isText),
  providers: listOf<Provider>("provider", "name", PROVIDER),
  formats: listOf<Format>("format", "id", FORMAT),
  hooks: group("its hook", HOOKS),
};

/** @returns the first fault of a file's default export, as a clause; undefined if there is none */
export function declarationFault(exported: unknown): string | undefined {
  if (!isObject(exported)) return "has no default export; write `export default definePlugin({ … })`";
  if (!isText(exported["name"]) || exported["name"] === "") return "its default export has no name";
  return memberFault(exported, PLUGIN, "its");
}
