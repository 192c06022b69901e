/**
 * What a request asks for: the members `model` and `stream` by the rules of the client's format, and the settings of its model in
 * the config, which are written into the request in the client's own format.
 */
import type { ClientRoutes, RequestCheck, RequestFacts, SettingMembers } from "../core/format.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { Registry } from "./routing/registry.ts";
import type { Call } from "../core/call.ts";
import type { ModelSettings, RequestSettings } from "../core/settings.ts";
import { editMembers, scanBody } from "../stream/scan.ts";
import { editsOf } from "./lanes/native-body.ts";
import type { Incoming } from "./types.ts";

/** A listed model keeps an ending that clients of the format may add to every name. */
export function modelAsked(
  name: string,
  { impliedEnding }: ClientRoutes,
  registry: Pick<Registry, "models">,
): string {
  if (impliedEnding === undefined || !name.endsWith(impliedEnding)) return name;
  const bare = name.slice(0, -impliedEnding.length);
  return bare === "" || registry.models().some(({ id }) => id === name) ? name : bare;
}

export function streamAsked(stream: Json | undefined, { streamsByDefault }: RequestCheck): boolean {
  return streamsByDefault ? stream !== false : stream === true;
}

/** No body that weir has accepted nests deeper. */
const MAX_DEPTH = 1_000;

type Source = Pick<Incoming, "call" | "bytes" | "body" | "spanOf"> & {
  format: { client: { facts: RequestFacts } };
};

/**
 * The request with the settings of its model. Everything after that sees the result: budgets, limits of keys, both lanes.
 * A value of the client that the config overrides is reported as a loss.
 */
export function withModelSettings<Request extends Source>(request: Request, registry: Registry): Request {
  const settings = registry.settingsOf(request.call.confined?.model ?? request.call.model);
  if (!settings?.set && !settings?.force) return request;
  const { bytes, body, call, format, spanOf } = request;
  const edits = editsOf(body, (view) => apply(view, settings, format.client.facts.settings ?? {}, call));
  if (edits.size === 0) return request;
  const edited = Buffer.concat(editMembers(bytes, edits, spanOf));
  const { members } = scanBody(edited, MAX_DEPTH);
  return {
    ...request,
    bytes: edited,
    body: withMembers(body, edits),
    spanOf: (name: string) => members.get(name),
  };
}

/** The body with some top-level members replaced. It may have members that the bytes lack, because the URL says them. */
function withMembers(body: JsonObject, edits: ReadonlyMap<string, string | undefined>): JsonObject {
  const edited = { ...body };
  for (const [name, text] of edits)
    if (text === undefined) delete edited[name];
    else edited[name] = JSON.parse(text) as Json;
  return edited;
}

function apply(
  body: JsonObject,
  { set = {}, force = {} }: ModelSettings,
  members: SettingMembers,
  call: Call,
): void {
  for (const [name, value] of Object.entries({ ...set, ...force })) {
    const word = name as keyof RequestSettings;
    const { at, unless = [] } = members[word] ?? { at: [] };
    const [first] = at;
    if (first === undefined) {
      call.reportLoss("dropped", `models.${word}`, "the client's format has no such option");
      continue;
    }
    const own = at.find((path) => read(body, path) != null);
    if (force[word] === undefined) {
      if (own === undefined && !unless.some((path) => read(body, path) != null))
        write(body, placeOf(body, at), value);
      continue;
    }
    if (own !== undefined && read(body, own) === value) continue;
    if (own !== undefined) call.reportLoss("dropped", own, "the config sets it for this model");
    for (const path of at) remove(body, path);
    write(body, own ?? placeOf(body, at), value);
  }
}

/** Where a value is written: into a group that the client has, in its spelling. */
function placeOf(body: JsonObject, at: readonly string[]): string {
  return at.find((path) => path.includes(".") && isObject(body[path.split(".")[0]!])) ?? at[0]!;
}

function read(body: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = body;
  for (const step of path.split(".")) value = isObject(value) ? value[step] : undefined;
  return value;
}

function write(body: JsonObject, path: string, value: Json): void {
  const steps = path.split(".");
  const last = steps.pop()!;
  let group = body;
  for (const step of steps) {
    const inner: Json | undefined = group[step];
    if (isObject(inner)) group = inner;
    else group[step] = group = {};
  }
  group[last] = value;
}

function remove(body: JsonObject, path: string): void {
  const steps = path.split(".");
  const last = steps.pop()!;
  const group = steps.length === 0 ? body : read(body, steps.join("."));
  if (isObject(group)) delete group[last];
}
