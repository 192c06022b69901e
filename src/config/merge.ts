/** Merges the files of a config into one value, and finds the file and the line of each part of it. */
import type { TSchema } from "@sinclair/typebox";
import type { ConfigDocument } from "./document.ts";
import { ConfigError, type Path } from "./error.ts";
import { memberOf } from "./shape.ts";

/** Several files as one. The name is that of the first one. */
export interface MergedDocument extends ConfigDocument {
  /** Names of all files in the order in which they count. */
  files: readonly string[];
  /** Positions of an option in all files that set a part of it: `weir.yaml:3, conf.d/a.yaml:1`. */
  locateAll(path: Path): string;
}

/**
 * The values of several files as one: sections and maps are merged by name, lists are joined in the order of the files.
 * `include` becomes the names of the files that are included.
 * @param documents the config file first; the values have the shape of the schema
 * @param schema of a config file
 * @throws ConfigError for an option or a name that two files set, with both places
 */
export function mergeFiles(documents: readonly ConfigDocument[], schema: TSchema): MergedDocument {
  const main = documents[0]!;
  const files = documents.map(({ name }) => name);
  if (documents.length === 1) return { ...main, files, locateAll: main.locate };
  const merger = new Merger(schema);
  for (const document of documents) merger.add(document);
  const value = { ...merger.value, include: files.slice(1) };
  return {
    name: main.name,
    files,
    value,
    locate: (path) => merger.locate(path) ?? main.locate(path),
    locateAll: (path) => merger.locateAll(path) ?? main.locate(path),
  };
}

/** A file that sets a part of the value. */
interface Owner {
  document: ConfigDocument;
  /** Index of the file's first entry in a joined list, else 0. */
  first: number;
}

class Merger {
  readonly value: Record<string, unknown> = {};
  readonly #schema: TSchema;
  /** By path: of each section and map all files that have it, of any other value the file that sets it. */
  readonly #owners = new Map<string, Owner[]>();

  constructor(schema: TSchema) {
    this.#schema = schema;
  }

  add(document: ConfigDocument): void {
    const { include: _, ...value } = document.value;
    this.#merge(value, this.value, { document, schema: this.#schema, path: [] });
  }

  locate(path: Path): string | undefined {
    const found = this.#ownersOf(path);
    if (!found) return undefined;
    const index = path[found.length];
    const owner =
      (typeof index === "number" && found.owners.findLast(({ first }) => first <= index)) || found.owners[0]!;
    if (typeof index !== "number") return owner.document.locate(path);
    return owner.document.locate(path.with(found.length, index - owner.first));
  }

  locateAll(path: Path): string | undefined {
    return this.#owners
      .get(keyOf(path))
      ?.map(({ document }) => document.locate(path))
      .join(", ");
  }

  /** The owners of the value at a path, or of its nearest ancestor that has any. */
  #ownersOf(path: Path): { owners: readonly Owner[]; length: number } | undefined {
    for (let length = path.length; length > 0; length--) {
      const owners = this.#owners.get(keyOf(path.slice(0, length)));
      if (owners) return { owners, length };
    }
    return undefined;
  }

  #merge(
    from: object,
    into: Record<string, unknown>,
    { document, schema, path }: { document: ConfigDocument; schema: TSchema | undefined; path: Path },
  ): void {
    for (const [name, value] of Object.entries(from)) {
      const member = schema && memberOf(schema, name);
      const at = [...path, name];
      const owners = this.#owners.get(keyOf(at)) ?? [];
      const known: unknown = owners.length > 0 ? into[name] : undefined;
      // The entries of a map are values of their own: a provider has all its options in one file.
      const isGroup = member?.["type"] === "object";
      if (!isGroup && owners[0] && !(Array.isArray(known) && Array.isArray(value) && schema))
        throw new ConfigError(
          document.locate(at),
          `${name} is already set at ${owners[0].document.locate(at)}, and each may be set in one file only`,
          at,
        );
      this.#owners.set(keyOf(at), [...owners, { document, first: Array.isArray(known) ? known.length : 0 }]);
      if (isGroup) {
        const group = (known ?? {}) as Record<string, unknown>;
        put(into, name, group);
        // Without a schema all members are names.
        const inner = member["properties"] === undefined ? undefined : member;
        this.#merge(value as object, group, { document, schema: inner, path: at });
      } else
        put(into, name, Array.isArray(known) ? [...(known as unknown[]), ...(value as unknown[])] : value);
    }
  }
}

function keyOf(path: Path): string {
  return path.join("\0");
}

/** Sets a member, also one named `__proto__`. */
function put(into: object, name: string, value: unknown): void {
  Object.defineProperty(into, name, { value, enumerable: true, writable: true, configurable: true });
}
