/** Routes and fallbacks as text, for `weir check` and the start table. */
import type { Registry } from "../gateway/routing/registry.ts";

/** `smart` and `openai/gpt-5.4 ×3, groq/… (priority 1)`; `gpt-*` and `falls back to …`. Models of disabled providers are marked. */
export function routeRows(registry: Registry): [name: string, models: string][] {
  const named = (model: string) => (registry.isOff(model) ? `${model} (off)` : model);
  const routes = [...registry.names.routes].map(([name, targets]): [string, string] => {
    const models = targets.map(({ model, weight, priority }) =>
      [named(model), weight > 1 && `×${weight}`, priority > 0 && `(priority ${priority})`]
        .filter(Boolean)
        .join(" "),
    );
    const by = registry.strategyOf(name);
    return [name, models.join(", ") + (by === "weight" ? "" : ` (by ${by})`)];
  });
  const fallbacks = registry.names.fallbacks.all.map(({ pattern, value: models }): [string, string] => [
    pattern.text,
    `falls back to ${models.map(({ model, when }) => named(model) + (when === "too-long" ? " when too long" : "")).join(", ")}`,
  ]);
  return [...routes, ...fallbacks];
}
