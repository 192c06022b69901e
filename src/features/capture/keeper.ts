/** The part in the keeper: it writes what workers captured to capture.db, and holds the rules of operators. */
import { keptBodies } from "../../admin/kept-bodies.ts";
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { CaptureUp } from "./captured.ts";
import { Captures } from "./captures.ts";
import { Looks, looks } from "./looks.ts";
import { RuleBook, ruleBook } from "./rule-book.ts";

export function start(host: KeeperHost): KeeperPart<CaptureUp> {
  const captures = new Captures(host);
  const own = new Looks(captures, host.note);
  const rules = new RuleBook(host);
  looks.set(host.offers, own);
  keptBodies.set(host.offers, own);
  ruleBook.set(host.offers, rules);
  return {
    connect() {
      const worker = {};
      return {
        receive(message) {
          if ("captured" in message) captures.put(message);
          else rules.noted(worker, message.onDemand);
        },
        ended: () => rules.gone(worker),
      };
    },
    close: () => captures.close(),
  };
}
