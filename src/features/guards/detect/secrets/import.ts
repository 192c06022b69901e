/**
 * Makes `rules.json` from the default rules of gitleaks: `bun src/features/guards/detect/secrets/import.ts gitleaks.toml`. Its
 * version and licence are in LICENSE.gitleaks.
 */
import { join } from "node:path";
import type { AllowData, RuleData, Rules } from "./rule.ts";
import { translated } from "./translate.ts";

interface GivenAllow {
  readonly condition?: string;
  readonly paths?: readonly string[];
  readonly regexTarget?: "match" | "line";
  readonly regexes?: readonly string[];
  readonly stopwords?: readonly string[];
}

interface GivenRule {
  readonly id: string;
  readonly regex?: string;
  readonly entropy?: number;
  readonly keywords?: readonly string[];
  readonly secretGroup?: number;
  readonly allowlists?: readonly GivenAllow[];
}

/** Rules for files of some names: without a name they find assignments of any kind. */
const FILES = new Set(["pkcs12-file", "hashicorp-tf-password", "kubernetes-secret-yaml"]);
/** Words in front of names, which change nothing of what is found. */
const NAMED = /^(?:\(\?i\)\[\\w\.-\]\{0,50\}\?|\[\\w\.-\]\{0,50\}\?\(\?i:\[\\w\.-\]\{0,50\}\?)/;
/** How many characters of a match stand in front of the keyword, least and most. Others begin with it. */
const BEFORE: Readonly<Record<string, readonly [number, number]>> = {
  "azure-ad-client-secret": [4, 5],
  "facebook-access-token": [14, 15],
  "freemius-secret-key": [1, 1],
  "hashicorp-tf-api-token": [15, 15],
  "maxmind-license-key": [36, 36],
  "microsoft-teams-webhook": [10, 72],
  "openai-api-key": [23, 85],
  "sidekiq-sensitive-url": [25, 26],
  "slack-webhook-url": [0, 8],
};
/** Keywords that stand in the match itself, in place of those that may be anywhere in a file. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  "airtable-personnal-access-token": ["pat"],
  "cloudflare-origin-ca-key": ["v1.0-"],
  "facebook-access-token": [..."0123456789"].flatMap((digit) => [`${digit}|`, `${digit}%`]),
  "intra42-client-secret": ["s-s4t2ud-", "s-s4t2af-"],
  "microsoft-teams-webhook": ["webhook.office.com"],
  "sourcegraph-access-token": ["sgp_"],
  "lob-api-key": ["lob"],
  "lob-pub-api-key": ["lob"],
  "new-relic-browser-api-token": ["new-relic", "newrelic", "new_relic"],
  "new-relic-insert-key": ["new-relic", "newrelic", "new_relic"],
  "new-relic-user-api-key": ["new-relic", "newrelic", "new_relic"],
  "typeform-api-token": ["typeform"],
  "curl-auth-header": ["-h", "--header"],
  "curl-auth-user": ["-u", "--user"],
};

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error("usage: bun import.ts gitleaks.toml");
  const given = Bun.TOML.parse(await Bun.file(file).text()) as { rules: GivenRule[]; allowlist: GivenAllow };
  await Bun.write(join(import.meta.dir, "rules.json"), `${JSON.stringify(rulesOf(given), null, 2)}\n`);
}

function rulesOf(given: { rules: GivenRule[]; allowlist: GivenAllow }): Rules {
  const rules = given.rules.flatMap((rule) =>
    rule.regex === undefined || FILES.has(rule.id) ? [] : [ruleOf(rule)],
  );
  return { allow: allowOf(given.allowlist), rules };
}

function ruleOf({ id, regex, entropy, keywords, secretGroup, allowlists = [] }: GivenRule): RuleData {
  const given = regex!;
  const isNamed = NAMED.test(given);
  const inner = given.startsWith("(?i)") ? "(?i)" : "(?i:";
  const stripped = isNamed ? given.replace(NAMED, inner) : given;
  if (isNamed && !hasKeyword(stripped, KEYWORDS[id] ?? keywords ?? []))
    throw new Error(`${id}: no name is a keyword`);
  const isCurl = id.startsWith("curl-");
  // What stands behind a token is no part of it.
  const ending = /\(\?:\[\^a-zA-Z0-9\+\/\]\|\\z\)$/;
  const { source: whole, flags } = translated(
    isCurl ? withoutCommand(stripped) : stripped.replace(ending, ""),
  );
  const source = ending.test(given) ? `${whole}(?![a-zA-Z0-9+/])` : whole;
  const allow = allowlists.filter(({ condition, paths }) => condition !== "AND" && !paths).map(allowOf);
  return {
    ...{ id, source, keywords: KEYWORDS[id] ?? keywords ?? [] },
    ...(flags !== "" && { flags }),
    ...(isNamed && !given.includes("|$)|") && { isNamed: true as const }),
    ...(isCurl && { command: "curl" }),
    ...(BEFORE[id] !== undefined && { before: BEFORE[id] }),
    ...(entropy !== undefined && { entropy }),
    ...(secretGroup !== undefined && { group: secretGroup }),
    ...(given.includes("(?P<") && { isWhole: true as const }),
    ...(allow.length > 0 && { allow }),
  };
}

/** Whether the keywords are names, and not beginnings of values. */
function hasKeyword(named: string, keywords: readonly string[]): boolean {
  const names = named.slice(0, named.indexOf("(?:[ \\t")).toLowerCase();
  return keywords.some(
    (word) => names.replaceAll("[_-]?", "").includes(word.replaceAll(/[_-]/g, "")) || names.includes(word),
  );
}

/** The command in front of an option may have many lines: weir looks for the option, and for the command in front of it. */
function withoutCommand(given: string): string {
  return given.slice(given.indexOf("(?:-"));
}

function allowOf({ regexTarget, regexes = [], stopwords = [] }: GivenAllow): AllowData {
  return {
    ...(regexTarget !== undefined && { target: regexTarget }),
    expressions: regexes.map((one) => {
      const { source, flags } = translated(one);
      return flags === "" ? [source] : [source, flags];
    }),
    words: stopwords.map((word) => word.toLowerCase()),
  };
}
