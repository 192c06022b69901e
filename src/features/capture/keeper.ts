/** The part in the keeper, which writes what workers captured to capture.db. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { CapturedBatch } from "./captured.ts";
import { Captures } from "./captures.ts";
import { Looks, looks } from "./looks.ts";

export function start(host: KeeperHost): KeeperPart<CapturedBatch> {
  const captures = new Captures(host);
  looks.set(host.offers, new Looks(captures, host.note));
  return {
    connect: () => ({ receive: (batch) => captures.put(batch), ended: () => {} }),
    close: () => captures.close(),
  };
}
