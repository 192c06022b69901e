/** What guards would do with a request that is explained and not sent. Services are not asked. */
import type { TextPlaces } from "../../../core/text-places.ts";
import type { Entry, Seams } from "../../../gateway/seams.ts";
import { factsOf } from "../ask/facts.ts";
import { reroute, Rerouted } from "../flow/route.ts";
import type { Guard } from "../guard.ts";
import { guardRequest } from "../pass/request.ts";
import { CallMap } from "../replace/call-map.ts";
import { Verdicts } from "../verdicts.ts";

type Foresight = Awaited<ReturnType<NonNullable<Seams["foresee"]>>>;

interface Uses {
  /** The guards of the call, for the models that may answer it now. */
  guards(): readonly Guard[];
  readonly secret: Uint8Array;
  readonly refusesUnread: boolean;
}

/** @returns undefined: no guard looks at it @throws GatewayError of a guard that blocks */
export async function foreseeGuards(entry: Entry, places: TextPlaces, uses: Uses): Promise<Foresight> {
  const { call, bytes } = entry;
  const { secret, refusesUnread } = uses;
  const routed: Rerouted[] = [];
  for (;;) {
    const done = routed.map(({ guard }) => guard);
    const guards = uses.guards().filter((guard) => !done.includes(guard));
    if (guards.length + done.length === 0) return undefined;
    const all = [...done, ...guards];
    const found: { guard: string; kind: string; place: string }[] = [];
    const verdicts = new Verdicts(all, call, secret, ({ name }, kind, place) =>
      found.push({ guard: name, kind, place }),
    );
    for (const { guard, findings } of routed)
      for (const { path, ...value } of findings) verdicts.note(guard, "input", value, path);
    const passing = {
      ...{ guards, map: new CallMap(secret), verdicts, refusesUnread, call, beside: [], asksNothing: true },
      ...{ facts: factsOf(call), tools: () => [] },
    };
    try {
      const edited = bytes.length > 0 ? await guardRequest(bytes, places, passing) : undefined;
      return {
        said: { guards: all.map((guard) => ({ ...verdictOf(guard, verdicts) })), findings: found },
        ...(edited && { edited }),
      };
    } catch (thrown) {
      if (!(thrown instanceof Rerouted)) throw thrown;
      routed.push(thrown);
      await reroute(entry, thrown.guard);
    }
  }
}

function verdictOf(guard: Guard, verdicts: Verdicts) {
  const { phases, count, uninspected } = verdicts.of(guard);
  return {
    name: guard.name,
    verdict: phases.input ?? "not-inspected",
    count,
    ...(uninspected && { uninspected: { ...uninspected } }),
    ...(guard.asked && { asks: "a service, which was not asked" }),
    ...(guard.readsAnswers && { answer: `judged when it comes (${guard.mode})` }),
    ...(guard.route !== undefined && { route: guard.route }),
  };
}
