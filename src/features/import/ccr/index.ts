/** The `config.json` of claude-code-router. https://github.com/musistudio/claude-code-router */
import { shortName } from "../draft.ts";
import type { References } from "../environment.ts";
import { type Reading, SourceError } from "../reader.ts";
import { applyRules, count, flag, none, option, type Rules } from "../settings.ts";
import type { SourceNode } from "../source.ts";
import { type FindModel, readProviders } from "./providers.ts";
import { readRouting } from "./routing.ts";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)/g;

/** `$NAME` and `${NAME}`, also inside of a text. */
export const references: References = (text) => {
  VARIABLE.lastIndex = 0;
  return VARIABLE.test(text)
    ? text.replace(VARIABLE, (_, braced?: string, bare?: string) => `\${${braced ?? bare}}`)
    : undefined;
};

const LEVELS: Readonly<Record<string, string>> = {
  fatal: "error",
  error: "error",
  warn: "warn",
  info: "info",
  debug: "info",
  trace: "info",
};

const RULES: Rules = {
  PORT: option("port", count),
  API_TIMEOUT_MS: option(
    "timeouts.firstByteMs",
    count,
    "weir limits the time to the first byte of the answer",
  ),
  PROXY_URL: none("weir takes its proxy from the environment", "set HTTPS_PROXY and NO_PROXY"),
  LOG: flag(
    (node) => node.changed("weir writes its log to standard output"),
    option("log.level", () => "silent"),
  ),
  NON_INTERACTIVE_MODE: none("weir never asks"),
  CUSTOM_ROUTER_PATH: none(
    "weir chooses a model by its name",
    "a plugin with an early hook that chooses the model",
  ),
  transformers: none("weir translates by itself", "a plugin with `request` and `answer` hooks"),
  CLAUDE_PATH: none("weir starts no client", "`weir exec -- claude` does"),
  StatusLine: none("weir writes no status line into Claude Code"),
  REWRITE_SYSTEM_PROMPT: none("weir sends the prompt of the client", "a plugin with a `request` hook"),
  forceUseImageAgent: none("weir has no agent for images"),
};

export function read(reading: Reading): void {
  const { root } = reading;
  const list = root.member("Providers") ?? root.member("providers");
  if (list === undefined)
    throw new SourceError(
      `${reading.leaves.name}:1`,
      "this is no config of claude-code-router: it has no Providers",
    );
  const found = readProviders(reading, list);
  readRouter(reading, root.member("Router"), found);
  const level = root.member("LOG_LEVEL");
  if (level && root.member("LOG")?.value !== false)
    option(
      "log.level",
      (node) => LEVELS[node.text ?? ""],
      "weir has the levels info, warn, error and silent",
    )(level, reading);
  else level?.dropped("the log is off");
  applyRules(root, RULES, reading);
  readAccess(reading);
  readRouting(reading, root.member("Router"), found);
  for (const name of OF_THE_APP) root.member(name)?.dropped("it is for the app of claude-code-router");
  reading.remarks.push(
    "weir reads no model out of a prompt (<CCR-SUBAGENT-MODEL>): name the model in the file of the subagent",
  );
}

/** Without a key, claude-code-router listens on this machine only, whatever HOST says. */
function readAccess(reading: Reading): void {
  const { root, draft, environment } = reading;
  const key = root.member("APIKEY");
  const host = root.member("HOST");
  if (key?.text) {
    draft.add("keys", { name: "ccr", ...reading.gatewayKey(key) }, key);
    key.hide();
    key.taken("keys");
  } else key?.ignored("it is empty");
  const keys = readKeys(reading);
  if (!host?.text) return;
  if (!key?.text && keys === 0 && !/^(127\.|localhost$|::1$)/.test(host.text)) {
    host.changed("without APIKEY claude-code-router listens on 127.0.0.1, and so does weir", "host");
    return;
  }
  draft.set("host", environment.text(host.text), host);
  host.taken("host");
}

/** `APIKEYS` of version 3. @returns how many there are */
function readKeys(reading: Reading): number {
  const list = reading.root.member("APIKEYS")?.items ?? [];
  const found = list.filter((entry) => entry.member("key")?.text);
  for (const [index, entry] of found.entries()) {
    const key = entry.member("key")!;
    const name = `ccr-${shortName(entry.member("name")?.text ?? "", String(index + 1))}`;
    const rate = ["rpm", "tpm", "rpd", "tpd"].flatMap((limit) => {
      const node = entry.member("limits")?.member(limit);
      node?.taken(`keys.${name}`);
      return node?.number ? [[limit, node.number] as const] : [];
    });
    const expires = entry.member("expiresAt");
    expires?.taken(`keys.${name}`);
    const options = { ...(Object.fromEntries(rate) as object), ...(expires && { expires: expires.text }) };
    reading.draft.add("keys", { name, ...reading.gatewayKey(key), ...options }, entry);
    key.hide();
    for (const node of [key, entry.member("name")]) node?.taken(`keys.${name}`);
  }
  return found.length;
}

/** Settings of version 3 that no call depends on. */
const OF_THE_APP = (
  "agent autoStart botConfigs botGateway contextArchive gateway launchAtLogin mediaTools observability " +
  "plugins profile providerPlugins proxy theme toolHub tray virtualModelProfiles"
).split(" ");

/** The meaning of a scenario of the router for weir. */
const SCENARIOS: Readonly<Record<string, { alias: string; when: string }>> = {
  think: { alias: "think", when: "whether a request asks for reasoning" },
  webSearch: { alias: "web-search", when: "the tools of a request" },
  image: { alias: "image", when: "whether a request has images" },
};

function readRouter(reading: Reading, router: SourceNode | undefined, found: FindModel): void {
  const { draft } = reading;
  const model = (name: string) => {
    const node = router?.member(name);
    if (node?.value === "") node.ignored("it is empty");
    const use = node?.text ? found(node.text) : undefined;
    if (node?.text && !use) node.dropped("Providers has no such provider", "aliases");
    return node && use ? { node, use } : undefined;
  };
  const standard = model("default");
  if (standard) {
    draft.serve("*", standard.use, standard.node);
    standard.node.taken('aliases["*"]');
  }
  const background = model("background");
  if (background) {
    // claude-code-router takes Claude Code's small model for its background work.
    draft.serve("claude-*haiku*", background.use, background.node);
    background.node.taken('aliases["claude-*haiku*"]');
  }
  for (const [name, { alias, when }] of Object.entries(SCENARIOS)) {
    const scenario = model(name);
    if (!scenario) continue;
    draft.serve(alias, scenario.use, scenario.node);
    scenario.node.changed(
      `weir chooses a model by its name, not by ${when}; clients ask for ${alias}`,
      `aliases.${alias}`,
    );
  }
  const long = model("longContext");
  if (long) {
    draft.serve("long-context", long.use, long.node);
    draft.set(["fallbacks", "*"], [{ model: "long-context", when: "too-long" }], long.node);
    long.node.changed("used when a prompt does not fit into the model", 'fallbacks["*"]');
  }
  router?.member("longContextThreshold")?.dropped("weir asks the other model when a prompt does not fit");
}
