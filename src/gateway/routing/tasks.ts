/** What models do at their providers: text from conversations, embeddings, kinds. */
import { isHosted, servedKinds } from "../../core/does.ts";
import type { Format } from "../../core/format.ts";
import type { ModelFacts } from "../../core/model-facts.ts";
import type { KindEndpoint } from "../../core/kind.ts";
import { hasRequests, type KnownKind } from "../../core/model-kind.ts";
import { matchesAny, ownNamesOf } from "../../core/model-pattern.ts";
import type { Provider } from "../../core/provider.ts";

type Kinds = ReadonlyMap<string, KnownKind>;

const CHAT = "chat";
const EMBEDDING = "embedding";
const COMPLETION = "completion";

export interface Tasks {
  /** What weir sends to the provider for the model: `chat`, `embedding`, ids of kinds, in this order. */
  does: readonly string[];
  /** The provider or the config says it of this model; otherwise it is what the provider does for some model. */
  isSure: boolean;
}

/** What a provider does with a model, by its declaration alone. */
export function tasksOf(provider: Provider, model: string, kinds: Kinds): Tasks {
  const names = ownNamesOf(provider.name, model);
  const all = declaredTasks(provider, names);
  const said = provider.modelDoes?.find(({ models }) => matchesAny(models, names))?.does;
  if (said) return { does: tasksIn(all).filter((task) => said.some((one) => one === task)), isSure: true };
  const alone = all.filter(({ task, isNamed }) => isNamed && isExclusive(task, kinds));
  return { does: tasksIn(alone.length > 0 ? alone : all), isSure: alone.length > 0 };
}

interface DeclaredTask {
  task: string;
  /** Globs of an endpoint name the model. */
  isNamed: boolean;
}

function tasksIn(declared: readonly DeclaredTask[]): string[] {
  return declared.map(({ task }) => task);
}

function declaredTasks(provider: Provider, names: readonly string[]): DeclaredTask[] {
  const { speaks, generate, embeds, embed, does } = provider;
  const isProgram = { isNamed: false };
  return [
    ...(speaks || generate ? [{ task: CHAT, ...isProgram }] : []),
    ...(embed ? [{ task: EMBEDDING, ...isProgram }] : taskAt(EMBEDDING, embeds ?? {}, names)),
    ...servedKinds(does).flatMap(([kind, served]) =>
      isHosted(served) ? taskAt(kind, served, names) : { task: kind, ...isProgram },
    ),
  ];
}

/** The task if one of its endpoints serves the model. */
function taskAt(
  task: string,
  endpoints: Readonly<Record<string, string | Pick<KindEndpoint, "models">>>,
  names: readonly string[],
): DeclaredTask[] {
  const globs = Object.values(endpoints).map((one) => (typeof one === "string" ? undefined : one.models));
  const isNamed = globs.some((models) => models && matchesAny(models, names));
  return isNamed || globs.includes(undefined) ? [{ task, isNamed }] : [];
}

/** Whether models that an endpoint of the task names do nothing else. */
function isExclusive(task: string, kinds: Kinds): boolean {
  return task === EMBEDDING || kinds.get(task)?.gives?.length === 0;
}

/** What a model does, by the declaration of its provider and by what is known about the model. */
export function knownTasks(
  { does, isSure }: Tasks,
  facts: ModelFacts | undefined,
  kinds: Kinds,
): readonly string[] {
  if (isSure || !facts) return does;
  const { does: known, output } = facts;
  if (known) return does.filter((task) => known.includes(task));
  return output ? does.filter((task) => fits(task, output, kinds)) : does;
}

function fits(task: string, output: NonNullable<ModelFacts["output"]>, kinds: Kinds): boolean {
  if (task === EMBEDDING) return output.includes("embedding");
  const kind = kinds.get(task);
  // What is no kind has a format, whose answers are text.
  if (!kind) return output.includes("text");
  return kind.gives === undefined || kind.gives.some((one) => output.includes(one));
}

/** The task of an operation. */
export function taskOfOperation(operation: string): string {
  return operation === "generate" ? CHAT : operation === "embed" ? EMBEDDING : operation;
}

/** The operation of a task. */
export function operationOf(task: string): string {
  return task === CHAT ? "generate" : task === EMBEDDING ? "embed" : task;
}

/** What the providers of models do with them, by their declarations: the first is what most of their requests ask. */
export function operationsOf(
  served: readonly { provider: Provider; model: string }[],
  kinds: Kinds,
): string[] {
  const each = served.map(({ provider, model }) => tasksOf(provider, model, kinds).does);
  return [...new Set(each.flat())].map(operationOf);
}

/** What a provider lacks for a task, as the middle of a sentence. */
function lackOf(task: string, kinds: Kinds): string {
  return kinds.get(task)?.lacks ?? LACKS[task] ?? `does no ${task}`;
}

const LACKS: Readonly<Record<string, string>> = {
  [CHAT]: "generates no text",
  [EMBEDDING]: "serves no embeddings",
  [COMPLETION]: "completes no prompts",
};

/** What weir has, for the paths that a message names. */
export interface Known {
  formats: ReadonlyMap<string, Format>;
  kinds: Kinds;
}

/** That a provider does not do with a model what a client asks, and where the client asks for what the model does. */
export function taskFault(
  asked: { provider: Provider; name: string; model: string; task: string; dialect: string },
  known: Known,
): string {
  const { provider, name, model, task, dialect } = asked;
  const lack = `The provider ${provider.name} ${lackOf(task, known.kinds)} with the model \`${name}\``;
  const other = (provider.catalog ?? []).find((one) => {
    const { does, isSure } = tasksOf(provider, one, known.kinds);
    return isSure && does.includes(task);
  });
  const instead = other === undefined ? "" : `, but with \`${provider.name}/${other}\``;
  const { does, isSure } = tasksOf(provider, model, known.kinds);
  // What completes no prompts and may chat is a model for conversations more often than not.
  const isClear = isSure || does.length === 1 || (task === COMPLETION && does[0] === CHAT);
  const way = isClear ? wayOf(does[0], name, dialect, known) : "";
  return `${lack}${instead}${way}.`;
}

/** Where clients ask for a task, as the end of a sentence; empty where weir serves it nowhere. */
function wayOf(task: string | undefined, name: string, dialect: string, known: Known): string {
  const sessions = known.kinds.get(task ?? "")?.sessionsAt;
  if (sessions !== undefined) return `; open a WebSocket at ${sessions}?model=${name}`;
  const path = pathOf(task, dialect, known);
  return path === undefined ? "" : `; send \`${name}\` to POST ${path.replace(/\{\+?model\}/, name)}`;
}

/** Where clients ask for a task: clients of a format or dialect at its own path, if it has one. */
function pathOf(task: string | undefined, dialect: string, { formats, kinds }: Known): string | undefined {
  const kind = kinds.get(task ?? "");
  if (hasRequests(kind)) return kind.routes[0]?.path;
  const ways = [...formats.values()].flatMap(({ id, kind: own = CHAT, client }) => {
    if (!client) return [];
    const { routes, beside } = client;
    const embeds = beside.embeds?.[0];
    const path = task === EMBEDDING ? embeds?.path : task === own ? routes.path : undefined;
    return path === undefined ? [] : [{ path, isOwn: id === dialect || embeds?.dialect === dialect }];
  });
  return (ways.find(({ isOwn }) => isOwn) ?? ways[0])?.path;
}
