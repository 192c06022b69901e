/** In which format a host is asked: the client's own where it speaks it, else the one its provider prefers. */
import type { Deployment, Provider, Target } from "../../core/provider.ts";
import type { Rule } from "./precedence.ts";
import { describeRule } from "./precedence.ts";

export class SpokenFormats {
  /** Formats that a host was found not to speak, although its provider declares them. */
  readonly #lacking = new Map<Deployment, Set<string>>();

  noteLacking(deployment: Deployment, format: string): void {
    const lacking = this.#lacking.get(deployment) ?? new Set();
    this.#lacking.set(deployment, lacking.add(format));
  }

  /** The target a rule leads to at one deployment. @param prefix what led to the rule, for the reason */
  target(rule: Rule, deployment: Deployment, name: string, clientFormat: string, prefix: string): Target {
    const { provider, pattern } = rule;
    const model = pattern.strip(name);
    const reason = `${prefix}${describeRule(rule)}${rule.live ? "" : ` of ${provider.name}`}`;
    const program: Target = { provider, deployment, model, lane: "generated", format: "", url: "", reason };
    if (!provider.speaks) return program;
    const spoken = formatsFor(provider, clientFormat);
    const lacking = this.#lacking.get(deployment);
    const format = spoken.find((id) => !lacking?.has(id)) ?? spoken[0]!;
    const found = inFormat(program, format, clientFormat);
    return format === spoken[0]
      ? found
      : { ...found, reason: `${reason}; its host has no ${spoken[0]} endpoint` };
  }
}

/** The same place in the next format its provider declares; `undefined` when there is none. */
export function inNextFormat(target: Target, clientFormat: string): Target | undefined {
  const spoken = formatsFor(target.provider, clientFormat);
  const next = spoken[spoken.indexOf(target.format) + 1];
  return next === undefined ? undefined : inFormat(target, next, clientFormat);
}

/** Formats of a provider in the order they are tried: the client's own first, then as the provider prefers. */
function formatsFor({ speaks = {} }: Provider, clientFormat: string): string[] {
  const spoken = Object.keys(speaks);
  return spoken.includes(clientFormat)
    ? [clientFormat, ...spoken.filter((format) => format !== clientFormat)]
    : spoken;
}

function inFormat(target: Target, format: string, clientFormat: string): Target {
  const lane = format === clientFormat ? "native" : "translated";
  return { ...target, format, lane, url: target.deployment.baseUrl + target.provider.speaks![format]! };
}
