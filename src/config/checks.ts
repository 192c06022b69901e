/** Rules that a schema cannot express. Each function returns faults with their paths. */
import { baseUrlFault, hostFault, originFault } from "./address.ts";
import type { Fault, Path } from "./error.ts";
import { ALIAS_NAME, MODEL_NAME, MODEL_PATTERN, PROVIDER_NAME } from "./schema.ts";
import { setFaults, type WrittenSets } from "./model-sets.ts";
import { priceFaults } from "./price-faults.ts";
import { retryFaults, type WrittenPolicies } from "./retry-faults.ts";
import { slowness } from "./slow-expression.ts";
import { telemetryFaults } from "./telemetry-faults.ts";

/** Values as the file contains them: secrets are texts, any option may be absent. */
export interface Written
  extends WrittenPolicies, Pick<WrittenSets, "modelSets" | "keys" | "budgets" | "rates" | "routing"> {
  host?: string;
  providers?: Record<string, WrittenProvider>;
  aliases?: Record<string, string>;
  routes?: Record<string, WrittenTarget[]>;
  fallbacks?: Record<string, WrittenTarget[]>;
  models?: Record<string, { body?: Record<string, unknown> } & WrittenPolicies>;
  plugins?: { dir?: string };
  cors?: { origins?: string[] };
  listen?: { unix?: string };
  tape?: { ignore?: string[]; mask?: string[] };
  capture?: { mask?: string[] };
  prices?: Record<string, unknown>;
  traces?: { to?: string; headers?: Record<string, string> };
  alerts?: { to?: string }[];
}

type WrittenTarget = string | { model: string };

interface WrittenDeployment {
  apiKey?: string;
  baseUrl?: string;
  variables?: Record<string, string>;
  secrets?: Record<string, string>;
}

interface WrittenProvider extends WrittenDeployment {
  deployments?: (WrittenDeployment & { name: string })[];
  models?: string[];
  headers?: Record<string, string>;
}

/** Headers that the gateway sets itself; another value would break the request's framing (RFC 9110, RFC 9112). */
const OWN_HEADERS = new Set(
  "host connection content-length content-type transfer-encoding te trailer upgrade expect keep-alive accept accept-encoding".split(
    " ",
  ),
);

/** All faults that the schema cannot find. */
export function findMistakes(written: Written): Fault[] {
  const ends = aliasEnds(written.aliases ?? {});
  return [
    ...(written.host === undefined ? [] : asFault(["host"], hostFault(written.host))),
    ...(written.cors?.origins ?? []).flatMap((origin, index) =>
      asFault(["cors", "origins", index], clauseOf(`origins[${index}]`, originFault(origin))),
    ),
    ...asFault(["listen", "unix"], written.listen?.unix === "" ? "unix is empty" : undefined),
    ...(["ignore", "mask"] as const).flatMap((name) =>
      (written.tape?.[name] ?? []).flatMap((pattern, index) =>
        asFault(["tape", name, index], expressionFault(pattern)),
      ),
    ),
    ...(written.capture?.mask ?? []).flatMap((pattern, index) =>
      asFault(["capture", "mask", index], expressionFault(pattern)),
    ),
    ...asFault(["plugins", "dir"], written.plugins?.dir === "" ? "dir is empty" : undefined),
    ...Object.entries(written.providers ?? {}).flatMap(([name, provider]) => providerFaults(name, provider)),
    ...aliasFaults(written.aliases ?? {}, ends),
    ...routeFaults(written, ends),
    ...Object.entries(written.fallbacks ?? {}).flatMap(([name, targets]) => fallbackFaults(name, targets)),
    ...Object.entries(written.models ?? {}).flatMap(([name, settings]) => settingsFaults(name, settings)),
    ...setFaults(written),
    ...retryFaults([], written),
    ...Object.entries(written.models ?? {}).flatMap(([name, settings]) =>
      retryFaults(["models", name], settings, written),
    ),
    ...priceFaults(written.prices),
    ...Object.entries(written.traces?.headers ?? {}).flatMap(([header, value]) =>
      asFault(["traces", "headers", header], headerFault(header, value)),
    ),
    ...telemetryFaults(written),
  ];
}

function asFault(path: Path, clause: string | undefined): Fault[] {
  return clause === undefined ? [] : [{ path, clause }];
}

function providerFaults(name: string, provider: WrittenProvider): Fault[] {
  const base = ["providers", name];
  if (!PROVIDER_NAME.test(name)) {
    return asFault(base, "a provider's name must consist of lower-case letters, digits and dashes");
  }
  return [
    ...deploymentFaults(base, provider),
    ...(provider.deployments ?? []).flatMap((deployment, index, all) => [
      ...deploymentFaults([...base, "deployments", index], deployment),
      ...asFault(
        [...base, "deployments", index, "name"],
        all.findIndex(({ name }) => name === deployment.name) < index
          ? `the deployment ${deployment.name} is defined twice`
          : undefined,
      ),
    ]),
    ...(provider.models ?? []).flatMap((pattern, index) =>
      asFault([...base, "models", index], clauseOf(`models[${index}]`, patternFault(pattern))),
    ),
    ...Object.entries(provider.headers ?? {}).flatMap(([header, value]) =>
      asFault([...base, "headers", header], headerFault(header, value)),
    ),
  ];
}

function deploymentFaults(
  base: Path,
  { apiKey, baseUrl, variables = {}, secrets = {} }: WrittenDeployment,
): Fault[] {
  return [
    ...Object.entries(variables).flatMap(([name, value]) =>
      asFault([...base, "variables", name], value.trim() === "" ? `${name} is empty` : undefined),
    ),
    ...Object.entries(secrets).flatMap(([name, value]) =>
      asFault([...base, "secrets", name], value.trim() === "" ? `${name} is empty` : undefined),
    ),
    ...asFault([...base, "apiKey"], clauseOf("apiKey", secretFault(apiKey))),
    ...asFault(
      [...base, "baseUrl"],
      clauseOf("baseUrl", baseUrl === undefined ? undefined : baseUrlFault(baseUrl)),
    ),
  ];
}

function clauseOf(name: string, fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : `${name} ${fault}`;
}

/** The fault of a credential; undefined when there is none. Never contains the credential. */
export function secretFault(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (text.trim() === "") return "is empty; remove it to use no credential";
  if (!/^[\x21-\x7e]+$/.test(text))
    return "must consist of visible ASCII characters, because it is sent in a header";
  return undefined;
}

function patternFault(pattern: string): string | undefined {
  if (pattern === "") return "is empty";
  return MODEL_PATTERN.test(pattern) ? undefined : "must be a model name or a pattern with *";
}

/** The fault of a text that does not match {@link MODEL_NAME}. */
function nameFault(name: string): string {
  if (name === "") return "is empty";
  if (/\s/.test(name)) return "must be a model name without spaces";
  if (name.includes("*")) return "must be a model name without *";
  if (name.length > 200) return "must be a model name of at most 200 characters";
  return "must be a model name of letters, digits and . : / @ + - _";
}

function headerFault(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name))
    return "a header's name must consist of letters, digits and dashes";
  if (OWN_HEADERS.has(name.toLowerCase())) return `header ${name} is set by weir and cannot be configured`;
  return /^[\t\x20-\x7e]*$/.test(value)
    ? undefined
    : `header ${name} must have a value of printable ASCII characters`;
}

function aliasFaults(aliases: Record<string, string>, ends: AliasEnds): Fault[] {
  return Object.entries(aliases).flatMap(([alias, target]) => {
    const path = ["aliases", alias];
    if (!ALIAS_NAME.test(alias)) return asFault(path, `an alias ${nameFault(alias)}`);
    if (!MODEL_NAME.test(target))
      return asFault(path, `the model that ${alias} resolves to ${nameFault(target)}`);
    return asFault(path, ends.get(alias) === undefined ? `${alias} resolves to itself` : undefined);
  });
}

/** A route may list models, not routes: nested routes could form a cycle. */
function routeFaults({ routes = {}, aliases = {} }: Written, ends: AliasEnds): Fault[] {
  return Object.entries(routes).flatMap(([route, targets]) => {
    if (!MODEL_NAME.test(route)) return asFault(["routes", route], `the name of a route ${nameFault(route)}`);
    if (Object.hasOwn(aliases, route)) return asFault(["routes", route], `${route} is already an alias`);
    return targets.flatMap((target, index) => {
      const model = modelOf(target);
      const path = ["routes", route, index];
      if (!MODEL_NAME.test(model)) return asFault(path, `the model in route ${route} ${nameFault(model)}`);
      const meant = ends.get(model) ?? model;
      if (meant === route) return asFault(path, `the route ${route} contains itself`);
      return asFault(
        path,
        Object.hasOwn(routes, meant)
          ? `the route ${route} must list models, but ${model} is a route; list that route's models instead`
          : undefined,
      );
    });
  });
}

function modelOf(target: WrittenTarget): string {
  return typeof target === "string" ? target : target.model;
}

function fallbackFaults(name: string, targets: readonly WrittenTarget[]): Fault[] {
  const fault = patternFault(name);
  if (fault) return asFault(["fallbacks", name], `a fallback's name ${fault}`);
  return targets.flatMap((target, index) => {
    const path = ["fallbacks", name, index];
    const model = modelOf(target);
    if (model === name) return asFault(path, `${name} falls back to itself`);
    return asFault(path, MODEL_NAME.test(model) ? undefined : `the fallback of ${name} ${nameFault(model)}`);
  });
}

/** What the client, the format or the price of a call decides. */
const NOT_IN_BODY =
  /^(model|stream\w*|messages|input|contents|system|instructions|tools|n|max_\w*tokens|generationConfig|service_?tier|speed|web_search\w*|mcp_servers)$/i;

function settingsFaults(name: string, { body = {} }: { body?: Record<string, unknown> }): Fault[] {
  const fault = patternFault(name);
  if (fault) return asFault(["models", name], `the name of a model ${fault}`);
  const refused = Object.keys(body).find((member) => NOT_IN_BODY.test(member));
  return asFault(
    ["models", name, "body", refused ?? ""],
    refused && `${refused} cannot be added to a request; only set and force change what a call may cost`,
  );
}

/** The model name at the end of each chain of aliases; undefined when the chain is a cycle. */
export type AliasEnds = ReadonlyMap<string, string | undefined>;

/** Resolves all aliases. Each chain is followed once, so the cost is linear in the number of aliases. */
export function aliasEnds(aliases: Readonly<Record<string, string>>): AliasEnds {
  const ends = new Map<string, string | undefined>();
  for (const alias of Object.keys(aliases)) {
    const chain = new Set<string>();
    let name = alias;
    while (Object.hasOwn(aliases, name) && !ends.has(name) && !chain.has(name)) {
      chain.add(name);
      name = aliases[name]!;
    }
    const end = ends.has(name) ? ends.get(name) : chain.has(name) ? undefined : name;
    for (const link of chain) ends.set(link, end);
  }
  return ends;
}

function expressionFault(pattern: string): string | undefined {
  if (pattern === "") return "the pattern is empty";
  try {
    new RegExp(pattern);
    const clause = slowness(pattern);
    return clause === undefined ? undefined : `the pattern ${JSON.stringify(pattern)} is refused: ${clause}`;
  } catch (cause) {
    return cause instanceof Error ? `the pattern is not valid: ${cause.message}` : "the pattern is not valid";
  }
}
