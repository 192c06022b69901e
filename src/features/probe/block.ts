/** Writes findings as a block for weir.yaml, with the evidence beside each option. */
import type { Json } from "../../core/json.ts";
import type { Setting, Settings } from "./settings.ts";
import type { Feature, Finding, Findings } from "./types.ts";

export interface BlockOptions {
  /** Name of the provider. */
  provider: string;
  model: string;
  /** Options that describe a host which the config does not know yet; absent for a known provider. */
  host?: { baseUrl: string; apiKeyEnv?: string; listsModels: boolean };
  /** The address of a known provider, where it is not the one of the plugin: a variable may have it. */
  baseUrl?: string;
  /** Time of the probe, for the first line. */
  date: string;
}

/** Findings that change no option, and are written as comments. */
const TOLD: readonly Feature[] = [
  "limit-headers",
  "parallel-tools",
  "system",
  "reasoning",
  "count-tokens",
  "tokenize",
  "responses",
  "messages",
  "error-shape",
  "wrong-key",
  "too-long",
];

export function writeBlock(findings: Findings, settings: Settings, options: BlockOptions): string {
  const { provider, model, host, baseUrl, date } = options;
  const address = baseUrl === undefined ? [] : [{ name: "baseUrl", value: baseUrl, evidence: "" }];
  const own: Setting[] = [...(host ? describeHost(host, model) : address), ...settings.provider];
  const lines = [
    comment(`weir probe, ${date}: ${model}`),
    "providers:",
    `  ${provider}:`,
    ...own.map((setting) => `    ${entry(setting)}`),
    ...traitLines(settings.traits, host ? undefined : model),
  ];
  const isEmpty = own.length + settings.traits.length === 0;
  if (isEmpty) lines.splice(1, 2, comment("nothing differs from what weir assumes; no option is needed"));
  return [
    ...lines,
    ...told(
      "found, and needs no option",
      findings,
      (feature, { verdict }) => verdict !== "unclear" && TOLD.includes(feature),
    ),
    ...told("unclear", findings, (_feature, { verdict }) => verdict === "unclear"),
  ].join("\n");
}

function describeHost(
  { baseUrl, apiKeyEnv, listsModels }: NonNullable<BlockOptions["host"]>,
  model: string,
): Setting[] {
  return [
    { name: "baseUrl", value: baseUrl, evidence: "" },
    { name: "speaks", value: "chat-completions", evidence: "" },
    ...(apiKeyEnv === undefined ? [] : [{ name: "apiKey", value: `\${${apiKeyEnv}}`, evidence: "" }]),
    ...(listsModels ? [] : [{ name: "models", value: [model], evidence: "the host lists no models" }]),
  ];
}

/** @param model the traits hold for this model only; absent: for all models of the provider */
function traitLines(traits: readonly Setting[], model: string | undefined): string[] {
  if (traits.length === 0) return [];
  if (model === undefined) return ["    traits:", ...traits.map((setting) => `      ${entry(setting)}`)];
  return [
    "    modelTraits:",
    `      - models: ${scalar([model])}`,
    "        traits:",
    ...traits.map((setting) => `          ${entry(setting)}`),
  ];
}

function told(
  title: string,
  findings: Findings,
  wanted: (feature: Feature, finding: Finding) => boolean,
): string[] {
  const found = (Object.entries(findings) as [Feature, Finding][]).filter(([feature, finding]) =>
    wanted(feature, finding),
  );
  if (found.length === 0) return [];
  return [
    comment(`${title}:`),
    ...found.map(([feature, { verdict, evidence }]) =>
      comment(`  ${feature}: ${verdict === "unclear" ? "" : `${verdict}, `}${evidence}`),
    ),
  ];
}

function entry({ name, value, evidence }: Setting): string {
  return `${name}: ${scalar(value)}${evidence === "" ? "" : ` # ${evidence}`}`;
}

/** Evidence is one line already. */
function comment(text: string): string {
  return `# ${text}`;
}

/** A value as YAML: plain where that is safe, else as JSON, which YAML contains. */
function scalar(value: Json): string {
  if (
    typeof value === "string" &&
    /^(?:https?:\/\/|\$\{)?[A-Za-z_][\w./:{}-]*$/.test(value) &&
    !/:(?:\s|$)/.test(value)
  )
    return value;
  if (Array.isArray(value)) return `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
  return JSON.stringify(value);
}
