/** A member of the record of a call: one declaration, which the log, the store, the admin API, commands and console read. */
import type { Static, TSchema } from "@sinclair/typebox";
import type { Attempt, Call } from "./call.ts";
import { Slot } from "./slot.ts";

/** A line about one call, as commands and the console show it. */
export interface Fact {
  /** Name of the column. */
  name: string;
  label: string;
  text: string;
  /** Value of the filter of this name that finds such calls. */
  find?: string;
}

/** The functions are methods, so that columns of different values fit into one list. */
export interface ColumnOptions<Value> {
  /** Name in the record of a call and in the answers of the admin API. */
  readonly name: string;
  /** Its description is the text of the documents. */
  readonly schema: TSchema;
  /** Derives the value from the call; without it the value is the note that somebody sets on the call. */
  of?(call: Call, attempts: readonly Attempt[]): Value | undefined;
  /** Member of the log in JSON. `as`: the value there, if it is not that of the record. */
  readonly log?: { readonly name: string; as?(value: Value): unknown };
  /** Part of the line of the log for people. */
  line?(value: Value): string;
  /** The line that commands and the console show for a call with a value. `find`: the value of {@link filter} that finds such calls. */
  readonly fact?: { readonly label: string; text(value: Value): string; find?(value: Value): string };
  /** `detail` (default): with the other members that few calls have; `none`: the keeper gets it and does not store it. */
  readonly store?: "detail" | "none";
  /** Member of the record that it precedes in the documents of the admin API; absent: it is the last one. */
  readonly before?: string;
  /**
   * A parameter of `GET /calls` with the name of the column, and an option of `weir logs`. Only for texts, numbers and booleans
   * whose name is that of no member inside the value of another column. `value`: placeholder in the help of the option.
   */
  readonly filter?: { readonly value: string; readonly help: string };
}

/** Notes values of columns at the end of a call. @param attempts those that the record has */
export type Recorder = (call: Call, attempts: readonly Attempt[]) => void;

/** The typed key of its value: on a call it is a note, in a record a member. */
export class Column<Value = unknown> extends Slot<Value> {
  readonly #options: ColumnOptions<Value>;

  constructor(options: ColumnOptions<Value>) {
    super();
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get schema(): TSchema {
    return this.#options.schema;
  }

  get filter(): ColumnOptions<Value>["filter"] {
    return this.#options.filter;
  }

  /** As commands and the console name it. */
  get label(): string | undefined {
    return this.#options.fact?.label;
  }

  /** Member of the log in JSON. */
  get logName(): string | undefined {
    return this.#options.log?.name;
  }

  get isStored(): boolean {
    return this.#options.store !== "none";
  }

  /** Member of the record that it precedes in the documents. */
  get before(): string | undefined {
    return this.#options.before;
  }

  /** Whether the value is derived: such a column has one on calls without notes, too. */
  get isDerived(): boolean {
    return this.#options.of !== undefined;
  }

  /** Whether the log, in JSON or for people, shows it. */
  get isLogged(): boolean {
    return this.#options.log !== undefined || this.#options.line !== undefined;
  }

  /** Whether commands and the console show it. */
  get isFact(): boolean {
    return this.#options.fact !== undefined;
  }

  /** The value of a call for its record. */
  of(call: Call, attempts: readonly Attempt[]): Value | undefined {
    return this.#options.of ? this.#options.of(call, attempts) : this.get(call);
  }

  /** The value in a record. */
  in(record: object): Value | undefined {
    const { name, isStored } = this;
    const members = isStored ? record : (record as { unstored?: object }).unstored;
    return (members as Readonly<Record<string, Value | undefined>> | undefined)?.[name];
  }

  /** The value as the log in JSON has it. */
  logged(value: Value): unknown {
    const { log } = this.#options;
    return log?.as ? log.as(value) : value;
  }

  /** Part of the line of the log for people. */
  line(value: Value): string | undefined {
    return this.#options.line?.(value);
  }

  /** @returns undefined for a record without the value, and for a column that shows nothing */
  fact(record: object): Fact | undefined {
    const { fact, name } = this.#options;
    const value = fact && this.in(record);
    if (!fact || value === undefined) return undefined;
    const find = fact.find?.(value);
    return {
      ...{ name, label: fact.label, text: fact.text(value) },
      ...(find !== undefined && { find }),
    };
  }
}

/** Declares a column whose value has the type of its schema. */
export function column<Schema extends TSchema>(
  options: ColumnOptions<Static<Schema>> & { readonly schema: Schema },
): Column<Static<Schema>> {
  return new Column<Static<Schema>>(options);
}

/** The columns of a gateway. */
export class Columns {
  readonly list: readonly Column[];
  readonly #derived: readonly Column[];
  readonly #noted: readonly Column[];
  readonly #logged: readonly Column[];

  /** @param taken names of other members @throws Error with a sentence if a name is used twice */
  constructor(list: readonly Column[], taken: Iterable<string> = []) {
    const names = new Set(taken);
    for (const { name } of list) {
      if (names.has(name)) throw new Error(`the record of a call has two members with the name ${name}`);
      names.add(name);
    }
    this.list = list;
    this.#derived = list.filter(({ isDerived }) => isDerived);
    this.#noted = list.filter(({ isDerived }) => !isDerived);
    this.#logged = this.#noted.filter(({ isLogged }) => isLogged);
  }

  /** Adds the values of a call to its record. */
  addTo(record: { unstored?: object }, call: Call, attempts: readonly Attempt[]): void {
    for (const one of this.#derived) addValue(record, one, one.of(call, attempts));
    if (call.notes === undefined) return;
    for (const one of this.#noted) addValue(record, one, one.get(call));
  }

  /** The members of a call's log in JSON. @returns undefined for a call without any */
  logged(call: Call): Record<string, unknown> | undefined {
    if (call.notes === undefined) return undefined;
    const members: Members = {};
    for (const one of this.#logged) {
      const value = one.get(call);
      if (value !== undefined && one.logName !== undefined) members[one.logName] = one.logged(value);
    }
    return members;
  }

  /** The parts of a call's line of the log for people. */
  lines(call: Call): readonly (string | undefined)[] {
    if (call.notes === undefined) return NO_LINES;
    return this.#logged.map((one) => {
      const value = one.get(call);
      return value === undefined ? undefined : one.line(value);
    });
  }
}

type Members = Record<string, unknown>;
const NO_LINES: readonly string[] = [];

function addValue(record: { unstored?: object }, { name, isStored }: Column, value: unknown): void {
  if (value === undefined) return;
  if (isStored) (record as Members)[name] = value;
  else record.unstored = { ...record.unstored, [name]: value };
}
