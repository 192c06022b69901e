/** What is wrong with what a provider says that it does. */
import { isHosted, servedKinds } from "../../core/does.ts";
import type { EmbedDialect } from "../../core/embed-dialect.ts";
import type { Format } from "../../core/format.ts";
import type { KnownKind } from "../../core/model-kind.ts";
import type { Provider } from "../../core/provider.ts";

/** The dialects that weir has. `dialects`: of embeddings; absent where weir does not check them. */
export interface KnownDialects {
  dialects: ReadonlyMap<string, EmbedDialect> | undefined;
  kinds: ReadonlyMap<string, KnownKind>;
}

/** The first kind, or dialect of one, that weir does not know. @param kinds empty where weir does not check them */
export function kindFault(
  { does, speaks = {}, modelDoes = [] }: Provider,
  kinds: KnownDialects["kinds"],
  formats: ReadonlyMap<string, Format>,
): string | undefined {
  const apart = Object.keys(speaks).find((id) => formats.get(id)?.kind);
  if (apart !== undefined)
    return `it speaks "${apart}", which is no format of conversations: write does: { ${formats.get(apart)!.kind}: { ${apart}: PATH } }.`;
  if (kinds.size === 0) return undefined;
  const ofFormats = [...formats.values()].filter(({ upstream }) => upstream);
  const tasks = ["chat", "embedding", ...ofFormats.flatMap(({ kind }) => kind ?? []), ...kinds.keys()];
  const odd = modelDoes.flatMap((entry) => entry.does).find((task) => !tasks.includes(task));
  if (odd !== undefined) return `its modelDoes has "${odd}"; weir knows ${[...new Set(tasks)].join(", ")}.`;
  for (const [id, served] of servedKinds(does)) {
    const own = ofFormats.filter((format) => format.kind === id);
    const known = (kinds.get(id)?.dialects ?? own).map((dialect) => dialect.id);
    if (known.length === 0)
      return `it does "${id}", which is no kind of models; weir knows completion, ${[...kinds.keys()].join(", ")}.`;
    if (!isHosted(served)) continue;
    const unknown = Object.keys(served).find((dialect) => !known.includes(dialect));
    if (unknown !== undefined)
      return `it does ${id} in the unknown dialect "${unknown}"; known dialects: ${known.join(", ")}.`;
  }
  return undefined;
}
