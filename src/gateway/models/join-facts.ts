/** Joins what several sources say about one model, and what is known of several models that answer under one name. */
import type { Abilities, ModelFacts } from "../../core/model-facts.ts";

/** The facts of several sources: of each member, and of each ability, the first source that knows it counts. */
export function mergeFacts(sources: readonly (ModelFacts | undefined)[]): ModelFacts | undefined {
  const known = sources.filter((facts) => facts !== undefined);
  if (known.length === 0) return undefined;
  const backwards = known.toReversed();
  const abilities = Object.assign({}, ...backwards.map((facts) => facts.abilities)) as Abilities;
  return {
    ...(Object.assign({}, ...backwards) as ModelFacts),
    ...(Object.keys(abilities).length > 0 && { abilities }),
  };
}

/**
 * Facts that hold for each of several models: the smallest limits, what all of them take, give and can do, and a price that all
 * have. A fact that is unknown for one of them is unknown.
 */
export function commonFacts(models: readonly (ModelFacts | undefined)[]): ModelFacts | undefined {
  const [first, ...others] = models;
  if (others.length === 0) return first;
  const all = models.filter((facts) => facts !== undefined);
  if (all.length < models.length) return undefined;
  const common: ModelFacts = {
    ...ofAll("contextWindow", all, (values) => Math.min(...values)),
    ...ofAll("maxOutput", all, (values) => Math.min(...values)),
    ...ofAll("input", all, inEach),
    ...ofAll("output", all, inEach),
    ...ofAll("abilities", all, commonAbilities),
    ...ofAll("options", all, inEach),
    ...ofAll("prices", all, same),
    ...ofAll("deprecatedOn", all, same),
  };
  return Object.keys(common).length > 0 ? common : undefined;
}

/** The facts beside what a model does, which lists say of every model. */
export function withoutTasks(facts: ModelFacts | undefined): ModelFacts | undefined {
  if (!facts?.does) return facts;
  const { does: _does, ...others } = facts;
  return Object.keys(others).length > 0 ? others : undefined;
}

function ofAll<Name extends keyof ModelFacts>(
  name: Name,
  all: readonly ModelFacts[],
  join: (values: NonNullable<ModelFacts[Name]>[]) => ModelFacts[Name] | undefined,
): ModelFacts {
  const values = all.map((facts) => facts[name]).filter((value) => value !== undefined);
  const joined = values.length === all.length ? join(values as NonNullable<ModelFacts[Name]>[]) : undefined;
  return joined === undefined ? {} : { [name]: joined };
}

function inEach<Name extends string>([first, ...others]: (readonly Name[])[]): readonly Name[] {
  return first!.filter((name) => others.every((names) => names.includes(name)));
}

/** One model without an ability is enough for "no", and all must have it for "yes". */
function commonAbilities(all: Readonly<Abilities>[]): Abilities | undefined {
  const common: Abilities = {};
  for (const name of new Set(all.flatMap((abilities) => Object.keys(abilities) as (keyof Abilities)[]))) {
    const values = all.map((abilities) => abilities[name]);
    if (values.includes(false)) common[name] = false;
    else if (!values.includes(undefined)) common[name] = true;
  }
  return Object.keys(common).length > 0 ? common : undefined;
}

function same<Value>([first, ...others]: Value[]): Value | undefined {
  return others.every((value) => Bun.deepEquals(value, first)) ? first : undefined;
}
