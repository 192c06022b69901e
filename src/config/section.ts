/** One option at the top of weir.yaml, usually a group of options, as one value: its name, its schema and its rules. */
import type { Static, TSchema } from "@sinclair/typebox";
import type { KeyOption } from "../ledger/keys/option.ts";
import type { Fault, Path } from "./error.ts";

/** Values as the file contains them, by the names of their sections: secrets are texts, any option may be absent. */
export type WrittenConfig = Readonly<Record<string, unknown>>;

/** Facts that a section may need to turn its written value into the effective one. */
export interface Settling {
  /** Folder that relative paths of the file begin at. */
  readonly folder: string;
  /** Folder that a relative path of an option begins at: the working directory, if a flag or a variable has set it. */
  folderOf(option: string): string;
  /** The layer that set an option. */
  originOf(option: string): "flag" | "environment" | "file" | "default" | undefined;
  /** Position of a value in messages: `weir.yaml:7`. */
  locate(path: Path): string;
  /** The process runs in a pod of Kubernetes. */
  readonly isInKubernetes: boolean;
  /** The values of all sections, before they settle. */
  readonly values: WrittenConfig;
}

/** Rules that a schema cannot express. Methods, so that sections of different schemas fit into one list. */
interface Rules<Value> {
  /**
   * Of a section of a feature: the sections that it follows in the schema and the documents; the first of them that the build
   * has counts. Absent: it is the last one.
   */
  readonly after?: readonly string[];
  /** Of the section of keys: its schema with the options that features add. */
  extended?(options: readonly KeyOption[]): TSchema;
  /** Faults of the value as the file contains it; not called where the file does not have the section. */
  faults?(written: unknown, whole: WrittenConfig): readonly Fault[];
  /** {@link settle} gets secrets as texts, to keep less of them than a secret. */
  readonly readsSecrets?: true;
  /** The effective value of one that all layers have made: absolute paths, digests. @throws ConfigError */
  settle?(value: Value, settling: Settling): Value;
  /** Faults over several sections, of the effective config. */
  agrees?(value: Value, config: object): readonly Fault[];
}

/** Additions of features to the config: sections, and options of keys. */
export type Addition = Section | KeyOption;

export interface Section<Name extends string = string, Schema extends TSchema = TSchema> extends Rules<
  Static<Schema>
> {
  readonly name: Name;
  readonly schema: Schema;
  /** The value of this section in an effective config. */
  of(config: object): Static<Schema>;
}

export function section<const Name extends string, Schema extends TSchema>(
  name: Name,
  schema: Schema,
  rules: Rules<Static<Schema>> = {},
): Section<Name, Schema> {
  return { ...rules, name, schema, of: (config) => (config as Record<Name, Static<Schema>>)[name] };
}
