/** What the features of this build would do with requests, for commands that send none. */
import { foreseeAll } from "../gateway/life.ts";
import type { Gateway } from "../gateway/types.ts";
import type { NamedForesee } from "./command.ts";

/** @returns undefined: no feature would do anything with requests */
export async function foreseenBy(
  foresees: readonly NamedForesee[],
  config: object,
): Promise<Gateway["foresee"]> {
  const loaded = foresees.map(async ({ name, load }) => {
    const foresee = await (await load()).foresee(config);
    return foresee ? [{ name, seams: { foresee } }] : [];
  });
  const parts = (await Promise.all(loaded)).flat();
  if (parts.length === 0) return undefined;
  return (incoming, registry) => foreseeAll(parts, incoming, registry);
}
