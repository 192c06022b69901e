/** Models that the config names and that their provider turns off soon, or has turned off. */
import { writePath } from "../config/error.ts";
import { completeRoutes, namedModels } from "../config/routes.ts";
import type { Config } from "../config/schema.ts";
import type { ModelCatalog } from "../gateway/models/catalog.ts";

const DAY_MS = 86_400_000;

/** A model is reported this long before its last day. Days. */
const NOTICE_DAYS = 30;

/** A running gateway looks for such models every day, the first time when its first calls are over. Milliseconds. */
const FIRST_MS = 600_000;

/**
 * A sentence for each model. Reads what is known about models, which takes milliseconds.
 * @param now milliseconds since 1970
 */
export async function endingModels(config: Config, catalog: ModelCatalog, now: number): Promise<string[]> {
  const places = new Map<string, string[]>();
  for (const { path, model } of namedModels({ ...completeRoutes(config), aliases: config.aliases }))
    places.set(model, [...(places.get(model) ?? []), writePath(path)]);
  const sentences: string[] = [];
  for (const [name, paths] of places) {
    const day = (await catalog.known(name))?.facts?.deprecatedOn;
    if (day !== undefined && isNear(day, now)) sentences.push(sentence(name, paths, day, now));
  }
  return sentences;
}

/** Whether a day is past, or at most 30 days away. */
function isNear(day: string, now: number): boolean {
  return Date.parse(day) - now <= NOTICE_DAYS * DAY_MS;
}

function sentence(name: string, paths: readonly string[], day: string, now: number): string {
  const turned = Date.parse(day) > now ? "turns this model off on" : "was to turn this model off on";
  return `${name} (at ${paths.join(", ")}): the provider ${turned} ${day}; name another model.`;
}

export interface EndingWatch {
  /** The parts that serve at the moment. */
  current(): { config: Config; catalog: ModelCatalog };
  report(sentence: string): void;
  /** Default: ten minutes, then a day. Milliseconds. */
  firstMs?: number;
  everyMs?: number;
}

/** Reports such models once a day. @returns stops it */
export function watchEndingModels({ current, report, firstMs = FIRST_MS, everyMs = DAY_MS }: EndingWatch) {
  let timer: ReturnType<typeof setTimeout>;
  const look = async () => {
    const { config, catalog } = current();
    for (const found of await endingModels(config, catalog, Date.now())) report(found);
  };
  const schedule = (ms: number) => {
    timer = setTimeout(() => {
      look().catch((cause) => report(`The last days of models could not be looked up: ${String(cause)}`));
      schedule(everyMs);
    }, ms);
    timer.unref();
  };
  schedule(firstMs);
  return () => clearTimeout(timer);
}
