/** Which plugins keep calls out of the native lane, where the client's bytes pass. */
import type { Hooks } from "../../core/plugin.ts";
import type { Target } from "../../core/provider.ts";

/** Whether the hooks of a plugin edit requests or answers. */
export function editsCalls({ request, answer }: Hooks): boolean {
  return request !== undefined || answer !== undefined;
}

/** The lane of calls to a target, unless something in a call decides otherwise. @param hooks of all plugins */
export function usualLane({ lane }: Pick<Target, "lane">, hooks: readonly Hooks[]): Target["lane"] {
  return lane === "native" && hooks.some(editsCalls) ? "translated" : lane;
}
