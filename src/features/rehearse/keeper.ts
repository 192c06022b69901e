/** The part in the keeper: it writes the outlines of all workers into the state folder. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import { OutlineFiles } from "./keep/files.ts";
import type { OutlinesUp } from "./keep/messages.ts";
import { rehearsals } from "./page/slots.ts";

export function start({ folder, report, offers }: KeeperHost): KeeperPart<OutlinesUp, never> {
  const files = folder === undefined ? undefined : new OutlineFiles(folder, report);
  rehearsals.set(offers, { folder, isRunning: false, counted: new Map() });
  return {
    connect: () => ({
      receive: ({ text, ...limits }) => files?.append(text, limits),
      ended() {},
    }),
  };
}
