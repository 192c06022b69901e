/** The endpoints of a deployment: its variables, its base URL and the URLs of its formats. */
import { isHosted, servedKinds } from "../../core/does.ts";
import { GatewayError } from "../../core/error.ts";
import type { Deployment, Provider, Target } from "../../core/provider.ts";
import type { DeploymentSettings, ProviderSettings } from "../../core/settings.ts";
import { variableName } from "../../core/settings.ts";
import { didYouMean } from "../../core/suggest.ts";
import { fillPath, fillTemplate, isDotSegment, pathsOf, placeholdersOf } from "../../core/template.ts";

/** The placeholder of the model name; no variable. */
const MODEL = "model";

type Values = Readonly<Record<string, string>>;

/** The settings of a provider and of one of its deployments. */
export interface Given {
  provider: Provider;
  settings: ProviderSettings;
  deployment: Pick<DeploymentSettings, "baseUrl" | "variables">;
}

/** The values of a deployment's variables, with those that the plugin finds and its defaults. */
export function variablesOf({ provider, settings, deployment }: Given): Values {
  const defaults = Object.entries(provider.variables ?? {}).flatMap(([name, variable]) =>
    variable.default === undefined ? [] : [[name, variable.default]],
  );
  const set: Values = { ...settings.variables, ...deployment.variables };
  const known = { ...(Object.fromEntries(defaults) as Values), ...set };
  const { env = {} } = settings;
  const found = Object.entries(provider.variables ?? {}).flatMap(([name, variable]) => {
    const value = set[name] === undefined ? variable.find?.({ variables: known, env }) : undefined;
    return value === undefined ? [] : [[name, value]];
  });
  return { ...known, ...(Object.fromEntries(found) as Values) };
}

/** Instruction for the variables without a value: `set ACME_REGION to the region`. */
export function missingVariables(given: Given, values: Values): string[] {
  const { name: provider, variables = {} } = given.provider;
  return neededVariables(given)
    .filter((name) => values[name] === undefined)
    .map((name) => {
      const { env = [], describe = "a value for its paths" } = variables[name] ?? {};
      return `set ${env[0] ?? `providers.${provider}.variables.${name}`} to ${describe}`;
    });
}

/** With another base URL than the plugin's, a variable that occurs only in the plugin's is not needed. */
function neededVariables({ provider, settings, deployment }: Given): string[] {
  const { authorize, baseUrl, variables = {} } = provider;
  const isReplaced = (deployment.baseUrl ?? settings.baseUrl) !== undefined;
  const onlyInPaths = isReplaced && !authorize && typeof baseUrl === "string";
  const required = Object.keys(variables).filter((name) => !onlyInPaths && !variables[name]!.optional);
  const templates = templatesOf(provider).map(([, path]) => path);
  if (!isReplaced && typeof baseUrl === "string") templates.push(baseUrl);
  const needed = new Set([...required, ...templates.flatMap(placeholdersOf)]);
  needed.delete(MODEL);
  return [...needed];
}

/** The plugin's own base URL for these values; undefined if it has none. @throws Error if its function fails */
export function ownBaseUrl({ name, baseUrl }: Provider, values: Values): string | undefined {
  if (typeof baseUrl !== "function") return baseUrl === undefined ? undefined : fillTemplate(baseUrl, values);
  try {
    return baseUrl(values);
  } catch (cause) {
    throw new Error(`The base URL of ${name} cannot be made from its variables.`, { cause });
  }
}

/** All path templates of a provider, each with its format or dialect. */
export function templatesOf({
  speaks = {},
  counting = {},
  embeds = {},
  does,
}: Provider): [format: string, path: string][] {
  const spoken = Object.entries(speaks).flatMap(([format, paths]) => {
    const { json, stream } = pathsOf(paths);
    return [...new Set([json, stream])].map((path): [string, string] => [format, path]);
  });
  const kinds = servedKinds(does).flatMap(([, served]) => (isHosted(served) ? Object.entries(served) : []));
  const others = [...Object.entries(counting), ...Object.entries(embeds), ...kinds].map(
    ([id, endpoint]): [string, string] => [id, typeof endpoint === "string" ? endpoint : endpoint.path],
  );
  return [...spoken, ...others];
}

/** The first fault in the paths and the base URL of a provider: a sentence; undefined if there is none. */
export function templateFault(provider: Provider, settings: ProviderSettings = {}): string | undefined {
  const variables = Object.keys({
    ...provider.variables,
    ...settings.variables,
    ...Object.assign({}, ...(settings.deployments ?? []).map((deployment) => deployment.variables)),
  });
  if (variables.includes(MODEL)) return "it has a variable named model, which stands for the model name.";
  for (const [format, path] of templatesOf(provider)) {
    const what = `the path of "${format}"`;
    if (!path.startsWith("/")) return `${what} must begin with a slash.`;
    if (path.includes("#")) return `${what} must not have a fragment.`;
    const fault = placeholderFault(path, [MODEL, ...variables]);
    if (fault !== undefined) return `${what} ${fault}`;
  }
  if (typeof provider.baseUrl !== "string") return undefined;
  const fault = placeholderFault(provider.baseUrl, variables);
  return fault === undefined ? undefined : `its baseUrl ${fault}`;
}

function placeholderFault(template: string, known: readonly string[]): string | undefined {
  const unknown = placeholdersOf(template).find((name) => !known.includes(name));
  if (unknown === undefined)
    return /[{}]/.test(fillTemplate(template, Object.fromEntries(known.map((name) => [name, ""]))))
      ? "holds a brace that belongs to no placeholder."
      : undefined;
  const names = known.map((name) => `{${name}}`).join(", ");
  const hint =
    didYouMean(unknown, known) || (names && `; the known ones are ${names}.`) || "; there are no variables.";
  return `holds the unknown placeholder {${unknown}}${hint}`;
}

/** The URLs of a format at a deployment. @throws GatewayError `not-found` for a model name that no path can hold */
export function urlsOf(
  { speaks }: Provider,
  deployment: Deployment,
  format: string,
  model: string,
): Pick<Target, "url" | "streamUrl"> {
  const { json, stream } = pathsOf(speaks![format]!);
  const fill = (path: string) => urlOfPath(path, deployment, model);
  return { url: fill(json), streamUrl: json === stream ? undefined : fill(stream) };
}

/** The URL of a path at a deployment. @throws GatewayError `not-found` for a model name that the path cannot hold */
export function urlOfPath(path: string, { baseUrl, variables }: Deployment, model: string): string {
  if (!path.includes("{")) return baseUrl + path;
  if (path.includes(`{${MODEL}}`) && isDotSegment(model)) throw unusableModel(model);
  return baseUrl + fillPath(path, { ...variables, model });
}

function unusableModel(model: string): GatewayError {
  return new GatewayError("not-found", `The model name \`${model}\` cannot be part of a URL.`, {
    code: "model_not_found",
    param: "model",
  });
}

/** The URL of a target for a request. @param streams whether the request asks for a stream */
export function urlOf({ url, streamUrl }: Target, streams: boolean): string {
  return streams ? (streamUrl ?? url) : url;
}

/** The URL of a path below another one, whose query stays behind it. @param below begins with a slash */
export function urlBelow(url: string, below: string): string {
  const end = url.indexOf("?");
  return end < 0 ? url + below : url.slice(0, end) + below + url.slice(end);
}

/** Instruction if a provider has no base URL. */
export function missingBaseUrl({ name, host }: Provider): string {
  return `set ${variableName(name, "BASE_URL")}${host ? ` or ${host.variable}` : ""} to the address of the server`;
}
