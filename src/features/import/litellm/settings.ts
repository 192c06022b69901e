/** `litellm_settings`, `router_settings` and `general_settings`. */
import { always, count, flag, megabytes, none, option, type Rules, seconds } from "../settings.ts";
import { budgetWindow, days } from "../windows.ts";
import { readJwtSettings } from "./jwt.ts";
import type { Reading } from "../reader.ts";
import type { SourceNode } from "../source.ts";

const TIMEOUT = "weir limits the time to the first byte of the answer; a stream may take longer";
/** Why the timeout of streams is not quite the same. */
export const STREAM_TIMEOUT =
  "weir limits the time to the first event; timeouts.gapMs limits the silence inside an answer";
const LOGGING = none(
  "weir sends records to no logging product",
  "traces.to sends traces to an OpenTelemetry collector",
);
const REDIS = none(
  "weir's processes share their limits in its store",
  "several gateways share a PostgreSQL database: store",
);
const DATABASE = none(
  "weir does not use LiteLLM's database",
  "import the keys with --keys; state or store says where weir keeps its own books",
);
const QUIET = none("weir's log has levels", "log.level");

/** https://docs.litellm.ai/docs/proxy/config_settings#router_settings---reference */
export const ROUTER_RULES: Rules = {
  routing_strategy: readStrategy,
  routing_strategy_args: none("weir's ways of routing have no options", "routing"),
  timeout: option("timeouts.firstByteMs", seconds, TIMEOUT),
  stream_timeout: option("timeouts.streamFirstByteMs", seconds, STREAM_TIMEOUT),
  retry_after: none("weir waits as long as the provider's retry-after says"),
  max_fallbacks: none("weir tries fallbacks as long as retries.attempts allows"),
  enable_pre_call_checks: flag(
    always("weir tries fallbacks with `when: too-long` when a prompt does not fit"),
    none("weir always tries fallbacks with `when: too-long` when a prompt does not fit"),
  ),
  enable_tag_filtering: none("weir does not choose deployments by tags", "give each tag a route of its own"),
  tag_filtering_match_any: none("weir does not choose deployments by tags"),
  default_max_parallel_requests: none(
    "weir has the limit for each provider",
    "set concurrency of the provider",
  ),
  default_litellm_params: none(
    "weir sends what the client sends",
    "a plugin with a `request` hook can add fields",
  ),
  redis_host: REDIS,
  redis_port: REDIS,
  redis_password: REDIS,
  redis_url: REDIS,
  redis_db: REDIS,
  cache_responses: none("the cache is an option of the whole gateway", "cache.keys"),
  cache_kwargs: REDIS,
  debug_level: QUIET,
  set_verbose: QUIET,
  client_ttl: none("weir manages its connections itself"),
  optional_pre_call_checks: (node) =>
    node.changed("weir always keeps a conversation at one deployment, and enforces the entries of rates"),
};

/** `routing_strategy`, as `routing` of weir has it, with what differs. */
const STRATEGIES: ReadonlyMap<unknown, readonly [by: string, why: string]> = new Map([
  [
    "latency-based-routing",
    ["latency", "each process of weir measures by itself; a failure counts as the deadline"],
  ],
  ["usage-based-routing", ["usage", "each process of weir counts its own calls in flight, then its tokens"]],
  [
    "usage-based-routing-v2",
    ["usage", "each process of weir counts its own calls in flight, then its tokens"],
  ],
  ["least-busy", ["usage", "each process of weir counts its own calls in flight, then its tokens"]],
  ["cost-based-routing", ["cost", "the prices are those of weir's price book and of prices"]],
]);

function readStrategy(node: SourceNode, { draft }: Reading): void {
  const [by, why] = STRATEGIES.get(node.value) ?? [];
  if (by !== undefined && why !== undefined) {
    draft.set(["routing", "*"], by, node);
    node.changed(why, "routing");
  } else if (node.value === "simple-shuffle")
    node.changed("a conversation stays at one deployment as long as that is healthy");
  else
    node.dropped(
      `weir does not share calls by ${JSON.stringify(node.value)}`,
      "set routing, or weight and priority",
    );
}

/** https://docs.litellm.ai/docs/proxy/config_settings#litellm_settings---reference */
export const LITELLM_RULES: Rules = {
  drop_params: flag(
    always("weir leaves out what a provider does not take, and reports it in x-weir-warnings"),
    option("strict", () => true),
  ),
  modify_params: always("weir converts what it can and reports it in x-weir-warnings"),
  request_timeout: option("timeouts.firstByteMs", seconds, TIMEOUT),
  callbacks: readCallbacks,
  success_callback: readCallbacks,
  failure_callback: readCallbacks,
  service_callbacks: readCallbacks,
  langfuse_default_tags: LOGGING,
  turn_off_message_logging: flag(
    always("weir logs no prompts and no answers"),
    none("weir logs no prompts and no answers", "capture keeps those of chosen keys"),
  ),
  redact_user_api_key_info: always("the log names a key and never shows it"),
  redact_messages_in_exceptions: always("weir's errors contain no prompts"),
  json_logs: flag(
    option("log.format", () => "json"),
    option("log.format", () => "pretty"),
  ),
  set_verbose: QUIET,
  suppress_debug_info: QUIET,
  force_ipv4: none("weir uses the addresses that the resolver returns"),
  ssl_verify: none("weir always verifies certificates", "tls.ca of a provider names further authorities"),
  enable_json_schema_validation: none("weir passes the answer of the model as it is"),
  max_internal_user_budget: none("weir has keys and no users", "a budget on the path of the keys"),
  internal_user_budget_duration: none("weir has keys and no users"),
  default_internal_user_params: none("weir has keys and no users"),
  default_team_params: none("weir has no teams; keys form a tree by their path"),
  key_generation_settings: none("keys are made by `weir keys create` and the admin API"),
  upperbound_key_generate_params: none("keys are made by `weir keys create` and the admin API"),
  mcp_aliases: none("weir serves no MCP tools"),
};

function readCallbacks(node: SourceNode): void {
  for (const item of node.isLeaf ? [node] : node.items) {
    if (item.value === "prometheus")
      item.changed("weir always has metrics at /metrics of its admin listener");
    else if (item.value === "otel")
      item.changed("weir sends traces to OTEL_EXPORTER_OTLP_ENDPOINT, or traces.to");
    else if (/limiter|budget|cache|affinity/.test(String(item.value)))
      item.changed("weir enforces budgets and rates without a hook");
    else
      item.dropped("weir sends records to no logging product", "traces.to, or a plugin with a `done` hook");
  }
}

/** https://docs.litellm.ai/docs/proxy/config_settings#general_settings---reference */
export const GENERAL_RULES: Rules = {
  max_request_size_mb: option("limits.bodyBytes", megabytes),
  global_max_parallel_requests: option("limits.calls", count, "the limit holds for each process of weir"),
  maximum_spend_logs_retention_period: option("ledger.callDays", (node) => days(node.text ?? "")),
  maximum_spend_logs_retention_interval: none("weir deletes old rows by itself"),
  database_url: DATABASE,
  database_connection_pool_limit: DATABASE,
  database_connection_timeout: DATABASE,
  store_model_in_db: none(
    "weir has models of its own store beside those of the file",
    "add them with weir models add",
  ),
  disable_spend_logs: none("weir always books what a call cost", "ledger.callDays limits how long"),
  store_prompts_in_spend_logs: none("weir's books hold no prompts", "capture keeps those of chosen keys"),
  alerting: none("weir's alerts are webhooks", "add one to alerts"),
  alerting_threshold: none("weir's alerts are webhooks", "add one to alerts"),
  alerting_args: none("weir's alerts are webhooks", "add one to alerts"),
  alert_types: none("weir's alerts are webhooks", "alerts[].events"),
  alert_to_webhook_url: none("weir's alerts are webhooks", "alerts[].to"),
  background_health_checks: none(
    "weir learns from calls which deployments fail",
    "`weir check` asks all of them",
  ),
  health_check_interval: none("weir learns from calls which deployments fail"),
  health_check_details: none("weir learns from calls which deployments fail"),
  allowed_ips: none("weir limits addresses for each key", "keys[].addresses"),
  use_x_forwarded_for: none("weir trusts the proxies that it knows", "trustedProxies"),
  completion_model: none("weir needs a model in each request"),
  custom_auth: none("weir knows keys, and tokens of issuers", "keys, identity, or a proxy in front of weir"),
  litellm_jwtauth: readJwtSettings,
  enable_oauth2_auth: none("weir knows keys and tokens that are JWTs", "identity.providers"),
  infer_model_from_keys: none("weir knows the models by model_list alone"),
  forward_client_headers_to_llm_api: none(
    "weir passes the headers that the format names",
    "headers of the provider",
  ),
  pass_through_endpoints: none("weir serves the operations of its formats only"),
  ui_access_mode: none("the console needs an admin key"),
  enforce_user_param: none("weir requires no user field", "a plugin with a `request` hook can"),
  proxy_batch_write_at: none("weir books each call when it ends"),
  disable_adding_master_key_hash_to_db: none("weir keeps no key of the config in its store"),
};

/** `max_budget` and `budget_duration`: what the whole proxy may spend. */
export function readProxyBudget({ draft }: Reading, section: SourceNode | undefined): void {
  const limit = section?.member("max_budget");
  const duration = section?.member("budget_duration");
  const window = budgetWindow(duration?.text);
  if (limit?.number === undefined || limit.number === 0 || !window) {
    limit?.dropped("0 means no budget");
    return;
  }
  draft.set(["budgets", "proxy"], { on: "all", every: window.every, limit: limit.number }, limit);
  limit.taken("budgets.proxy.limit");
  if (window.why === undefined) duration?.taken("budgets.proxy.every");
  else duration?.changed(window.why, "budgets.proxy.every");
}

/** `cache` and `cache_params`. */
export function readCache({ draft }: Reading, section: SourceNode | undefined): void {
  const cache = section?.member("cache");
  const params = section?.member("cache_params");
  if (cache?.value !== true) {
    cache?.taken("cache");
    params?.dropped("the cache is off");
    return;
  }
  const mode = params?.member("mode");
  const ttl = params?.member("ttl");
  const ms = ttl && seconds(ttl);
  draft.set(
    "cache",
    {
      keys: ["*"],
      header: mode?.value === "default_off",
      maxTemperature: "any",
      ...(ms !== undefined && { ttlMs: ms }),
    },
    cache,
  );
  cache.changed("each process of weir has a cache of its own, in memory", "cache");
  if (ms !== undefined) ttl?.taken("cache.ttlMs");
  if (mode?.value === "default_off")
    mode.changed("a call asks for the cache with the header x-weir-cache", "cache.header");
  else mode?.taken("cache.header");
  params?.member("type")?.dropped("weir's cache is in the memory of each process");
  params?.dropped("weir's cache has no such option", "see cache in the README of weir's config");
}
