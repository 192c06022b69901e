/** The `config.json` of Bifrost. https://www.getbifrost.ai/schema */
import { type Reading, SourceError } from "../reader.ts";
import { always, applyRules, count, flag, megabytes, none, option, type Rules } from "../settings.ts";
import type { SourceNode } from "../source.ts";
import { readGovernance } from "./governance.ts";
import { readProviders } from "./providers.ts";

export { references } from "./values.ts";

const MOST_ATTEMPTS = 10;
const MCP = none("weir serves no MCP tools");
const STORE = none("weir does not use Bifrost's databases", "state or store says where weir keeps its books");

const CLIENT_RULES: Rules = {
  max_request_body_size_mb: option("limits.bodyBytes", megabytes),
  log_retention_days: option("ledger.callDays", count),
  enforce_auth_on_inference: always("weir requires a key as soon as it has one"),
  enforce_governance_header: always(
    "weir requires a key as soon as it has one; clients send it as their API key",
  ),
  enforce_scim_auth: none("weir knows keys only"),
  drop_excess_requests: always("weir has no queue: it answers 503 when limits.calls is reached"),
  initial_pool_size: none("weir manages its connections itself"),
  enable_logging: flag(
    always("weir's log has a line for each call, and its books a row"),
    option("log.level", () => "error"),
  ),
  disable_content_logging: flag(
    always("weir logs no prompts and no answers"),
    none("weir logs no prompts and no answers", "capture keeps those of chosen keys"),
  ),
  allow_direct_keys: none("weir sends its own credentials only"),
  prometheus_labels: none("weir's metrics have fixed labels"),
  required_headers: none("weir requires no header", "a proxy in front of weir"),
  header_filter_config: none("weir passes the headers that the format names"),
  allowed_headers: none("weir's answers to browser apps allow every header that its formats need"),
  compat: none("weir translates between formats itself and reports losses in x-weir-warnings"),
  enable_litellm_fallbacks: none("weir needs no special mode for clients of LiteLLM"),
  dump_errors_in_console_logs: none("weir's log has each failure", "log.level"),
  disable_db_pings_in_health: none("weir's health check asks its own parts"),
};

/** Sections at the top of the file. */
const SECTION_RULES: Rules = {
  $schema: (node) => node.ignored("it is for editors"),
  version: (node) => node.ignored("it says how empty lists are meant"),
  encryption_key: none("weir keeps no credentials in a database"),
  config_store: STORE,
  logs_store: STORE,
  vector_store: none("weir's cache is in the memory of each process", "cache"),
  mcp: MCP,
  plugins: readPlugins,
  framework: none("weir has its own price book", "prices"),
  guardrails_config: none(
    "weir has no guardrails",
    "a plugin with `request` and `answer` hooks can check calls",
  ),
  cluster_config: none("several gateways share a PostgreSQL database", "store, cluster"),
  audit_logs: none("weir keeps an audit log of its admin API"),
  server: none("weir has no such option"),
  env_label: none("weir has no such option"),
  source_of_truth: none("weir reads its file alone"),
  auth_config: none("weir's admin API takes keys", "weir admin key create NAME"),
  websocket: none("weir has no such option"),
  load_balancer_config: none("weir shares calls by weight"),
  circuit_breaker_config: none("weir's circuit breaker has no options"),
};

function readPlugins(node: SourceNode): void {
  for (const plugin of node.items) {
    const name = plugin.member("name")?.text ?? "";
    if (["governance", "logging"].includes(name))
      plugin.changed("weir always enforces limits and books calls");
    else if (name === "telemetry")
      plugin.changed("weir always has metrics at /metrics of its admin listener");
    else if (name === "otel") plugin.dropped("the import does not read the plugin", "traces.to");
    else if (name === "semantic_cache") plugin.dropped("weir's cache knows equal requests only", "cache");
    else plugin.dropped("weir has its own plugins", "see `weir plugin new`");
  }
}

export function read(reading: Reading): void {
  const { root, draft } = reading;
  const providers = root.member("providers");
  if (providers === undefined && root.member("governance") === undefined)
    throw new SourceError(
      `${reading.leaves.name}:1`,
      "this is no config of Bifrost: it has neither providers nor governance",
    );
  const version = root.member("version")?.number ?? 2;
  readProviders(reading, providers, version);
  readGovernance(reading, root.member("governance"), version);
  readRetries(reading, providers);
  const client = root.member("client");
  applyRules(client, CLIENT_RULES, reading);
  readOrigins(reading, client?.member("allowed_origins"));
  for (const node of client?.members ?? []) if (node.name.startsWith("mcp_")) MCP(node, reading);
  applyRules(root, SECTION_RULES, reading);
  if (draft.get("keys") === undefined && root.member("governance"))
    reading.remarks.push("no key was taken over, so weir serves this machine alone and asks for none");
}

/** `max_retries` of the providers: weir has one number for all. */
function readRetries({ draft }: Reading, providers: SourceNode | undefined): void {
  const found = (providers?.entries ?? []).flatMap(
    (provider) => provider.member("network_config")?.member("max_retries") ?? [],
  );
  if (found.length === 0) return;
  const most = Math.max(...found.map((node) => node.number ?? 0));
  draft.set("retries.attempts", Math.min(MOST_ATTEMPTS, most + 1), found[0]);
  for (const node of found)
    node.changed("weir has one number for all providers, which counts the first attempt", "retries.attempts");
}

/** Every web page may call a gateway with keys only. */
function readOrigins({ draft }: Reading, list: SourceNode | undefined): void {
  const origins = (list?.items ?? []).flatMap(({ text }) => text ?? []);
  if (origins.length === 0) return;
  if (origins.includes("*") && draft.get("keys") === undefined) {
    list?.dropped("weir allows every web page only if it has keys", "cors.origins");
    return;
  }
  draft.set("cors.origins", origins, list);
  list?.taken("cors.origins");
}
