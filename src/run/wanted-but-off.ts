/** The providers that the operator wants and that are off. */
import type { OffProvider, Registry } from "../gateway/routing/registry.ts";

/** Providers that the config, the environment or a plugin file configures, without those that the config turns off. */
export function wantedButOff({ off }: Pick<Registry, "off">): OffProvider[] {
  return off.filter(({ configured, turnedOff }) => configured && !turnedOff);
}
