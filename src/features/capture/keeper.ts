/** The part in the keeper: what workers captured goes to capture.db; rules of operators, and the calls that they watch. */
import { keptBodies } from "../../admin/kept-bodies.ts";
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { CaptureDown, CaptureUp } from "./captured.ts";
import { Captures } from "./captures.ts";
import { LiveViews, liveViews } from "./live/live-views.ts";
import { Looks, looks } from "./looks.ts";
import { RuleBook, ruleBook } from "./rule-book.ts";

export function start(host: KeeperHost): KeeperPart<CaptureUp, CaptureDown> {
  const captures = new Captures(host);
  const own = new Looks(captures, host.note);
  const rules = new RuleBook(host);
  const live = new LiveViews();
  looks.set(host.offers, own);
  keptBodies.set(host.offers, own);
  ruleBook.set(host.offers, rules);
  liveViews.set(host.offers, live);
  return {
    connect(send) {
      live.connected(send);
      return {
        receive(message) {
          if ("captured" in message) captures.put(message);
          else if ("onDemand" in message) rules.noted(send, message.onDemand);
          else live.receive(send, message);
        },
        ended() {
          rules.gone(send);
          live.gone(send);
        },
      };
    },
    close: () => captures.close(),
  };
}
