/** The part in the keeper, which makes alerts of what happens in the books. Their code is loaded when a config has a receiver. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { Alerts } from "./alerts.ts";
import type { Sending } from "./sending.ts";
import type { AlertTarget } from "./section.ts";
import { alertsPart } from "./slots.ts";

export function start(host: KeeperHost): KeeperPart<readonly AlertTarget[]> {
  let sending: Promise<Sending> | undefined;
  let loaded: Sending | undefined;
  let receivers: readonly AlertTarget[] | undefined;
  let storeFault: string | undefined;
  let hasFailed = false;
  const onFault = (fault: unknown) => {
    if (!hasFailed) host.report(`alerts failed: ${String(fault)}`);
    hasFailed = true;
  };
  /** In the order of the calls. Does nothing without receivers. A fault of alerts must not end the keeper. */
  const tell = (what: (alerts: Alerts) => void) =>
    void sending?.then(({ alerts }) => what(alerts)).catch(onFault);
  const receive = (targets: readonly AlertTarget[]) => {
    const isFirst = sending === undefined && targets.length > 0;
    if (isFirst) sending = import("./sending.ts").then(({ Sending }) => new Sending(host));
    receivers = targets;
    void sending?.then((made) => (loaded = made).to(targets)).catch(onFault);
    // The store may have failed before.
    if (isFirst) tell((alerts) => alerts.store(storeFault));
  };
  host.observe({
    records: ({ calls }) => tell((alerts) => alerts.records(calls)),
    state: (worker, { breakers }) => tell((alerts) => alerts.breakers(worker, breakers)),
    store(fault) {
      storeFault = fault;
      tell((alerts) => alerts.store(fault));
    },
    warned: (warning) => tell((alerts) => alerts.warned(warning)),
    alert(_, percent, { budget: { name, limit }, row: { spent, assumed }, endsAt }) {
      const used = spent + assumed;
      tell((alerts) =>
        alerts.budget({ name, percent, limit, used, ...(endsAt !== undefined && { endsAt }) }),
      );
    },
  });
  alertsPart.set(host.offers, {
    receivers: () => receivers,
    unsaved: () => loaded?.unsaved ?? [],
    test: async (targets) => (await sending)?.test(targets),
  });
  return {
    connect: () => ({ receive, ended: () => {} }),
    async close() {
      try {
        await (await sending)?.close();
      } catch (fault) {
        onFault(fault);
      }
    },
  };
}
