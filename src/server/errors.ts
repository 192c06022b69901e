/** The errors that clients of every format can meet, with their codes: what the OpenAPI document says of each operation. */
import type { DocumentedError } from "../core/error.ts";

type Errors = readonly DocumentedError[];

/** Of all operations. */
export const ANY: Errors = [
  { kind: "invalid-request", when: "The Host header or the target of the request is invalid." },
  {
    kind: "permission",
    code: "host_not_allowed",
    when: "On loopback or without gateway keys, the Host is no address, no name of this machine and no name of the option `names`.",
  },
  { kind: "internal", when: "weir failed; its log has the details." },
];

/** Of operations that need a gateway key. */
export const KEY: Errors = [
  { kind: "authentication", code: "invalid_api_key", when: "The gateway key is missing or not valid." },
  { kind: "authentication", code: "key_revoked", when: "The key was revoked while its call was running." },
  { kind: "permission", code: "admin_key", when: "The key is one for the admin API." },
  {
    kind: "permission",
    code: "unknown_restriction",
    when: "The key has a restriction of a feature that this build of weir lacks.",
  },
  {
    kind: "permission",
    code: "unknown_person",
    when: "The key belongs to a person, and this gateway knows no people.",
  },
  { kind: "permission", code: "endpoint_not_allowed", when: "The key may not use the endpoint." },
  { kind: "permission", code: "address_not_allowed", when: "The key may not be used from this address." },
  { kind: "overloaded", code: "keys_unavailable", when: "weir cannot read the keys of its store." },
];

/** Of operations that need a credential, where features have forms of them beside keys. */
export const FORMS: Errors = [
  {
    kind: "invalid-request",
    code: "conflicting_credentials",
    when: "Two headers carry credentials of two different callers.",
  },
  { kind: "authentication", code: "credential_expired", when: "The credential is not valid any more." },
  {
    kind: "authentication",
    code: "ambiguous_credential",
    when: "The credential could be one of two forms.",
  },
  { kind: "overloaded", code: "credential_unchecked", when: "weir cannot check the credential in time." },
];

/** Of operations with a body. */
export const BODY: Errors = [
  {
    kind: "invalid-request",
    when: "The body is not one JSON object in UTF-8, or has a member twice.",
  },
  {
    kind: "timeout",
    status: 408,
    code: "request_timeout",
    when: "The body did not arrive in time; weir closes the connection.",
  },
  {
    kind: "too-large",
    code: "request_too_large",
    when: "The body is larger than `limits.bodyBytes`, or the provider refused it as too large.",
  },
  {
    kind: "invalid-request",
    status: 426,
    code: "websocket_not_supported",
    when: "The client asks for a WebSocket.",
  },
  { kind: "unsupported-media-type", when: "The content type is not JSON, or the encoding is unknown." },
  {
    kind: "invalid-request",
    code: "string_above_max_length",
    when: "The model name has more than 256 bytes of UTF-8.",
  },
  { kind: "invalid-request", code: "missing_required_parameter", when: "A required member is absent." },
  {
    kind: "invalid-request",
    code: "invalid_value",
    when: "A member has a value that its format does not allow, or the body is too deep or has more than 1000 members.",
  },
  {
    kind: "invalid-request",
    code: "unknown_parameter",
    when: "The name of a member differs from a known name in case only.",
  },
];

/** Of operations that read stored answers. */
const STORE_FAILS: DocumentedError = {
  kind: "overloaded",
  code: "store_unavailable",
  when: "weir cannot read its stored answers.",
};

/** Of operations that may continue a stored answer. */
export const CONTINUED: Errors = [
  {
    kind: "invalid-request",
    code: "previous_response_not_found",
    when: "The request continues an answer that weir does not have for its key.",
  },
  {
    kind: "not-found",
    code: "conversation_not_found",
    when: "The request continues a conversation that weir does not have for its key.",
  },
  {
    kind: "invalid-request",
    code: "mutually_exclusive_parameters",
    when: "The request continues both an answer and a conversation.",
  },
  {
    kind: "not-found",
    code: "item_not_found",
    when: "The request refers to an item of an answer that its key did not receive.",
  },
  STORE_FAILS,
];

/** Of operations that name a model. */
export const MODEL: Errors = [
  { kind: "not-found", code: "model_not_found", when: "No provider serves the model." },
  {
    kind: "invalid-request",
    code: "not_on_tape",
    when: "`weir replay`: the tape has no answer to the request.",
  },
  { kind: "permission", code: "model_not_allowed", when: "The key may not use the model." },
  { kind: "permission", code: "provider_not_allowed", when: "The key may not use a provider of the model." },
];

/** Of operations with pages. */
export const PAGE: Errors = [
  { kind: "invalid-request", code: "invalid_value", when: "`limit` is not a positive integer." },
];

/** Of operations on stored answers. */
export const KEPT: Errors = [
  {
    kind: "not-found",
    code: "cached_content_not_found",
    when: "There is no such cached content, or it belongs to another key, or it has expired.",
  },
  {
    kind: "invalid-request",
    code: "cached_content_elsewhere",
    when: "The provider that keeps the content does not serve the model of the request.",
  },
  {
    kind: "invalid-request",
    code: "no_store",
    when: "weir has keys and no state folder, so that it cannot note whose the content is.",
  },
  { kind: "overloaded", code: "store_unavailable", when: "The store of weir does not answer." },
];

export const STORED: Errors = [
  {
    kind: "not-found",
    code: "response_not_found",
    when: "There is no such answer, or it belongs to another key, or it has expired.",
  },
  { kind: "invalid-request", code: "invalid_value", when: "`limit`, `order` or `after` is not valid." },
  {
    kind: "invalid-request",
    code: "response_not_streamable",
    when: "The client asks for the events of an answer that weir stores.",
  },
  { kind: "invalid-request", code: "not_cancellable", when: "The answer has ended." },
  {
    kind: "permission",
    code: "provider_not_allowed",
    when: "The key may not use the provider that stores the answer.",
  },
  STORE_FAILS,
];

/** Of operations on conversations. */
export const CONVERSATIONS: Errors = [
  {
    kind: "not-found",
    code: "conversation_not_found",
    when: "There is no such conversation, or it belongs to another key, or it has expired.",
  },
  { kind: "not-found", code: "item_not_found", when: "The conversation has no such item." },
  { kind: "invalid-request", code: "invalid_value", when: "A parameter or a member is not valid." },
  { kind: "invalid-request", code: "invalid_type", when: "A member has another type." },
  { kind: "invalid-request", code: "missing_required_parameter", when: "The body lacks a member." },
  { kind: "invalid-request", code: "array_above_max_length", when: "The body has more than 20 items." },
  {
    kind: "invalid-request",
    code: "conversation_too_large",
    when: "The conversation would be larger than weir keeps.",
  },
  { kind: "invalid-request", code: "conversations_not_kept", when: "weir keeps no answers." },
  STORE_FAILS,
];

/** Of operations that translate a request for a provider. */
export const TRANSLATION: Errors = [
  {
    kind: "invalid-request",
    code: "unsupported_value",
    when: "The model or its provider cannot take a part of the request, and the request makes no sense without it.",
  },
  {
    kind: "invalid-request",
    code: "lossy_translation",
    when: "The provider cannot take a part of the request, and the client or the config asks for strict mode.",
  },
];

/** Of the operation that explains a request. */
export const EXPLAIN: Errors = [
  {
    kind: "invalid-request",
    code: "ask_unavailable",
    when: "A plugin wants to ask another model, and explain sends nothing.",
  },
];

/** Of operations that occupy a place among the calls in flight. */
export const ADMISSION: Errors = [
  {
    kind: "rate-limited",
    code: "too_many_calls",
    when: "The client has reached its limit of calls in flight.",
  },
  { kind: "overloaded", code: "too_many_calls", when: "weir has reached its limit of calls in flight." },
  { kind: "overloaded", code: "shutting_down", when: "weir is shutting down." },
];

const LEDGER_FAILS: DocumentedError = {
  kind: "overloaded",
  code: "ledger_unavailable",
  when: "weir cannot reach its books, and the call needs them: it asks for figures, or has a hard budget.",
};

/** Of the operation that describes the client's key. */
export const OWN_KEY: Errors = [
  { kind: "not-found", code: "no_keys", when: "The gateway has no keys." },
  LEDGER_FAILS,
];

/** Of operations that cost something. */
export const CHARGED: Errors = [
  {
    kind: "quota",
    code: "budget_exhausted",
    when: "What is left of a budget does not suffice for the call.",
  },
  { kind: "rate-limited", when: "A rate limit of the key, the model or the provider has no room." },
  {
    kind: "permission",
    code: "price_unknown",
    when: "A hard budget counts the call, and its price is unknown.",
  },
  {
    kind: "permission",
    code: "server_tools_not_allowed",
    when: "The key may not use tools that the provider runs itself.",
  },
  {
    kind: "invalid-request",
    code: "cost_limit_exceeded",
    when: "The call may cost more than the key permits for one call.",
  },
  {
    kind: "invalid-request",
    code: "max_tokens_exceeded",
    when: "The call may produce more output tokens than the key permits for one call.",
  },
  LEDGER_FAILS,
];

/** Of operations that wait for a provider. */
export const TIMEOUT: Errors = [
  { kind: "timeout", code: "timeout", when: "The provider did not answer in time." },
];

/** Of operations that need a provider's answer. A provider may also have codes of its own, and statuses from 400 to 499. */
export const PROVIDER: Errors = [
  {
    kind: "invalid-request",
    code: "context_length_exceeded",
    when: "The prompt does not fit into the model.",
  },
  {
    kind: "invalid-request",
    status: 422,
    code: "invalid_value",
    when: "The provider could not process the request.",
  },
  { kind: "permission", when: "The provider does not permit the request." },
  { kind: "conflict", when: "The provider reports a conflict." },
  { kind: "rate-limited", code: "rate_limit_exceeded", when: "The provider's rate limit is reached." },
  { kind: "quota", code: "insufficient_quota", when: "The account at the provider has no credit left." },
  { kind: "overloaded", code: "server_is_overloaded", when: "The provider is overloaded." },
  { kind: "overloaded", code: "no_capacity", when: "Every deployment is at its limit of concurrent calls." },
  {
    kind: "upstream-auth",
    code: "upstream_auth",
    when: "The provider rejected weir's credential, or its account has no credit left.",
  },
  {
    kind: "upstream",
    code: "upstream_authorization",
    when: "weir could not authorize its request to the provider.",
  },
  { kind: "upstream", code: "upstream_unreachable", when: "The provider cannot be reached." },
  {
    kind: "upstream",
    code: "upstream_configuration",
    when: "The provider refused a request because of weir's own settings, such as a wrong base URL.",
  },
  { kind: "upstream", code: "upstream_redirect", when: "The provider answered with a redirect." },
  { kind: "upstream", code: "upstream_invalid_answer", when: "The provider's answer cannot be read." },
  { kind: "upstream", code: "upstream_too_large", when: "The provider's answer is too large." },
  { kind: "upstream", code: "upstream_failed", when: "The provider reports that the generation failed." },
  { kind: "upstream", code: "upstream_error", when: "The provider failed." },
  {
    kind: "upstream",
    code: "invalid_tool_arguments",
    when: "The arguments of a tool call are not JSON and cannot be repaired.",
  },
  {
    kind: "upstream",
    code: "malformed_tool_call",
    when: "The model wrote a tool call that the provider could not use.",
  },
  { kind: "upstream", code: "empty_answer", when: "The provider ended its answer without content." },
  {
    kind: "upstream",
    code: "stream_incomplete",
    when: "The provider's answer ended before it was complete.",
  },
  {
    kind: "internal",
    code: "ask_too_deep",
    when: "Plugins that ask models nested more than four calls deep.",
  },
  ...CHARGED,
  ...TIMEOUT,
];
