/**
 * What providers keep for keys of weir. All keys share the account of a provider, which serves every name of it, so the store of
 * answers has a row for each thing: whose it is, and which deployment and model have it.
 */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { KeptThing } from "../../core/model-kind.ts";
import type { Target } from "../../core/provider.ts";
import type { StoredAnswer } from "../../core/stored-answer.ts";
import type { Plan } from "../routing/plan.ts";
import { refusesUnknown } from "../stored/foreign.ts";
import { ownerOf } from "../stored/owner.ts";
import { reading } from "../stored/reading.ts";
import type { Gateway } from "../types.ts";

/** A thing of the caller, as weir knows it. */
export interface Kept {
  name: string;
  /** The model as the client that made it named it. */
  asked: string;
  deployment: string;
  /** The provider's name of the model. */
  model: string;
  /** What the provider said of it last. */
  facts: JsonObject;
  /** Milliseconds since 1970. */
  created: number;
  expires: number;
}

/** How long a row may take: the provider charges what it keeps, also if weir could not say whose it is. Milliseconds. */
const COMMIT_MS = 5_000;

type Store = Pick<Gateway, "answers" | "answerOptions">;

/** @throws GatewayError if weir could not say afterwards whose the thing is */
export function assertCanKeep(call: Call, { answers, answerOptions }: Store): void {
  if (answers || !refusesUnknown(call, answerOptions)) return;
  throw new GatewayError(
    "invalid-request",
    "weir has no store in which it could note whose the cached content is: name a state folder with `--state`.",
    { code: "no_store", shouldRetry: false },
  );
}

/** @returns whether the row is stored; true where weir has no store and its callers need no keys */
export async function keep(thing: KeptThing, call: Call, target: Target, store: Store): Promise<boolean> {
  const now = Date.now();
  return put(
    {
      ...{ name: thing.name, facts: thing.facts, expires: thing.expires, created: now },
      ...{ asked: call.model, deployment: target.deployment.name, model: target.model },
    },
    call,
    store,
  );
}

/** Writes a row anew. */
export async function put(kept: Kept, call: Call, { answers }: Store): Promise<boolean> {
  if (!answers) return true;
  const { name, facts, asked, deployment, model, created, expires } = kept;
  const row: StoredAnswer = {
    ...{ id: name, owner: ownerOf(call), deployment, model: asked, status: "kept", created, expires },
    ...{ body: { facts, model }, input: [], output: [] },
  };
  return (await answers.put(row, COMMIT_MS).catch(() => "failed")) === "stored";
}

/** @throws GatewayError `overloaded` while the store does not answer */
export async function findKept(name: string, call: Call, store: Store): Promise<Kept | undefined> {
  const row = await reading(store, (answers) => answers.get(name, ownerOf(call)));
  return row && keptOf(row);
}

/** Things of the caller in the order of their names. @param after behind this name alone */
export async function listKept(
  prefix: string,
  call: Call,
  store: Store,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<readonly Kept[]> {
  const rows = await reading(store, (answers) => answers.list(prefix, ownerOf(call), limit, after));
  return (rows ?? []).flatMap((row) => keptOf(row) ?? []);
}

function keptOf({ id, body, model, deployment, created, expires }: StoredAnswer): Kept | undefined {
  const facts = body?.["facts"];
  if (deployment === undefined || !isObject(facts)) return undefined;
  return { name: id, asked: model, deployment, model: String(body!["model"]), facts, created, expires };
}

/**
 * The part of a plan that has the thing: one deployment with one model, without a fallback.
 * @param param member of the request that names it @throws GatewayError if the plan does not have it
 */
export function narrowTo({ name, deployment, model }: Kept, plan: Plan, param?: string): Plan {
  const all = [plan.choices, ...plan.fallbacks, ...plan.larger].flat();
  const choice = all.find(({ target }) => target.deployment.name === deployment && target.model === model);
  if (choice) return { choices: [choice], fallbacks: [], larger: [] };
  throw new GatewayError(
    "invalid-request",
    `\`${name}\` is kept at ${deployment} for the model ${model}, which does not serve this request; name a model that stands for it, or make the request without it.`,
    { code: "cached_content_elsewhere", ...(param !== undefined && { param }), shouldRetry: false },
  );
}

/** The same for an unknown thing and for one of another key. */
export function notKept(name: string): GatewayError {
  return new GatewayError(
    "not-found",
    `There is no \`${name.slice(0, 200)}\` of this key: it has expired, was deleted, or was never made.`,
    { code: "cached_content_not_found", shouldRetry: false },
  );
}
