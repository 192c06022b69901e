/** Chooses the format for a host: the client's if the provider declares it, else the provider's first. */
import { matchesModel, ownNamesOf } from "../../core/model-pattern.ts";
import type { ActiveProvider, Deployment, Provider, Target, Traits } from "../../core/provider.ts";
import { urlsOf } from "./endpoint.ts";
import { reasonOf, type Rule } from "./rules.ts";

export class SpokenFormats {
  /** Formats that a provider declares and its host turned out not to serve. */
  readonly #missing = new Map<Deployment, Set<string>>();

  noteMissing(deployment: Deployment, format: string): void {
    const missing = this.#missing.get(deployment) ?? new Set();
    this.#missing.set(deployment, missing.add(format));
  }

  /**
   * The target of a rule at one deployment; `undefined` if the provider only embeds.
   * @param prefix beginning of the target's reason: alias, route, fallback
   */
  target(
    rule: Rule,
    deployment: Deployment,
    name: string,
    clientFormat: string,
    prefix: string,
  ): Target | undefined {
    const { provider, pattern } = rule;
    const model = pattern.strip(name);
    const reason = prefix + reasonOf(rule);
    const traits = traitsFor(provider, model);
    const program: Target = {
      ...(traits && { traits }),
      ...(isFitted(provider, model) && { fitsNative: true as const }),
      ...{ provider, deployment, model, lane: "generated", format: "", url: "", reason },
    };
    if (provider.generate) return program;
    if (!provider.speaks) return undefined;
    const spoken = formatsFor(program, clientFormat);
    const missing = this.#missing.get(deployment);
    const format = spoken.find((id) => !missing?.has(id)) ?? spoken[0]!;
    const target = inFormat(program, format, clientFormat);
    return format === spoken[0]
      ? target
      : { ...target, reason: `${reason}; its host has no ${spoken[0]} endpoint` };
  }
}

/** Whether the config says what the host can and cannot do with a model. */
export function isFitted({ name, fitted }: ActiveProvider, model: string): boolean {
  return matchesAny(ownNamesOf(name, model), fitted);
}

function matchesAny(names: readonly string[], patterns: readonly string[] = []): boolean {
  return patterns.some((pattern) => matchesModel(pattern, names));
}

/** The deviations for a model, if some hold for it only. */
export function traitsFor({ name, traits, modelTraits = [] }: Provider, model: string): Traits | undefined {
  const special = modelTraits.filter(({ models }) => matchesAny(ownNamesOf(name, model), models));
  return special.length === 0
    ? undefined
    : (Object.assign({}, traits, ...special.map((entry) => entry.traits)) as Traits);
}

/** The same deployment in the provider's next format; `undefined` if there is none. */
export function inNextFormat(target: Target, clientFormat: string): Target | undefined {
  const spoken = formatsFor(target, clientFormat);
  const at = spoken.indexOf(target.format);
  const next = at < 0 ? undefined : spoken[at + 1];
  return next === undefined ? undefined : inFormat(target, next, clientFormat);
}

/** The formats of a target in the order of preference: the client's first, then the preferred one, then as declared. */
function formatsFor({ provider, deployment, model }: Target, clientFormat: string): string[] {
  const spoken = formatsOf(provider, model);
  const { prefers } = deployment;
  const wanted = [clientFormat, ...(prefers === undefined ? [] : [prefers]), ...spoken];
  const isOpen = (format: string) => format === clientFormat || !isForOwnClients(provider, format);
  return [...new Set(wanted)].filter((format) => spoken.includes(format) && isOpen(format));
}

function isForOwnClients({ speaks = {} }: Provider, format: string): boolean {
  const spoken = speaks[format];
  return typeof spoken === "object" && spoken.ownClientsOnly === true;
}

/**
 * The same deployment in a format that takes translated requests, where that of the target does not; `undefined` if there is
 * none, or the target's own takes them.
 */
export function inOpenFormat(target: Target): Target | undefined {
  if (!isForOwnClients(target.provider, target.format)) return undefined;
  const [format] = formatsFor(target, "");
  return format === undefined ? undefined : inFormat(target, format, target.format);
}

/** The formats in which a provider serves a model; all of them if it names none for the model. */
export function formatsOf({ name, speaks = {} }: Provider, model: string): string[] {
  const names = ownNamesOf(name, model);
  const all = Object.keys(speaks);
  const serving = all.filter((format) => {
    const spoken = speaks[format]!;
    return typeof spoken === "string" || isListed(names, spoken.models ?? []);
  });
  return serving.length > 0 ? serving : all;
}

function isListed(names: readonly string[], patterns: readonly string[]): boolean {
  const matches = (text: string) => matchesModel(text, names);
  const including = patterns.filter((text) => !text.startsWith("!"));
  const isExcluded = patterns.some((text) => text.startsWith("!") && matches(text.slice(1)));
  return !isExcluded && (including.length === 0 || including.some(matches));
}

function inFormat(target: Target, format: string, clientFormat: string): Target {
  const { provider, deployment } = target;
  const spoken = provider.speaks![format]!;
  const model = (typeof spoken === "string" ? undefined : spoken.modelFor?.(target.model)) ?? target.model;
  const lane = format === clientFormat ? "native" : "translated";
  return { ...target, model, format, lane, ...urlsOf(provider, deployment, format, model) };
}
