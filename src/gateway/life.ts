/** The seams of all parts as one: composed once for each config, so that a call pays for no part that is off. */
import type { Deadline } from "./delivery/deadline.ts";
import { holdHead } from "./delivery/held-stream.ts";
import type { Opened, OpenedReceiver } from "./lanes/lane.ts";
import { opened, tell } from "./lanes/receive.ts";
import type { Registry } from "./routing/registry.ts";
import type { Foresight, Incoming } from "./types.ts";
import {
  type AroundRoute,
  type Around,
  type Entry,
  type Life,
  type OwnRoute,
  PLACES,
  type Seams,
  type Told,
  type Visited,
} from "./seams.ts";

/** The seams of one part, with the name that a fault says. */
export interface LivePart {
  readonly name: string;
  readonly seams: Seams;
}

/** @throws Error naming both parts if two are at one place, or use a seam that has one owner */
export function compose(parts: readonly LivePart[]): Life {
  const refused = parts.flatMap(({ seams }) => seams.refused ?? []);
  const sent = parts.flatMap(({ seams }) => seams.sent ?? []);
  const credentials = parts.flatMap(({ seams }) => seams.credentials ?? []);
  const owned = parts.flatMap(({ seams }) => seams.owned ?? []);
  const visiting = parts.flatMap(({ seams }) => seams.aroundRoutes ?? []);
  const routes = parts.flatMap(({ seams }) => seams.routes ?? []).map((route) => visited(route, visiting));
  const told = parts.flatMap(({ seams }) => seams.told ?? []);
  const looks = parts.flatMap(({ seams }) => seams.looks?.run ?? []);
  const foreseeing = parts.filter(({ seams }) => seams.foresee);
  const [traceContext] = parts.flatMap(({ seams }) => seams.traceContext ?? []);
  const [acting, second] = parts.filter(({ seams }) => seams.actsFor);
  if (second) throw new Error(`${acting!.name} and ${second.name} both say on whose behalf callers ask`);
  const [resolving, another] = parts.filter(({ seams }) => seams.resolves);
  if (another)
    throw new Error(`${resolving!.name} and ${another.name} both put into requests what they name`);
  const [screenTools] = parts.flatMap(({ seams }) => seams.screenTools ?? []);
  const [browsers] = parts.flatMap(({ seams }) => seams.browsers ?? []);
  const rest: Omit<Life, "around"> = {
    ...(credentials.length > 0 && { credentials }),
    ...(owned.length > 0 && { owned: oneAfterTheOther(owned) }),
    ...(acting && { actsFor: acting.seams.actsFor! }),
    ...(browsers && { browsers }),
    ...(screenTools && { screenTools }),
    ...(routes.length > 0 && { routes }),
    ...(resolving && { resolves: resolving.seams.resolves! }),
    ...(told.length > 0 && { told: tellAll(told) }),
    ...(refused.length > 0 && { refused: oneAfterTheOther(refused) }),
    ...(traceContext && { traceContext }),
    ...(foreseeing.length > 0 && {
      foresee: (incoming, registry) => foreseeAll(foreseeing, incoming, registry),
    }),
    ...(looks.length > 0 && { looks: oneAfterTheOther(looks) }),
    ...(sent.length > 0 && { sent: oneAfterTheOther(sent) }),
  };
  const around = aroundAll(parts);
  const switched = parts.flatMap(({ seams }) => seams.around?.isOn ?? []);
  if (switched.length === 0) return { ...rest, ...(around && { around }) };
  const others = aroundAll(parts.filter(({ seams }) => !seams.around?.isOn));
  return {
    ...rest,
    get around() {
      return switched.some((isOn) => isOn()) ? around : others;
    },
  };
}

/** A route with what is around it, outermost first. */
function visited(route: OwnRoute, around: readonly AroundRoute[]): OwnRoute {
  if (around.length === 0) return route;
  const handle = around.reduceRight<(asked: Visited) => Promise<Response>>(
    (inner, run) => (asked) => run(asked, (changed = asked) => inner(changed)),
    async ({ request, visit }) => route.handle(request, visit),
  );
  return { ...route, handle: (request, visit) => handle({ route, request, visit }) };
}

function oneAfterTheOther<Args extends unknown[]>(all: readonly ((...args: Args) => void)[]) {
  return (...args: Args): void => {
    for (const each of all) each(...args);
  };
}

/** Each part sees the request as the one before hands it on. */
export async function foreseeAll(
  parts: readonly Pick<LivePart, "name" | "seams">[],
  incoming: Incoming,
  registry: Registry,
): Promise<ReadonlyMap<string, Foresight>> {
  const all = new Map<string, Foresight>();
  let seen = incoming;
  for (const { name, seams } of parts) {
    const one = await seams.foresee!(seen, registry);
    if (one) all.set(name, one);
    if (one?.edited) seen = { ...seen, ...one.edited };
  }
  return all;
}

function tellAll(all: readonly Told[]): Told {
  return {
    error: (call, error) => all.reduce((said, each) => each.error(call, said), error),
    headers: (call, headers) => all.reduce((said, each) => each.headers(call, said), headers),
  };
}

function aroundAll(parts: readonly LivePart[]): Life["around"] {
  const all = PLACES.flatMap((place) => {
    const [owner, second] = parts.filter(({ seams }) => (seams.around ?? seams.looks)?.at === place);
    if (second) throw new Error(`${owner!.name} and ${second.name} are both around calls at ${place}`);
    return owner ? aroundOf(owner.seams) : [];
  });
  if (parts.every(({ seams }) => !seams.around)) return undefined;
  return all.reduceRight<Life["around"]>(
    (inner, run) => (entry, open) =>
      run(entry, (edited) => {
        const next = edited ? entry.with(edited) : entry;
        return inner ? inner(next, open) : open(next);
      }),
    undefined,
  );
}

function aroundOf({ around, looks }: Seams): Around {
  return (
    around?.run ??
    ((entry, next) => {
      looks!.run(() => entry);
      return next();
    })
  );
}

/**
 * Lets a request pass what is around calls, before weir looks for its answer. The head of a stream is held outside of that:
 * what is around a call may still turn a late verdict into a status.
 * @param entering makes the entry; called only if something is around calls
 * @param open finds the answer, for the request as it came if it gets no entry
 */
export function enter(
  life: Life,
  deadline: Deadline,
  entering: () => Entry,
  open: (entry?: Entry) => Promise<Opened>,
): Promise<Opened> {
  const { around } = life;
  if (around === undefined) {
    life.looks?.(entering);
    return open();
  }
  const entry = entering();
  const opening = around(entry, open);
  return entry.operation === "generate" && entry.call.stream ? holdHead(opening, deadline) : opening;
}

/** The same for a receiver. @param open tells its receiver once */
export function enterTo(
  life: Life,
  deadline: Deadline,
  entering: () => Entry,
  open: (entry: Entry | undefined, receiver: OpenedReceiver) => void,
  receiver: OpenedReceiver,
): void {
  if (life.around === undefined) {
    life.looks?.(entering);
    return open(undefined, receiver);
  }
  const around = enter(life, deadline, entering, (entry) => opened((inner) => open(entry, inner)));
  tell(around, receiver);
}
