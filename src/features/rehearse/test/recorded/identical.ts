/** Rehearsals of two identical sides: in one process, and as another one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentIn } from "../../../../../test/helpers/environment.ts";
import { newReferences, FEATURES, OWN_PLUGINS, SECTIONS } from "../../../../../test/helpers/features.ts";
import { foreseesOf } from "../../../../feature/feature.ts";
import type { Outline } from "../../outline/outline.ts";
import { askedBy } from "../../run/asked.ts";
import { askBuild } from "../../run/other-build.ts";
import { Rehearsal, type Rehearsed } from "../../run/rehearsal.ts";
import { makeSide } from "../../run/sides.ts";

export interface Timed {
  readonly done: Rehearsed;
  readonly calls: number;
  /** Seconds of the processor for both sides, in this process. */
  readonly cpuSeconds: number;
  readonly seconds: number;
}

/** @param binary the other side is that build; without it both are in this process */
export async function rehearseIdentical(calls: readonly Outline[], binary?: string): Promise<Timed> {
  const cwd = mkdtempSync(join(tmpdir(), "weir-identical-"));
  const env = environmentIn(cwd);
  const used = new Set(calls.flatMap(({ by }) => by ?? []));
  const side = async () => {
    const context = { env, cwd, sections: SECTIONS, references: newReferences() };
    const made = { ...context, ownPlugins: OWN_PLUGINS, foresees: foreseesOf(FEATURES) };
    return (await makeSide(made, {}, used)).side;
  };
  const before = await side();
  const after = binary === undefined ? await side() : undefined;
  const others = after
    ? undefined
    : askBuild({ path: binary!, config: undefined, cwd, env, used: [...used] }, calls);
  const rehearsal = new Rehearsal();
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  for (const outline of calls) {
    const asked = askedBy(outline);
    const one = await before.facts(asked);
    const other = after ? await after.facts(asked) : (await others!.next()).value;
    if (!other) throw new Error("the other build said too little");
    rehearsal.add(outline, one, other);
  }
  await others?.next();
  const { user, system } = process.cpuUsage(cpu);
  rmSync(cwd, { recursive: true, force: true });
  return {
    done: rehearsal.result,
    calls: calls.length,
    cpuSeconds: (user + system) / 1e6,
    seconds: (performance.now() - began) / 1000,
  };
}
