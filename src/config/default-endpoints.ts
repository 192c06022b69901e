/** Where hosts listen for which the config names only formats (`speaks: chat-completions`). */
import type { DefaultEndpoint } from "../core/default-endpoint.ts";
import type { SpokenPath } from "../core/endpoint.ts";
import type { Provider } from "../core/provider.ts";
import type { ProviderOptions } from "./sections/providers.ts";

/** By format id. */
export type DefaultEndpoints = Readonly<Record<string, DefaultEndpoint | undefined>>;

type SpeaksOption = NonNullable<ProviderOptions["speaks"]>;

/**
 * The paths of the formats. A format may have a path of its own at a host that speaks no other: the base URL then ends
 * without `/v1`.
 */
export function pathsOf(speaks: SpeaksOption, endpoints: DefaultEndpoints): Record<string, SpokenPath> {
  if (typeof speaks === "object" && !Array.isArray(speaks))
    return { ...(speaks as Record<string, SpokenPath>) };
  const formats = typeof speaks === "string" ? [speaks] : (speaks as readonly string[]);
  const alone = formats.every((format) => endpoints[format]?.alone ?? !endpoints[format]);
  return Object.fromEntries(
    formats.map((format) => {
      const { path = `/${format}`, alone: own } = endpoints[format] ?? {};
      return [format, (alone && own?.path) || path];
    }),
  );
}

/** How a host that speaks these formats frames its streams; absent if all of them are server-sent events. */
export function framingOf(
  formats: readonly string[],
  endpoints: DefaultEndpoints,
): Pick<Provider, "framing"> {
  const framings = formats.flatMap((format) => {
    const framing = endpoints[format]?.framing;
    return framing ? [[format, framing] as const] : [];
  });
  return framings.length > 0 ? { framing: Object.fromEntries(framings) } : {};
}

/** How a host gets the credential that speaks only these formats; absent for the default of a provider. */
export function authOf(formats: readonly string[], endpoints: DefaultEndpoints): Pick<Provider, "auth"> {
  const [auth, ...others] = formats.map((format) => endpoints[format]?.alone?.auth);
  return auth !== undefined && others.every((other) => other === auth) ? { auth } : {};
}

/** Where a host embeds that speaks these formats at their usual paths; absent if no format says. */
export function embedsOf(
  paths: Readonly<Record<string, SpokenPath>>,
  endpoints: DefaultEndpoints,
): Provider["embeds"] {
  const usual = Object.entries(paths).filter(([format, path]) => path === endpoints[format]?.path);
  const embeds = usual.map(([format]) => endpoints[format]?.embeds).filter((found) => found !== undefined);
  return embeds.length === 0 ? undefined : Object.assign({}, ...embeds);
}
