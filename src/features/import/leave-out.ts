/** Leaves an entry out of the options, with all that leads to it. */
type Options = Readonly<Record<string, unknown>>;

/** @returns `gone`: what was left out, as paths: `providers.acme`, `aliases.fast` */
export function withoutEntry(
  options: Options,
  section: string,
  entry: string,
): { options: Record<string, unknown>; gone: string[] } {
  const left: Record<string, unknown> = { ...options };
  const gone: string[] = [];
  const remove = (from: string, name: string) => {
    const { [name]: _, ...others } = left[from] as Record<string, unknown>;
    if (Object.keys(others).length > 0) left[from] = others;
    else delete left[from];
    gone.push(`${from}.${name}`);
  };
  const entriesOf = (name: string) => Object.entries((left[name] ?? {}) as Record<string, unknown>);
  const isGone = (model: unknown) => typeof model === "string" && leadsTo(model, gone);
  remove(section, entry);
  for (const [alias, model] of entriesOf("aliases")) if (isGone(model)) remove("aliases", alias);
  for (const name of ["routes", "fallbacks"])
    for (const [model, targets] of entriesOf(name)) {
      const rest = (targets as unknown[]).filter((target) => !isGone(modelIn(target)));
      if (rest.length === 0) remove(name, model);
      else left[name] = { ...(left[name] as object), [model]: rest };
    }
  for (const [model] of entriesOf("prices")) if (isGone(model)) remove("prices", model);
  return { options: left, gone };
}

function modelIn(target: unknown): unknown {
  return typeof target === "object" && target !== null && "model" in target ? target.model : target;
}

/** Whether a name is a model of a provider that is gone, or an alias or a route that is. */
function leadsTo(model: string, gone: readonly string[]): boolean {
  return gone.some(
    (block) =>
      (block.startsWith("providers.") && model.startsWith(`${block.slice("providers.".length)}/`)) ||
      block === `aliases.${model}` ||
      block === `routes.${model}`,
  );
}
