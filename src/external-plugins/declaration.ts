/**
 * Checks what an external plugin declares, member by member. weir refuses unknown members when it loads the file, and suggests
 * the name that was probably meant: an ignored member would be a guard that never runs or a limit that never applies. The
 * tables are keyed by the types: when a type gains a member, the table does not compile until it has an entry for it.
 */
import type { RateHeaders } from "../core/limit-figures.ts";
import type { DefaultEndpoint } from "../core/default-endpoint.ts";
import type { EmbedClient } from "../core/embed-dialect.ts";
import type { DocumentedError } from "../core/error.ts";
import type {
  ClientCodec,
  ClientSchemas,
  CompactionCodec,
  CountOperation,
  SummaryCodec,
  Format,
  StreamObserver,
  UpstreamCodec,
  UsageRequest,
  SettingMember,
  SettingMembers,
} from "../core/format.ts";
import type { SizeMembers } from "../core/size-members.ts";
import type { LocalOperation } from "../core/local-operation.ts";
import type { ModelListing } from "../core/model-listing.ts";
import type { UrlAddress } from "../core/url-address.ts";
import type { StoredCodec } from "../core/stored-codec.ts";
import { isObject } from "../core/json.ts";
import type { Hooks, Plugin, PluginSection } from "../core/plugin.ts";
import { embeds, FRAMING, PROVIDER } from "./provider-tables.ts";
import type { Table } from "./rules.ts";
import {
  must,
  required,
  isText,
  text,
  number,
  flag,
  callable,
  texts,
  path,
  paths,
  auth,
  group,
  listOf,
  memberFault,
} from "./rules.ts";

const HOOKS: Table<Hooks> = {
  admit: callable,
  intercept: callable,
  request: callable,
  answer: callable,
  observe: callable,
  done: callable,
};

const WATCH: Table<StreamObserver> = {
  marks: required(texts),
  deltas: texts,
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
  isOwnId: callable,
  paths: required(must("an object", isObject)),
  ignoredParameters: texts,
  ask: required(callable),
  expand: required(callable),
  detached: required(callable),
  inputItems: required(callable),
  split: required(callable),
  join: required(callable),
  withStored: required(callable),
  itemIds: required(callable),
  follow: required(callable),
  listItems: required(callable),
  deleted: required(callable),
  unknownAnswer: required(callable),
  unknownPrevious: required(callable),
  unknownItem: required(callable),
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
  itemMark: required(text),
  hasForeignItem: required(callable),
  trigger: group("the codec's", SUMMARY),
  route: group("the codec's", SUMMARY),
  schemas: group("the compaction's", { request: required(schema), answer: required(schema) }),
};

const EMBED: Table<EmbedClient> = {
  dialect: required(text),
  operation: required(text),
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
  modelPaths: required(texts),
  idOf: required(callable),
  list: required(callable),
  one: required(callable),
  schemas: group("the list's", { list: required(schema), one: required(schema) }),
};

const LOCAL: Table<LocalOperation> = {
  method: required(text),
  path: required(path),
  id: required(text),
  summary: required(text),
  open: flag,
  schemas: required(group("the operation's", { request: schema, answer: required(schema) })),
  of: must("`listed` or a function", (value) => value === "listed" || typeof value === "function"),
  answer: required(callable),
};

const SIZE: Table<SizeMembers> = {
  maxTokens: required(texts),
  within: texts,
  choices: text,
  tier: text,
  speed: text,
  tools: required(texts),
  serverToolTypes: required(texts),
  serverToolKeys: texts,
  serverMembers: texts,
  opaque: texts,
  media: must("an object", isObject),
};

const RATE_HEADERS: Table<RateHeaders> = {
  prefix: required(text),
  write: required(callable),
};

const SETTING = group<SettingMember>("the setting's", { at: required(texts), unless: texts });

const SETTINGS: Table<SettingMembers> = {
  temperature: SETTING,
  topP: SETTING,
  maxTokens: SETTING,
  reasoningEffort: SETTING,
};

const CLIENT: Table<ClientCodec> = {
  path: required(text),
  address: group("the address'", ADDRESS),
  models: group("the list's", LISTING),
  modelMembers: group("the model's", {
    of: required(callable),
    samples: must("an object", isObject),
    wants: callable,
    schema: required(schema),
  }),
  local: listOf<LocalOperation>("local operation", "id", LOCAL),
  greeting: must("an object", isObject),
  prefixes: texts,
  impliedEnding: text,
  streamsByDefault: flag,
  streamsLines: flag,
  anyMediaType: flag,
  idle: group("the idle requests'", { others: required(schema), answer: required(callable) }),
  losesCallIds: flag,
  stored: group("the stored answers'", STORED),
  compaction: group("the compaction's", COMPACTION),
  count: group("the count operation's", COUNT),
  embeds: listOf<EmbedClient>("embeddings", "operation", EMBED),
  clientHeaders: texts,
  clientMembers: texts,
  bases: texts,
  keyHeaders: texts,
  sessionOf: callable,
  promptSections: callable,
  rateHeaders: group("the rate headers'", RATE_HEADERS),
  size: group("the sizes'", SIZE),
  settings: group("the settings'", SETTINGS),
  schema: required(must("an object", isObject)),
  schemas: group("the client codec's", SCHEMAS),
  errors: listOf<DocumentedError>("error", "code", ERROR),
  checkRequest: required(callable),
  judgedByOutline: flag,
  decodeRequest: required(callable),
  leftOut: callable,
  writeStream: required(callable),
  writeAnswer: required(callable),
  reader: group("the reader's", { readStream: required(callable), readAnswer: required(callable) }),
  encodeError: required(callable),
  encodeStreamError: required(callable),
  errorEndsStream: flag,
  repeatsError: flag,
  heartbeat: required(text),
};

const USAGE_REQUEST: Table<UsageRequest> = {
  member: required(text),
  ask: required(callable),
  isAnswer: required(callable),
};

const ENDPOINT: Table<DefaultEndpoint> = {
  path: required(path),
  framing: group("the framing's", FRAMING),
  embeds,
  alone: group("the endpoint's", {
    path: required(path),
    models: required(text),
    auth: required(auth),
    namesIn: callable,
    entriesIn: callable,
  }),
};

const UPSTREAM: Table<UpstreamCodec> = {
  requestInUrl: flag,
  streamsAsList: flag,
  encodeRequest: required(callable),
  readStream: required(callable),
  readAnswer: required(callable),
  factsIn: callable,
  modelKind: callable,
  withoutSealed: callable,
  sealedMark: text,
  withoutReasoning: callable,
  mustTranslate: callable,
  fit: callable,
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
  providers: listOf("provider", "name", PROVIDER),
  formats: listOf<Format>("format", "id", FORMAT),
  hooks: group("its hook", HOOKS),
  section: group<PluginSection>("the section's", {
    schema: must("an object", isObject),
    configure: required(callable),
  }),
};

/** @returns the first fault of a file's default export, as a clause; undefined if there is none */
export function declarationFault(exported: unknown): string | undefined {
  if (!isObject(exported)) return "has no default export; write `export default definePlugin({ … })`";
  if (!isText(exported["name"]) || exported["name"] === "") return "its default export has no name";
  return memberFault(exported, PLUGIN, "its");
}

/** Hooks that only look on: calls are answered in the same way without them. */
const ONLOOKERS = new Set(["observe", "done"]);

/**
 * Whether a plugin may have hooks that decide about calls: refuse, answer or change them.
 * @param exported default export of its file; anything but a well-formed plugin may have had some
 */
export function mayDecide(exported: unknown): boolean {
  if (!isObject(exported)) return true;
  const { hooks, section } = exported;
  // The hooks that it has for its options are known only when it is configured.
  if (section !== undefined) return true;
  if (Object.keys(exported).some((name) => !Object.hasOwn(PLUGIN, name))) return true;
  return hooks !== undefined && (!isObject(hooks) || Object.keys(hooks).some((name) => !ONLOOKERS.has(name)));
}
