/** The part in the keeper, which writes what workers captured to capture.db. */
import { keptBodies } from "../../admin/kept-bodies.ts";
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { CapturedBatch } from "./captured.ts";
import { Captures } from "./captures.ts";
import { Looks, looks } from "./looks.ts";

export function start(host: KeeperHost): KeeperPart<CapturedBatch> {
  const captures = new Captures(host);
  const own = new Looks(captures, host.note);
  looks.set(host.offers, own);
  keptBodies.set(host.offers, own);
  return {
    connect: () => ({ receive: (batch) => captures.put(batch), ended: () => {} }),
    close: () => captures.close(),
  };
}
