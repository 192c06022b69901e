/** Clouds as `litellm_params` names them: their addresses are made of other settings. */
import type { SourceRequest } from "../draft.ts";
import { type HostMatch, placeOf } from "../hosts.ts";
import type { Reading } from "../reader.ts";
import type { SourceNode } from "../source.ts";
import { askedBy } from "./asks.ts";
import { bedrockRegion, type NamedModel, PREFIXES } from "./vendors.ts";

/** Reads members of `litellm_params`, and those of the credential that it names. */
export type Member = (name: string) => SourceNode | undefined;

/** A provider, and the request that LiteLLM sends to it. */
export interface Placed {
  place: HostMatch;
  asked?: SourceRequest;
}

/** The version that LiteLLM asks for without `api_version`. */
export const DEFAULT_VERSION = "${AZURE_API_VERSION:-2025-02-01-preview}";

/** @returns undefined for a prefix that is no cloud */
export function cloudPlace(
  environment: Reading["environment"],
  { prefix, model }: NamedModel,
  member: Member,
  base: string | undefined,
): Placed | undefined {
  const at = (provider: string, baseUrl?: string): Placed => ({
    place: { provider, isOwn: false, settings: baseUrl === undefined ? {} : { baseUrl } },
  });
  const plain = base?.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  if (prefix === "azure" || (prefix === "azure_ai" && /\.openai\.azure\.com\b/.test(plain ?? ""))) {
    const isOld = isDated(member);
    const given = prefix === "azure" && /\/chat\/completions$/.test(plain ?? "") ? undefined : plain;
    const root = (plain ?? environment.variable("AZURE_API_BASE", "url")).replace(/\/openai(\/.*)?$/, "");
    const asked = isOld && given !== undefined ? datedAsk(environment, given, member) : undefined;
    const place = at(isOld ? "azure-dated" : "azure", `${root}${isOld ? "/openai" : "/openai/v1"}`);
    return { ...place, ...(asked && { asked }) };
  }
  if (prefix === "azure_ai") return foundryPlace(model, plain, at);
  if (prefix === "vertex_ai" && OPEN_MODELS.test(model)) return at("vertex-openai", plain);
  const provider = PREFIXES[prefix] ?? "";
  if (provider === "vertex") return at(provider, plain);
  return provider === "bedrock" ? bedrockPlace(environment, model, member, at(provider, plain)) : undefined;
}

/** https://docs.litellm.ai/docs/providers/bedrock: the Converse API, unless the name or the model has another one. */
function bedrockPlace(
  environment: Reading["environment"],
  model: string,
  member: Member,
  at: Placed,
): Placed {
  const region = bedrockRegion(model) ?? member("aws_region_name")?.text;
  const endpoint = member("aws_bedrock_runtime_endpoint")?.text;
  const given = endpoint === undefined ? at.place.settings.baseUrl : environment.text(endpoint, "url");
  const own = region && `https://bedrock-runtime.${environment.text(region)}.amazonaws.com`;
  const base = given ?? own;
  if (base === undefined) return at;
  const operation = /^invoke\/|^amazon\.titan-text/.test(model) ? "invoke" : "converse";
  const url = `${base.replace(/\/+$/, "")}/model/{model}/${operation}`;
  // weir has no client of the Converse API: it is the translation that is asked about.
  return { ...at, asked: { format: "chat-completions", url } };
}

/** Models that Vertex serves in the format of OpenAI. */
const OPEN_MODELS = /^(meta|openai|deepseek-ai|qwen|mistralai|zai-org|moonshotai|minimaxai)\//;

function datedAsk(environment: Reading["environment"], root: string, member: Member): SourceRequest {
  const version = member("api_version")?.text;
  const written = version === undefined ? DEFAULT_VERSION : environment.text(version);
  const url = `${root}/openai/deployments/{model}/chat/completions?api-version=${written}`;
  return { format: "chat-completions", url };
}

/** https://docs.litellm.ai/docs/providers/azure_ai: resources of Foundry, and hosts of one model each. */
function foundryPlace(
  model: string,
  base: string | undefined,
  at: (provider: string, baseUrl?: string) => Placed,
): Placed {
  const isFoundry =
    base === undefined || /\.services\.ai\.azure\.com(?![^/])/.test(base) || base.includes("$");
  if (model.startsWith("claude"))
    return at("foundry", base?.replace(/(\/anthropic)?(\/v1\/messages)?$/, "/anthropic"));
  if (isFoundry) {
    const models = base?.replace(/(\/models)?(\/chat\/completions)?$/, "/models");
    const asked = { format: "chat-completions", url: `${models}/chat/completions` };
    return { ...at("foundry-models", models), ...(models !== undefined && { asked }) };
  }
  const asked = askedBy("azure_ai", base)!;
  return { asked, place: placeOf(asked, new Map()) };
}

/** A dated version of Azure's API, as opposed to `/openai/v1`. Without one LiteLLM takes it from the environment. */
function isDated(member: Member): boolean {
  const version = member("api_version")?.text;
  return version === undefined || !["v1", "latest", "preview"].includes(version);
}
