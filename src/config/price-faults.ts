/** Rules of the section `prices` that a schema cannot express. */
import type { Fault, Path } from "./error.ts";

/** The provider's name of a model, alone or behind the name of the provider and a slash. A `*` stands for any text. */
const TARGET = /^\S{1,200}$/;

/** Names that can match no model, and groups without what a price needs. */
export function priceFaults(written: Record<string, unknown> = {}): Fault[] {
  return Object.entries(written).flatMap(([name, setting]) => {
    const path: Path = ["prices", name];
    const clause = TARGET.test(name)
      ? settingFault(name, setting)
      : `${JSON.stringify(name)} must be a model or a pattern over models, such as "openai/gpt-5.4" or "ollama/*"`;
    return clause === undefined ? [] : [{ path, clause }];
  });
}

function settingFault(name: string, setting: unknown): string | undefined {
  if (typeof setting !== "object" || setting === null) return undefined;
  const { length: members } = Object.keys(setting);
  if ("discount" in setting)
    return members === 1 ? undefined : `the price of "${name}" must be a discount or prices, not both`;
  const missing = ["input", "output"].filter((member) => !(member in setting));
  return missing.length === 0 ? undefined : `the price of "${name}" has no ${missing.join(" and no ")}`;
}
