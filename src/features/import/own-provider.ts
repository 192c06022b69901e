/** Connections as providers that no plugin defines. */
import type { Provider } from "../../core/provider.ts";
import type { SourceConnection, ConnectionSettings } from "./draft.ts";

/**
 * The settings that make a connection of a plugin's provider one of its own.
 * @returns undefined if only the plugin can authorize its requests
 */
export function ownSettings(
  { provider, settings }: SourceConnection,
  vendors: ReadonlyMap<string, Provider>,
): ConnectionSettings | undefined {
  const vendor = vendors.get(provider);
  if (!vendor?.speaks) return undefined;
  const own = typeof vendor.baseUrl === "function" ? regionAt(vendor.baseUrl, settings) : vendor.baseUrl;
  const baseUrl = settings.baseUrl ?? own;
  if (baseUrl === undefined || baseUrl.includes("{")) return undefined;
  const common = {
    // The address has the region.
    ...(vendor.variables?.["region"] && { variables: undefined }),
    speaks: spokenAt(vendor),
    ...embedsAt(vendor),
    baseUrl,
    ...(vendor.traits?.maxTokensField && { maxTokensField: vendor.traits.maxTokensField }),
  };
  if (!vendor.authorize) {
    const isHeader = vendor.auth === "x-api-key" && settings.apiKey !== undefined;
    if (!isHeader) return common;
    return {
      ...{ ...common, apiKey: undefined },
      headers: { ...settings.headers, "x-api-key": settings.apiKey! },
    };
  }
  // Hosts of Azure take their key in a header of this name.
  if (!provider.startsWith("azure") || settings.apiKey === undefined) return undefined;
  return {
    ...{ ...common, apiKey: undefined },
    headers: { ...settings.headers, "api-key": settings.apiKey },
  };
}

/** The address of a vendor in the region of a connection. */
function regionAt(
  baseUrl: (variables: Record<string, string>) => string,
  { variables }: ConnectionSettings,
): string | undefined {
  return variables?.["region"] === undefined ? undefined : baseUrl(variables);
}

/** The formats of a provider as `speaks` of the config has them. */
function spokenAt({ speaks = {} }: Provider): unknown {
  const formats = Object.entries(speaks);
  const paths = formats.map(([format, path]) => [
    format,
    typeof path === "string" ? path : { json: path.json, ...(path.stream && { stream: path.stream }) },
  ]);
  return Object.fromEntries(paths) as unknown;
}

/** Where a provider embeds, as `embeds` of the config has it. */
function embedsAt({ embeds }: Provider): { embeds?: Record<string, string> } {
  const paths = Object.entries(embeds ?? {}).map(([dialect, at]) => [
    dialect,
    typeof at === "string" ? at : at.path,
  ]);
  return paths.length > 0 ? { embeds: Object.fromEntries(paths) as Record<string, string> } : {};
}
