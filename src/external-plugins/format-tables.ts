/** Rules for the formats of a plugin, by the values of their codecs. */
import type { DefaultEndpoint } from "../core/default-endpoint.ts";
import type { EmbedClient } from "../core/embed-dialect.ts";
import type { DocumentedError } from "../core/error.ts";
import type {
  AnswerCodec,
  AnswerFraming,
  Beside,
  ClientCodec,
  ClientRoutes,
  ClientSchemas,
  CompactionCodec,
  CountOperation,
  Format,
  HostedCodec,
  NativeLaneCodec,
  ReaderCodec,
  RequestCheck,
  RequestFacts,
  StreamObserver,
  SummaryCodec,
  UpstreamAddress,
  UpstreamCodec,
  UsageRequest,
} from "../core/format.ts";
import type { LocalOperation } from "../core/local-operation.ts";
import type { ModelListing } from "../core/model-listing.ts";
import type { UrlAddress } from "../core/url-address.ts";
import type { TextPlaces } from "../core/text-places.ts";
import { isObject } from "../core/json.ts";
import { RATE_HEADERS, SETTINGS, SIZE } from "./facts-tables.ts";
import { embeds, FRAMING } from "./provider-tables.ts";
import { STORED } from "./stored-tables.ts";
import {
  type Table,
  must,
  oneOf,
  required,
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
} from "./rules.ts";

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

const HOSTED: Table<HostedCodec> = {
  mark: required(text),
  asked: required(callable),
  past: required(callable),
  shows: required(callable),
  unfinished: required(text),
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

const ROUTES: Table<ClientRoutes> = {
  path: required(text),
  address: group("the address'", ADDRESS),
  bases: texts,
  ownBases: texts,
  prefixes: texts,
  keyHeaders: texts,
  clientHeaders: texts,
  clientMembers: texts,
  vendor: oneOf("openai", "anthropic", "google"),
  models: group("the list's", LISTING),
  modelMembers: group("the model's", {
    of: required(callable),
    samples: must("an object", isObject),
    wants: callable,
    schema: required(schema),
  }),
  impliedEnding: text,
  greeting: must("an object", isObject),
  local: listOf<LocalOperation>("local operation", "id", LOCAL),
};

const REQUEST: Table<RequestCheck> = {
  schema: required(must("an object", isObject)),
  schemas: group("the client codec's", SCHEMAS),
  errors: listOf<DocumentedError>("error", "code", ERROR),
  checkRequest: required(callable),
  judgedByOutline: flag,
  streamsByDefault: flag,
  anyMediaType: flag,
  idle: group("the idle requests'", { others: required(schema), answer: required(callable) }),
};

const FRAMES: Table<AnswerFraming> = {
  heartbeat: required(text),
  lines: flag,
  errorEndsStream: flag,
  repeatsError: flag,
};

const ANSWERS: Table<AnswerCodec> = {
  decodeRequest: required(callable),
  leftOut: callable,
  writeStream: required(callable),
  writeAnswer: required(callable),
  reader: group("the reader's", { readStream: required(callable), readAnswer: required(callable) }),
  encodeError: required(callable),
  encodeStreamError: required(callable),
  framing: required(group("its client.codec.framing", FRAMES)),
};

const PLACES: Table<TextPlaces> = {
  request: required(callable),
  answer: required(callable),
  event: required(callable),
  closed: callable,
  independent: flag,
  stopped: required(callable),
};

const FACTS: Table<RequestFacts> = {
  size: group("the sizes'", SIZE),
  settings: group("the settings'", SETTINGS),
  namedSession: callable,
  sessionOf: callable,
  promptSections: callable,
  losesCallIds: flag,
  places: group("the texts'", PLACES),
  files: group("the files'", { mayHave: required(callable), in: required(callable) }),
  rateHeaders: group("the rate headers'", RATE_HEADERS),
};

const BESIDE: Table<Beside> = {
  count: group("the count operation's", COUNT),
  embeds: listOf<EmbedClient>("embeddings", "operation", EMBED),
  stored: group("the stored answers'", STORED),
  cached: texts,
  compaction: group("the compaction's", COMPACTION),
  hosted: group("the hosted tools'", HOSTED),
};

/** The rules of each value of a client codec. */
export const CLIENT_VALUES = {
  routes: ROUTES,
  request: REQUEST,
  codec: ANSWERS,
  facts: FACTS,
  beside: BESIDE,
};

const CLIENT: Table<ClientCodec> = {
  routes: required(group("its client.routes", ROUTES)),
  request: required(group("its client.request", REQUEST)),
  codec: required(group("its client.codec", ANSWERS)),
  facts: required(group("its client.facts", FACTS)),
  beside: required(group("its client.beside", BESIDE)),
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

const UPSTREAM_ADDRESS: Table<UpstreamAddress> = {
  endpoint: group("the endpoint's", ENDPOINT),
  requestInUrl: flag,
  countPath: text,
  requestHeaders: required(texts),
  answerHeaders: required(texts),
  models: group("the models'", { factsIn: callable, modelKind: callable }),
};

const READER: Table<ReaderCodec> = {
  encodeRequest: required(callable),
  readStream: required(callable),
  readAnswer: required(callable),
  decodeError: required(callable),
  streamsAsList: flag,
};

const NATIVE: Table<NativeLaneCodec> = {
  watch: required(group("the watch's", WATCH)),
  usageRequest: group("the usage request's", USAGE_REQUEST),
  withoutSealed: callable,
  sealedMark: text,
  withoutReasoning: callable,
  renamedMembers: callable,
  fit: callable,
  mustTranslate: callable,
  isErrorBody: callable,
};

/** The rules of each value of an upstream codec. */
export const UPSTREAM_VALUES = { address: UPSTREAM_ADDRESS, codec: READER, native: NATIVE };

const UPSTREAM: Table<UpstreamCodec> = {
  address: required(group("its upstream.address", UPSTREAM_ADDRESS)),
  codec: required(group("its upstream.codec", READER)),
  native: required(group("its upstream.native", NATIVE)),
};

/** The rules of a format. */
export const FORMAT: Table<Format> = {
  id: required(text),
  kind: oneOf("completion"),
  kindMember: text,
  client: group("the client codec's", CLIENT),
  upstream: group("the upstream codec's", UPSTREAM),
};
