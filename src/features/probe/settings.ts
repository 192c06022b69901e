/** Settings of the config that follow from findings. An unclear finding gives none. */
import type { Json } from "../../core/json.ts";
import type { Traits } from "../../core/provider.ts";
import type { Feature, Finding, Findings } from "./types.ts";

/** One option of a provider, with the evidence for it. */
export interface Setting {
  /** Name of the option: of the provider, or of its traits. */
  name: string;
  value: Json;
  evidence: string;
}

export interface Settings {
  /** Options of the provider itself. */
  provider: Setting[];
  traits: Setting[];
}

/** The value of a trait. `undefined`: the findings do not decide it. */
interface Rule {
  trait: keyof Traits;
  /** The feature whose evidence counts. */
  from: Feature;
  /** Value of an absent trait. */
  usual: Json;
  value(found: Findings): Json | undefined;
}

/** `true` if a feature works, `false` if the host refuses or ignores it. */
function works(finding: Finding | undefined): boolean | undefined {
  if (finding === undefined || finding.verdict === "unclear") return undefined;
  return finding.verdict === "yes";
}

const flag = (trait: keyof Traits, from: Feature): Rule => ({
  trait,
  from,
  usual: true,
  value: (found) => works(found[from]),
});

/** Without tools nothing can be forced, and no option needs to say so. */
function canForce(found: Findings): boolean | undefined {
  return works(found.tools) === false ? undefined : works(found["forced-tools"]);
}

/** The traits that findings decide. The table in README.md of this folder is made from them. */
export const RULES: readonly Rule[] = [
  flag("streaming", "streaming"),
  flag("streamOptions", "stream-usage"),
  { trait: "eofIsStop", from: "stream-end", usual: false, value: endsAnywhere },
  flag("jsonUsage", "json-usage"),
  { trait: "outputLimit", from: "max-tokens", usual: true, value: keepsLimit },
  flag("tools", "tools"),
  { trait: "forcedToolChoice", from: "forced-tools", usual: true, value: canForce },
  { trait: "namedToolChoice", from: "named-tool", usual: true, value: takesName },
  flag("parallelToolCalls", "one-tool"),
  flag("strictTools", "strict-tools"),
  {
    trait: "toolIds",
    from: "tool-ids",
    usual: null,
    value: (found) => found["tool-ids"]?.value,
  },
  { trait: "jsonSchema", from: "json-schema", usual: "native", value: schemaSupport },
  flag("jsonMode", "json-mode"),
  flag("images", "images"),
  {
    trait: "systemPlacement",
    from: "system-in-the-middle",
    usual: "anywhere",
    value: (found) => choose(works(found["system-in-the-middle"]), "anywhere", "first-only"),
  },
  flag("developerRole", "developer-role"),
  {
    trait: "thinkTags",
    from: "reasoning",
    usual: false,
    value: (found) => (found.reasoning?.value === "<think>" ? true : undefined),
  },
  flag("reasoningEffort", "reasoning-effort"),
  { trait: "reasoningReplay", from: "reasoning-replay", usual: null, value: replay },
  // Always written: clients of the format count on four.
  { trait: "maxStop", from: "stop", usual: null, value: (found) => found.stop?.value },
  flag("n", "n"),
  flag("logprobs", "logprobs"),
];

function choose<Value>(condition: boolean | undefined, yes: Value, no: Value): Value | undefined {
  return condition === undefined ? undefined : condition ? yes : no;
}

function endsAnywhere({ "stream-end": end }: Findings): boolean | undefined {
  if (!Array.isArray(end?.value)) return undefined;
  return !end.value.includes(true);
}

function keepsLimit({ "max-tokens": old, "max-completion-tokens": recent }: Findings): boolean | undefined {
  const names = [works(old), works(recent)];
  return names.includes(true) || (names.includes(undefined) ? undefined : false);
}

/** A host that cannot be forced at all is said to be so by another trait. */
function takesName({ "forced-tools": forced, "named-tool": named }: Findings): boolean | undefined {
  return works(forced) === true ? works(named) : undefined;
}

function schemaSupport({ "json-schema": schema, "json-mode": mode }: Findings): Json | undefined {
  return choose<Json>(works(schema), "native", works(mode) === true ? "json-object" : "prompt");
}

/** A host that refuses the replay must not get it, which is also what weir does by default. */
function replay({ "reasoning-replay": found }: Findings): Json | undefined {
  return found?.verdict === "unclear" ? undefined : found?.value;
}

/** Name of the output limit. Absent if the host takes the usual name. */
function limitField({ "max-tokens": old, "max-completion-tokens": recent }: Findings): Setting | undefined {
  const name = "maxTokensField";
  if (works(old) === true && works(recent) === false)
    return { name, value: "max_tokens", evidence: `max_completion_tokens: ${recent!.evidence}` };
  if (works(old) === false && works(recent) === true)
    return { name, value: "max_completion_tokens", evidence: `max_tokens: ${old!.evidence}` };
  return undefined;
}

/** @param current the traits that hold already; a trait with the same value is left out */
export function settingsOf(findings: Findings, current: Traits = {}): Settings {
  const traits = RULES.flatMap(({ trait, from, usual, value }): Setting[] => {
    const wanted = value(findings);
    const has = (current[trait] as Json | undefined) ?? usual;
    if (wanted === undefined || wanted === null || wanted === has) return [];
    return [{ name: trait, value: wanted, evidence: evidenceOf(findings[from]!) }];
  });
  const limit = limitField(findings);
  const noEmbeddings = findings.embeddings?.verdict === "refused";
  const embeds = { name: "embeds", value: {}, evidence: `no embeddings: ${findings.embeddings?.evidence}` };
  const does = doneBy(findings);
  const provider = [limit, noEmbeddings ? embeds : undefined, does].filter((one) => one !== undefined);
  return { provider, traits };
}

/** What the host does with the models that answered. */
function doneBy({ rerank, moderation }: Findings): Setting | undefined {
  const found = [
    ["rerank", "jina-rerank", "/rerank", rerank],
    ["moderation", "moderations", "/moderations", moderation],
  ] as const;
  const done = found.filter(([, , , finding]) => finding?.verdict === "yes");
  if (done.length === 0) return undefined;
  const value = Object.fromEntries(
    done.map(([kind, dialect, path, finding]) => [kind, { [dialect]: { path, models: [finding!.value!] } }]),
  );
  return {
    name: "does",
    value,
    evidence: done.map(([kind, , , finding]) => `${kind} ${finding!.evidence}`).join("; "),
  };
}

function evidenceOf({ verdict, evidence }: Finding): string {
  return verdict === "refused"
    ? `refused: ${evidence}`
    : verdict === "ignored"
      ? `ignored: ${evidence}`
      : evidence;
}
