/** Sends requests with canaries to a gateway that keeps outlines, and searches what it kept. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startGateway } from "../../../../../test/helpers/gateway.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { Search } from "./canary.ts";
import { type Planted, plantIn } from "./plant.ts";
import { allRequests } from "./requests.ts";

export interface Leak {
  readonly group: string;
  readonly place: string;
  readonly shape: string;
  /** The text of the outline around it. */
  readonly found: string;
}

export interface Harvest {
  /** Requests that were sent, each with a canary of its own. */
  readonly sent: number;
  /** Those that had an answer which is no error. */
  readonly answered: number;
  /** Those of which weir has an outline. */
  readonly outlined: number;
  /** The same by the format or kind. */
  readonly groups: ReadonlyMap<string, { sent: number; outlined: number }>;
  readonly leaks: readonly Leak[];
  /** Canaries that are in outlines of other calls. */
  readonly astray: readonly string[];
}

/** Requests in flight. */
const AT_ONCE = 16;

/** @param every of how many places one gets a canary @param turns how often, each time with other shapes */
export async function plantAll({ every = 1, turns = 1 } = {}): Promise<Harvest> {
  const planted = allRequests().flatMap((asked, seed) =>
    Array.from({ length: turns }, (_, turn) => [...plantIn(asked, seed, turn)]).flat(),
  );
  const sizes = Map.groupBy(planted, ({ asked }) => asked.group);
  // A kind has few places, of which some make no valid request.
  const chosen = planted.filter(
    ({ asked }, at) => at % (sizes.get(asked.group)!.length < 50 ? Math.min(2, every) : every) === 0,
  );
  const gateway = await startGateway({
    config: { state: "./state", rehearse: { outlines: "on", share: 1 }, log: { level: "silent" } },
  });
  const ids = new Map<string, Planted>();
  let next = 0;
  let answered = 0;
  const sendSome = async () => {
    for (let one = chosen[next++]; one; one = chosen[next++]) {
      const { path, headers, body } = one.asked;
      const response = await fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
      await response.arrayBuffer();
      if (response.ok) answered++;
      const id = response.headers.get("x-request-id");
      if (id !== null) ids.set(id, one);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendSome));
  const folder = join(gateway.folder, "state/outlines");
  const texts = await settled(folder);
  await gateway.stop();
  return { answered, ...search(chosen, ids, texts) };
}

/** The files of outlines, once no more are written: a worker sends them each second. */
async function settled(folder: string): Promise<string[]> {
  const read = () => {
    try {
      return readdirSync(folder, { recursive: true }).map((name) =>
        readFileSync(join(folder, String(name)), "utf8"),
      );
    } catch {
      return [];
    }
  };
  for (let last = ""; ;) {
    await Bun.sleep(2_500);
    const texts = read();
    if (texts.length > 0 && texts.join("") === last) return texts;
    last = texts.join("");
  }
}

function search(
  chosen: readonly Planted[],
  ids: ReadonlyMap<string, Planted>,
  texts: readonly string[],
): Omit<Harvest, "answered"> {
  const all = new Search();
  const groups = new Map<string, { sent: number; outlined: number }>();
  for (const { asked, canary } of chosen) {
    // Numbers of few digits may be in another outline by chance.
    if (!canary.needles.every((needle) => /^\d+$/.test(needle))) all.add(canary);
    const group = groups.get(asked.group) ?? { sent: 0, outlined: 0 };
    groups.set(asked.group, { ...group, sent: group.sent + 1 });
  }
  const leaks: Leak[] = [];
  let outlined = 0;
  for (const line of texts.flatMap((text) => text.split("\n")).filter((text) => text !== "")) {
    const { call } = JSON.parse(line) as JsonObject;
    const one = ids.get(call as string);
    if (!one) continue;
    const { asked, canary, place } = one;
    outlined++;
    groups.get(asked.group)!.outlined++;
    const own = new Search();
    own.add(canary);
    for (const found of own.in(line).values())
      leaks.push({ group: asked.group, place, shape: canary.shape, found });
  }
  const astray = texts.flatMap((text) => [...all.in(text).values()]);
  return { sent: chosen.length, outlined, groups, leaks, astray };
}
