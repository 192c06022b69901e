/**
 * Models that are stored, beside those of the config: an entry is checked as if it were in the file, and the file precedes it.
 * Its members are those of the sections: `to` that of `aliases` or `routes`, the rest those of `fallbacks`, `routing`, `models`
 * and `prices`.
 */
import type { JsonObject } from "../core/json.ts";
import { type Fault, type Path, writePath } from "./error.ts";
import { completeRoutes, namedModels } from "./routes.ts";
import { CORE_OPTIONS, type Config } from "./schema.ts";
import { aliasEnds, MODEL_SETTINGS } from "./sections/models.ts";
import { findFaults } from "./shape.ts";
import { writtenFaults } from "./written-faults.ts";

/** A stored model as its request has it. */
export interface StoredSpec {
  name: string;
  spec: JsonObject;
}

type Sections = Pick<Config, "aliases" | "routes" | "fallbacks" | "routing" | "models" | "prices">;

/** The sections in which a name of the file is one that the store cannot have. */
const NAMING = ["aliases", "routes", "fallbacks", "routing", "models"] as const;
/** The members of an entry beside its name. */
export const MEMBERS: readonly string[] = ["to", "fallbacks", "routing", "price", ...MODEL_SETTINGS];

/** Where the config defines a name: the path of the option; undefined if it does not. */
export function pathOfName(config: Sections, name: string): Path | undefined {
  const section = NAMING.find((one) => Object.hasOwn(config[one], name));
  return section && [section, name];
}

/** An entry as the file would contain it. Its shape is that of the sections only if {@link shapeFault} finds nothing. */
function sectionsOf({ name, spec }: StoredSpec): Sections {
  const { to, fallbacks, routing, price } = spec;
  const settings = Object.fromEntries(
    Object.entries(spec).filter(([member]) => MODEL_SETTINGS.includes(member)),
  );
  const written = (value: unknown) => (value === undefined ? {} : { [name]: value });
  return {
    ...(Array.isArray(to) ? { aliases: {}, routes: written(to) } : { aliases: written(to), routes: {} }),
    fallbacks: written(fallbacks),
    routing: written(routing),
    models: Object.keys(settings).length > 0 ? written(settings) : {},
    prices: price === undefined ? {} : { [String(to)]: price },
  } as Sections;
}

/** The first reason why an entry is none, with its path in the request. */
export function shapeFault(entry: StoredSpec): Fault | undefined {
  const { name, spec } = entry;
  if (name.includes("*") || name.startsWith("@"))
    return {
      path: ["name"],
      clause:
        "a stored model must have a name without * and a leading @; patterns and sets belong into the config file",
    };
  const unknown = Object.keys(spec).find((member) => !MEMBERS.includes(member));
  if (unknown !== undefined)
    return {
      path: [unknown],
      clause: `unknown option ${unknown}; a stored model has name, ${MEMBERS.join(", ")}, and its providers are those of the config file`,
    };
  if (spec["to"] === undefined)
    return { path: ["to"], clause: "to is missing: the model that the name stands for" };
  if (spec["price"] !== undefined && typeof spec["to"] !== "string")
    return {
      path: ["price"],
      clause: "price needs a single model in to; prices of several belong into the config file",
    };
  const sections = sectionsOf(entry);
  const fault = findFaults(CORE_OPTIONS.file, sections)[0] ?? writtenFaults(CORE_OPTIONS, { ...sections })[0];
  return fault && inRequest(fault);
}

/** A fault of the file as one of the request. */
function inRequest({ path: [section, , ...rest], clause }: Fault): Fault {
  if (section === "aliases" || section === "routes") {
    const isName = rest.length === 0 && /^(an alias|the name of a route) /.test(clause);
    return { path: isName ? ["name"] : ["to", ...rest], clause };
  }
  if (section === "models") return { path: rest, clause };
  return { path: [section === "prices" ? "price" : section!, ...rest], clause };
}

/** The config with entries beside it, as if its file had them. */
function withEntries(config: Config, entries: readonly StoredSpec[]): Config {
  const merged: Config = { ...config };
  const all = entries.map(sectionsOf);
  const join = <Section extends keyof Sections>(section: Section) =>
    joined([...all.map((one) => one[section]), config[section]]) as Config[Section];
  const aliases = join("aliases");
  const ends = [...aliasEnds(aliases)].map(([alias, end]) => [alias, end ?? alias]);
  return Object.assign(merged, {
    aliases: Object.fromEntries(ends) as Record<string, string>,
    ...{ routes: join("routes"), fallbacks: join("fallbacks"), routing: join("routing") },
    ...{ models: join("models"), prices: join("prices") },
  });
}

/** Maps as one; the last that has a name precedes. */
function joined(maps: readonly object[]): object {
  return Object.fromEntries(maps.flatMap((map) => Object.entries(map)));
}

/** Why the config cannot have entries beside it, the last of which is new: a cycle of aliases, a route in a route. */
function jointFault(config: Config, entries: readonly StoredSpec[]): Fault | undefined {
  const join = (section: "aliases" | "routes") =>
    joined([...entries.map((entry) => sectionsOf(entry)[section]), config[section]]);
  const priced = entries.filter(({ spec }) => spec["price"] !== undefined);
  const twice = priced.find(
    ({ spec: { to } }, index) => priced.findIndex((other) => other.spec["to"] === to) < index,
  );
  if (twice)
    return {
      path: ["price"],
      clause: `${String(twice.spec["to"])} has a price already, that of another stored model`,
    };
  const faults = writtenFaults(CORE_OPTIONS, { aliases: join("aliases"), routes: join("routes") });
  const own = faults.find(({ path }) => path[1] === entries.at(-1)?.name);
  if (own) return inRequest(own);
  // Another entry, or one of the file, is not possible beside this name.
  return faults[0] && { path: ["name"], clause: faults[0].clause };
}

/** The models that an entry names, with their paths in the request. */
export function modelsOf(entry: StoredSpec): { path: Path; model: string }[] {
  const sections = sectionsOf(entry) as Config;
  const named = namedModels({ aliases: sections.aliases, ...completeRoutes(sections) });
  return [...named].map(({ path, model }) => ({ path: inRequest({ path, clause: "" }).path, model }));
}

export interface Merged {
  /** With the entries that it can have. */
  config: Config;
  accepted: readonly StoredSpec[];
  refused: ReadonlyMap<string, Fault>;
}

/** The config with all entries that it can have beside it. An entry that the config has become unfit for leaves out itself alone. */
export function mergeStored(config: Config, entries: readonly StoredSpec[]): Merged {
  const refused = new Map<string, Fault>();
  const shaped = entries.filter((entry) => {
    const fault = shapeFault(entry);
    if (fault) refused.set(entry.name, fault);
    return !fault;
  });
  let accepted: StoredSpec[] = shaped;
  if (jointFault(config, shaped)) {
    accepted = [];
    for (const entry of shaped) {
      const fault = jointFault(config, [...accepted, entry]);
      if (fault) refused.set(entry.name, fault);
      else accepted.push(entry);
    }
  }
  return { config: accepted.length === 0 ? config : withEntries(config, accepted), accepted, refused };
}

/** `temperature must be a number …, but is 7 (at set.temperature)`. */
export function writeFault({ clause, path }: Fault): string {
  return path.length === 0 ? clause : `${clause} (at ${writePath(path)})`;
}
