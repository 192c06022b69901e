/** Rules a schema cannot state, over the parts of a config file. Each yields its faults with paths. */
import { baseUrlFault, hostFault } from "./address.ts";
import type { Path } from "./error.ts";
import { MODEL_NAME, PROVIDER_NAME } from "./schema.ts";
import type { Fault } from "./shape.ts";

/** Values as they are written: secrets are still texts, any option may be absent. */
export interface Written {
  host?: string;
  providers?: Record<string, WrittenProvider>;
  aliases?: Record<string, string>;
  plugins?: { dir?: string };
}

interface WrittenProvider {
  apiKey?: string;
  baseUrl?: string;
  models?: string[];
  headers?: Record<string, string>;
}

/** Headers the gateway sets itself; another value would break or bypass it (RFC 9110, RFC 9112). */
const OWN_HEADERS = new Set(
  "host connection content-length content-type transfer-encoding te trailer upgrade expect keep-alive".split(
    " ",
  ),
);

/** Every fault a schema cannot find. */
export function findMistakes(written: Written): Fault[] {
  return [
    ...(written.host === undefined ? [] : asFault(["host"], hostFault(written.host))),
    ...asFault(["plugins", "dir"], written.plugins?.dir === "" ? "dir is empty" : undefined),
    ...Object.entries(written.providers ?? {}).flatMap(([name, provider]) => providerFaults(name, provider)),
    ...aliasFaults(written.aliases ?? {}),
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
    ...asFault([...base, "apiKey"], clauseOf("apiKey", secretFault(provider.apiKey))),
    ...asFault(
      [...base, "baseUrl"],
      clauseOf("baseUrl", provider.baseUrl === undefined ? undefined : baseUrlFault(provider.baseUrl)),
    ),
    ...(provider.models ?? []).flatMap((pattern, index) =>
      asFault([...base, "models", index], clauseOf(`models[${index}]`, patternFault(pattern))),
    ),
    ...Object.entries(provider.headers ?? {}).flatMap(([header, value]) =>
      asFault([...base, "headers", header], headerFault(header, value)),
    ),
  ];
}

function clauseOf(name: string, fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : `${name} ${fault}`;
}

/** What is wrong with a credential; undefined when nothing is. Never repeats it. */
export function secretFault(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (text.trim() === "") return "is empty; leave it out to use none";
  if (!/^[\x21-\x7e]+$/.test(text))
    return "must consist of visible ASCII characters, or no header could carry it";
  return undefined;
}

function patternFault(pattern: string): string | undefined {
  if (pattern === "") return "is empty";
  return /^[\w.:/@+*-]{1,200}$/.test(pattern) ? undefined : "must be a model name or a pattern with *";
}

function headerFault(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name))
    return "a header's name must consist of letters, digits and dashes";
  if (OWN_HEADERS.has(name.toLowerCase())) return `header ${name} is set by the gateway itself`;
  return /^[\t\x20-\x7e]*$/.test(value)
    ? undefined
    : `header ${name} must have a value of printable ASCII characters`;
}

function aliasFaults(aliases: Record<string, string>): Fault[] {
  return Object.entries(aliases).flatMap(([alias, target]) => {
    const path = ["aliases", alias];
    if (!MODEL_NAME.test(alias)) return asFault(path, "an alias must be a model name without spaces");
    if (!MODEL_NAME.test(target)) return asFault(path, `${alias} must stand for a model name without spaces`);
    return asFault(
      path,
      followAlias(aliases, alias) === undefined ? `${alias} leads back to itself` : undefined,
    );
  });
}

/** The model name at the end of a chain of aliases; undefined when the chain is a circle. */
export function followAlias(aliases: Readonly<Record<string, string>>, alias: string): string | undefined {
  const seen = new Set<string>();
  let name = alias;
  while (Object.hasOwn(aliases, name)) {
    if (seen.has(name)) return undefined;
    seen.add(name);
    name = aliases[name] ?? name;
  }
  return name;
}
