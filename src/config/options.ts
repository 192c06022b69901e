/** All options of a build: those of weir, and those of the features in it. */
import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { KeyOption } from "../ledger/keys/option.ts";
import type { Addition, Section } from "./section.ts";

/** One option: its path (`log.format`) and the schema of its value. */
export interface Option {
  path: readonly string[];
  schema: TSchema;
}

/** The options as validator, `weir config schema`, `weir config show` and the documents read them. */
export class Options {
  readonly sections: readonly Section[];
  /** The effective configuration with all defaults. */
  readonly schema: TObject;
  /** A config file: as {@link schema}, with every option optional. Pure JSON. */
  readonly file: TSchema;
  /** All options in the order of the schema. Groups are walked; a map or a list is one option. */
  readonly list: readonly Option[];

  /** @param more of features; each section follows the one that it names in `after` */
  constructor(core: readonly Section[], more: readonly Addition[] = []) {
    const keyOptions = more.filter((one) => one instanceof KeyOption);
    const sections = more.filter((one): one is Section => !(one instanceof KeyOption));
    this.sections = insert(
      core.map((one) =>
        keyOptions.length > 0 && one.extended ? { ...one, schema: one.extended(keyOptions) } : one,
      ),
      sections,
    );
    this.schema = Type.Object(
      Object.fromEntries(this.sections.map(({ name, schema }) => [name, schema])),
      DOCUMENT,
    );
    this.file = { $schema: "https://json-schema.org/draft/2020-12/schema", ...relax(this.schema) };
    this.list = listOptions(this.schema);
  }
}

const DOCUMENT = {
  additionalProperties: false,
  $id: "weir-config",
  title: "weir.yaml",
  description: "Configuration of the weir gateway.",
};

/** Sections of features behind those that they follow, which may be sections of features too. */
function insert(core: readonly Section[], more: readonly Section[]): Section[] {
  const sections = [...core];
  const all = [...core, ...more];
  const twice = all.find(({ name }, at) => all.findIndex((one) => one.name === name) !== at);
  if (twice) throw new Error(`two sections of the config have the name ${twice.name}`);
  const anchorOf = ({ after = [] }: Section) => after.find((name) => all.some((one) => one.name === name));
  for (let open = [...more]; open.length > 0;) {
    const next = open.find((one) => {
      const anchor = anchorOf(one);
      return anchor === undefined || sections.some(({ name }) => name === anchor);
    });
    if (!next) throw new Error(`the section ${open[0]!.name} of the config follows itself`);
    const at = sections.findIndex(({ name }) => name === anchorOf(next));
    sections.splice(at < 0 ? sections.length : at + 1, 0, next);
    open = open.filter((one) => one !== next);
  }
  return sections;
}

/** Whether a schema is a group: an object with a fixed set of options. */
export function isSection(schema: TSchema): boolean {
  return schema["type"] === "object" && schema["properties"] !== undefined;
}

/** All options of a schema in its order. Groups are walked; a map or a list is one option. */
export function listOptions(schema: TSchema, path: readonly string[] = []): Option[] {
  if (!isSection(schema)) return [{ path, schema }];
  const members: Record<string, TSchema> = schema["properties"];
  return Object.entries(members).flatMap(([name, member]) => listOptions(member, [...path, name]));
}

function relax<Schema extends TSchema>(schema: Schema): Schema {
  if (!isSection(schema)) return schema;
  const members: Record<string, TSchema> = schema["properties"];
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, relax(member)]),
  );
  const { required: _, ...rest } = schema;
  return { ...rest, properties } as unknown as Schema;
}
