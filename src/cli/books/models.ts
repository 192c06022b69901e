/** `weir models add`, `update`, `remove` and `list`: models of the store, beside those of the config file. */
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import { MEMBERS } from "../../config/stored-models.ts";
import type { StoredModelView } from "../../operator/index.ts";
import { type Command, type Flag, UsageError } from "../command.ts";
import { table } from "../terminal.ts";
import { listAll } from "./api.ts";
import { type BookContext, bookCommand } from "./command.ts";
import { listOf, textOf } from "./values.ts";

const STRATEGIES = ["weight", "latency", "usage", "cost"];

const ENTRY_FLAGS: readonly Flag[] = [
  { name: "--fallbacks", value: "MODELS", help: "models that are tried in order when the others failed" },
  {
    name: "--routing",
    value: "BY",
    help: "what decides between several models: weight, latency, usage or cost",
    completes: STRATEGIES,
  },
  {
    name: "--set",
    value: "SETTINGS",
    help: "values for requests that do not say otherwise: temperature=0.2,maxTokens=4000",
  },
  {
    name: "--price",
    value: "IN/OUT",
    help: "dollars a million tokens of input and output: 2.5/15 (0: it costs nothing)",
  },
  {
    name: "--entry",
    value: "JSON",
    help: 'the entry, or members of it, as JSON: {"force": {…}, "body": {…}, "timeouts": {…}}',
  },
];
/** The second word: the model that the name stands for, or several with commas. */
const MODELS = { name: "MODELS", optional: true } as const;

const UNSET = MEMBERS.filter((member) => member !== "to");

/** An entry from words and flags. @throws UsageError */
function entryOf({ flags, words: [, models = ""] }: Pick<BookContext, "flags" | "words">): JsonObject {
  const to = models
    .split(",")
    .map((model) => model.trim())
    .filter(Boolean);
  const routing = textOf(flags, "--routing");
  const set = listOf(flags, "--set");
  const price = textOf(flags, "--price");
  const fallbacks = listOf(flags, "--fallbacks");
  return {
    ...jsonOf(textOf(flags, "--entry")),
    ...(to.length > 0 && { to: to.length === 1 ? to[0]! : to }),
    ...(fallbacks && { fallbacks }),
    ...(routing !== undefined && { routing }),
    ...(set && { set: Object.fromEntries(set.map(settingOf)) }),
    ...(price !== undefined && { price: priceOf(price) }),
  };
}

function jsonOf(text: string | undefined): JsonObject {
  if (text === undefined) return {};
  const entry = parseJson(text);
  if (isObject(entry)) return entry;
  throw new UsageError(`--entry requires a JSON object such as {"to": "openai/gpt-5.4"}`);
}

function settingOf(text: string): [string, string | number] {
  const [, name, value] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--set requires settings such as temperature=0.2; "${text}" is none`);
  const number = Number(value);
  return [name, Number.isFinite(number) ? number : value];
}

function priceOf(text: string): 0 | { input: number; output: number } {
  if (text === "0") return 0;
  const [input, output, more] = text.split("/").map(Number);
  if (more === undefined && Number.isFinite(input) && Number.isFinite(output))
    return { input: input!, output: output! };
  throw new UsageError(
    `--price requires dollars a million tokens such as 2.5/15, or 0; "${text}" is neither`,
  );
}

const modelsAdd = bookCommand({
  name: "models add",
  summary: "add a model while the gateway runs: a name for models of its providers",
  words: [{ name: "NAME" }, MODELS],
  flags: ENTRY_FLAGS,
  async run(context) {
    const {
      api,
      words: [name = ""],
      show,
      warn,
    } = context;
    const entry = entryOf(context);
    if (entry["to"] === undefined)
      throw new UsageError("weir models add requires the model, as in weir models add fast openai/gpt-5.4");
    const model = await api.ask("POST /stored-models", { body: { ...entry, name } });
    warn(model);
    show(model, () => `The model ${name} serves; it is kept in the store, not in the config file.`);
  },
});

const modelsUpdate = bookCommand({
  name: "models update",
  summary: "change a model of the store; what is not given stays",
  words: [{ name: "NAME" }, MODELS],
  flags: [
    ...ENTRY_FLAGS,
    { name: "--clear", value: "WHAT", help: `what no longer holds: ${UNSET.join(", ")}`, completes: UNSET },
  ],
  async run(context) {
    const {
      api,
      flags,
      words: [name = ""],
      show,
      warn,
    } = context;
    const unset = listOf(flags, "--clear") ?? [];
    const unknown = unset.find((word) => !UNSET.includes(word));
    if (unknown !== undefined)
      throw new UsageError(`--clear knows ${UNSET.join(", ")}; "${unknown}" is none of them`);
    const change = { ...Object.fromEntries(unset.map((member) => [member, null])), ...entryOf(context) };
    if (Object.keys(change).length === 0)
      throw new UsageError("weir models update requires a change, such as another model or --clear set");
    const model = await api.ask("PATCH /stored-models/{name}", { params: { name }, body: change });
    warn(model);
    show(model, () => `The model ${name} is changed.`);
  },
});

const modelsRemove = bookCommand({
  name: "models remove",
  summary: "remove a model of the store; calls that run go on",
  words: [{ name: "NAME" }],
  asks: ({ words: [name] }) => `Remove the model ${name}?`,
  async run({ api, words: [name = ""], show }) {
    const removed = await api.ask("DELETE /stored-models/{name}", { params: { name } });
    show(removed, () => `The model ${name} is removed.`);
  },
});

const modelsList = bookCommand({
  name: "models list",
  summary: "list the models of the store, and whether they serve",
  async run({ api, show }) {
    const models = await listAll(api, "GET /stored-models", "models");
    show(models, () =>
      models.length === 0
        ? "No models are stored. weir models shows those of the config file and its providers."
        : table([HEAD, ...models.map(rowOf)]),
    );
  },
});

const HEAD = ["name", "stands for", "fallbacks", "state", ""];

type Target = string | { model: string };

function rowOf({ name, state, why = "", ...entry }: StoredModelView): string[] {
  // A worker has checked them as it checks the config; the API passes them on.
  const { to, fallbacks = [] } = entry as { to?: Target | Target[]; fallbacks?: Target[] };
  return [name, namesOf(to === undefined ? [] : [to].flat()), namesOf(fallbacks), state, why];
}

function namesOf(targets: readonly Target[]): string {
  return targets.map((target) => (typeof target === "string" ? target : target.model)).join(", ");
}

export const MODEL_COMMANDS: readonly Command[] = [modelsAdd, modelsUpdate, modelsRemove, modelsList];
