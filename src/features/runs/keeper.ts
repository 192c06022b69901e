/** The part in the keeper: it reads the runs of the state folder for the admin API. */
import { Slot } from "../../core/slot.ts";
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { RunSummary } from "./list/summary.ts";

/** The runs, each root followed by its forks. */
export type ReadRuns = () => Promise<readonly RunSummary[]>;

/** What the part offers to the operations. */
export const kept = new Slot<ReadRuns>();

export function start({ folder, offers, report }: KeeperHost): KeeperPart {
  let reading: Promise<ReadRuns> | undefined;
  kept.set(offers, async () => {
    if (folder === undefined) return [];
    reading ??= import("./list/reader.ts").then(({ readerOf }) => readerOf(folder, report));
    return (await reading)();
  });
  return {};
}
