/** Which of the declared providers are on, and which are off. */
import type { KnownDialects } from "./kind-fault.ts";
import type { Format } from "../../core/format.ts";
import type { ActiveProvider, Provider } from "../../core/provider.ts";
import type { ProviderSettings } from "../../core/settings.ts";
import {
  activate,
  checkProvider,
  collectProviders,
  type LoadedPlugin,
  type OffProvider,
  unset,
} from "./activate.ts";

/** Declarations of plugins, and settings of the operator. */
export interface Declared {
  plugins: readonly LoadedPlugin[];
  settings(provider: Provider): ProviderSettings;
  /** Whether a built-in host is off because nothing is known of it; weir then reads its settings only to say why. */
  isUnset?(provider: Provider): boolean;
  /** Whether the operator has set anything of a built-in provider. */
  isConfigured?(provider: Provider): boolean;
}

/** @throws Error for a mistake in a declaration or in the settings of a provider */
export function sortProviders(
  options: Declared,
  formats: ReadonlyMap<string, Format>,
  known: KnownDialects,
): { active: ActiveProvider[]; off: OffProvider[] } {
  const active: ActiveProvider[] = [];
  const off: OffProvider[] = [];
  for (const [name, { provider, source }] of collectProviders(options.plugins)) {
    if (source === "built-in" && options.isUnset?.(provider)) {
      off.push(unset(provider, source, () => options.settings(provider)));
      continue;
    }
    const settings = options.settings(provider);
    const speaks = settings.speaks ?? provider.speaks;
    const embeds = settings.embeds ?? provider.embeds;
    const does = settings.does ?? provider.does;
    checkProvider(name, { ...provider, speaks, embeds, does }, source, formats, known, settings);
    const activated = activate(provider, source, settings);
    if ("reason" in activated)
      off.push({
        ...activated,
        configured: source !== "built-in" || options.isConfigured?.(provider) === true,
      });
    else active.push(activated);
  }
  return { active, off };
}
