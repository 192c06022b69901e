/** What guards would do with a request that `weir explain` explains, without a gateway that runs: its tokens are those of no store. */
import type { Seams } from "../../gateway/seams.ts";
import { askedOf } from "./ask/make.ts";
import { Guards, usesBeside } from "./around.ts";
import { Guard } from "./guard.ts";
import { asks, guardsOf, secretIn, uninspectedOf } from "./section.ts";

/** No request is sent, so nothing is asked. */
const ASKS_NOTHING = {
  fault: () => {},
  work: () => Promise.reject(new Error("nothing is asked")),
};

export async function foresee(config: object): Promise<Seams["foresee"]> {
  const options = guardsOf(config);
  if (options.length === 0) return undefined;
  const guards = options.map(
    async (one) => new Guard(one, asks(one) ? await askedOf(one, ASKS_NOTHING) : undefined),
  );
  const uses = usesBeside(() => secretIn(config) ?? new Uint8Array(32), uninspectedOf(config) === "block");
  return new Guards(await Promise.all(guards), uses).foresee;
}
